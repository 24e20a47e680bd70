"""The BackendRuntime that starts a container's engine by the container's own command line.

It takes the place of a preset where nobody knows whether the preset's command, and the options that it sets, are in the
image. It has no `spec.engine`, so that nothing is derived (docs/deviations.md, 13); in a pool it has one with the
metrics.
"""

from __future__ import annotations

import re
from typing import Any

from renderer.adopt.engine_container import AdoptedContainer
from renderer.adopt.serving_workload import Body, ServingWorkload
from renderer.engines.option_lists import list_path
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import maps_at, text_at, texts_at
from renderer.kubernetes.workloads import is_rendered
from renderer.load.validation import KINDS
from renderer.resolve.kube.images import split_tag

_PATH = re.compile(r"[\w./-]+")
_MODEL_PATH = "{{ .ModelPath }}"  # which is filled in in arguments alone
_DEFAULT = "default"  # the recommended config of a Playground that names none
_PICKED = ("servedName", "metrics")  # keys of spec.engine about what a picker reads
_NO_TAG = "latest"  # what a container runtime takes


def why_kept(workload: ServingWorkload, container: AdoptedContainer, template: Body) -> str:
    """Why the command line of a container has to stay as it is; '' where the preset, with the options of the engine's
    version, starts the same engine, and where the source's kind or an own template says how it is started.
    """
    engine, name = container.engine, container.backend
    if workload.hosts > 1 or (workload.model and workload.model.adapters):
        return ""
    if workload.model and workload.model.is_mounted and not text_at(container.body, "image"):
        return ""
    if is_rendered(template) and workload.annotations.get(wellknown.BACKEND) == name:
        return ""
    if names := named_as_a_whole(container):
        return f"a ConfigMap as a whole gives it {' and '.join(names)}, which the preset's command does not replace"
    image = text_at(container.body, "image")
    if not container.recognised.is_own_image:
        return f"the image '{image}' is neither of the project of {name} nor a mirror of it"
    if not engine.version:
        return f"the image '{image}' does not tell its version of {name}"
    rules = engine.option_rules
    if list_path(engine.runtime.spec["engine"]) and (rules is None or rules.is_beyond):
        return f"the options of {name} {engine.version} are not known"
    return ""


def named_as_a_whole(container: AdoptedContainer) -> list[str]:
    """The variables of a hub's repository that come with all of a ConfigMap, and so would come into the new pods."""
    own = {text_at(variable, "name") for variable in maps_at(container.body, "env")}
    return sorted((container.variables_of("hubRepository") & container.values.keys()) - own)


def kept_runtime(container: AdoptedContainer, name: str, loaded_path: str) -> dict[str, Any]:
    """The BackendRuntime with the image and the command line of the engine's container. `loaded_path`: where it opens a
    model that somebody loads for it, '' where it loads it itself; this becomes the path of a loader, in an argument.
    """
    body = container.body
    image, tag = split_tag(text_at(body, "image"))
    command, args = texts_at(body, "command"), texts_at(body, "args")
    if loaded_path:
        start = next((i for i, word in enumerate(command) if loaded_path in _PATH.findall(word)), len(command))
        words = (*command[start:], *args)
        command, args = command[:start], [_with_model_path(word, loaded_path) for word in words]
    spec: dict[str, Any] = {"image": image, "version": tag or _NO_TAG}
    if command:
        spec["command"] = [*command]
    spec["recommendedConfigs"] = [{"name": _DEFAULT, "args": [*args]}]
    metadata = {"name": name}
    return {"apiVersion": KINDS["BackendRuntime"], "kind": "BackendRuntime", "metadata": metadata, "spec": spec}


def picked_engine(container: AdoptedContainer) -> dict[str, Any]:
    """The `spec.engine` with which pods of a kept command line can be a pool: what its picker has to know of them."""
    engine_spec: Body = {**container.engine.runtime.spec["engine"]}
    options = {"style": text_at(engine_spec, "options", "style"), "list": "none"}
    return {**{key: engine_spec[key] for key in _PICKED if key in engine_spec}, "options": options}


def _with_model_path(word: str, path: str) -> str:
    return _PATH.sub(lambda match: _MODEL_PATH if match[0] == path else match[0], word)


def options_of_preset(container: AdoptedContainer) -> list[str]:
    """The options that the preset sets where the engine's version is known, and the command line does not have."""
    style = container.engine.engine.style
    own_options = {option.name for option in container.options} | container.option_names("weights")  # the model is said
    config = maps_at(container.engine.runtime.spec, "recommendedConfigs")[0]
    options = [word for word in texts_at(config, "args") if style.is_option(word)]
    return [option for option in options if style.name(option) not in own_options]
