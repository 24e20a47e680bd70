"""Pickers of pool mode: a preset of presets/pickers, compiled, and its configuration for an engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from renderer import template, yamlio
from renderer.api import Inputs
from renderer.diagnostics import Collector, Origin, suggestion
from renderer.plan import Body
from renderer.resolve import pod_defaults
from renderer.resolve.context import RunContext
from renderer.resolve.gateway.settings import GatewaySettings
from renderer.resolve.kube import images
from renderer.resolve.layers import merge_items
from renderer.resolve.pod import security
from renderer.template import Words

WORDS = frozenset(
    [
        "Pool",
        "Namespace",
        "Engine",
        "MetricsPath",
        "Waiting",
        "Running",
        "KVUsage",
        "Adapters",
        "CacheInfo",
        "CacheBlockSize",
        "CacheBlocks",
    ]
)


class Picker(Struct, frozen=True, eq=False):
    """A picker preset under RenderConfig. `origin`: of its `spec`; `group`: the API group of the objects that steer it;
    `reads`: the groups that it watches; `label`: the label of pods that names their engine; `args` and `config`:
    functions of the WORDS; `more`: further fields of its pod.
    """

    name: str
    origin: Origin
    image: str
    group: str
    reads: tuple[str, ...]
    label: str
    args: Callable[[Words], list[str]]
    config: Callable[[Words], str]
    resources: Body
    pod_security: Body
    security: Body
    more: Body


def picker_name(inputs: Inputs, gateway_settings: GatewaySettings, diagnostics: Collector) -> str:
    """The name of the picker of a namespace. Raises Stop, with an error, where no preset has this name."""
    name = str(gateway_settings.get("picker"))
    if name not in inputs.pickers:
        diagnostics.stop("E641", gateway_settings.at("picker"), name=name, hint=suggestion(name, list(inputs.pickers)))
    return name


def picker(context: RunContext, name: str) -> Picker:
    """The picker preset, made ready."""
    known = context.pickers.get(name)
    if known is None:
        known = context.pickers[name] = read_picker(context.inputs, context.pod_defaults, name)
    return known


def read_picker(inputs: Inputs, every: pod_defaults.PodDefaults, name: str) -> Picker:
    """The picker preset of that name, ready to be filled."""
    document, config = inputs.pickers[name], inputs.config
    preset = document.value["spec"]
    secured = preset.get("security") or {}
    filler = template.compile_template(preset["args"], WORDS)
    fixed = [str(arg) for arg in preset["args"]]
    return Picker(
        name=name,
        origin=document.origin("spec"),
        image=images.image_reference(config, images.with_tag(preset["image"], preset["version"])),
        group=preset["apiGroup"],
        reads=tuple(preset.get("reads") or (preset["apiGroup"],)),
        label=preset["engineLabel"],
        args=(lambda words: [str(arg) for arg in filler(words)]) if filler else lambda words: fixed,
        config=lambda words: yamlio.dump(_fill(preset["config"], words)),
        resources=template.share_maps(preset.get("resources") or {}),
        pod_security=template.share_maps({"seccompProfile": {"type": "RuntimeDefault"}}),
        security=security.context(secured, read_only=bool(secured.get("readOnlyRoot"))),
        more=_pod_fields(every),
    )


def _pod_fields(every: pod_defaults.PodDefaults) -> Body:
    """The fields that RenderConfig gives every pod, without the service account, since a picker has its own, and the
    spread of replicas, since a picker is one.
    """
    fields = {key: value for key, value in every.fields.items() if key != "serviceAccountName"}
    if every.tolerations:
        fields["tolerations"] = list(merge_items([every.tolerations]).items)
    return dict(template.share_maps(fields))


def _fill(value: Any, words: Words) -> Any:
    """The configuration with the words filled in, without the items and maps whose `when` is false, and without keys
    whose value is ''.
    """
    if isinstance(value, dict):
        filled = {key: _fill(item, words) for key, item in value.items() if key != "when" and _holds(item, words)}
        return {key: item for key, item in filled.items() if item != ""}
    if isinstance(value, list):
        return [_fill(item, words) for item in value if _holds(item, words)]
    filler = template.compile_template(value, WORDS)
    return filler(words) if filler else value


def _holds(value: Any, words: Words) -> bool:
    return (
        not isinstance(value, dict)
        or "when" not in value
        or bool(template.compile_condition(value["when"], WORDS)(words))
    )
