"""Where an engine writes weights that it downloads from the hub, as its command line and its variables say."""

from __future__ import annotations

from collections.abc import Mapping

from renderer.engines.container_engine import RecognisedEngine, named_weights
from renderer.engines.handwritten_command import table_entry
from renderer.kubernetes.json_values import as_text, maps_at, text_at, texts_at
from renderer.kubernetes.variable_references import plain_variables
from renderer.plan import Body

OFFLINE_VARIABLES = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")  # that keep the hub's client from asking the hub
_TRUE = ("1", "ON", "YES", "TRUE")  # constants.py of huggingface_hub 1.0, ENV_VARS_TRUE_VALUES
_ROOT = "/root"  # the home of the user that images of engines run as
_CACHE = ".cache/huggingface"


def is_offline(variable: Body) -> bool:
    """Whether a variable keeps the hub's client from asking the hub."""
    return text_at(variable, "name") in OFFLINE_VARIABLES and text_at(variable, "value").upper() in _TRUE


def download_folder(recognised: RecognisedEngine, container: Body) -> str:
    """The folder in the container; '' where the model is no repository of the hub, and where nobody knows."""
    command, entry = recognised.command, table_entry(recognised.engine.runtime.name)
    if "weights" not in entry or "hubRepository" in entry or command.hides_options or not _is_repository(recognised):
        return ""
    for i, word in enumerate(command.arguments):
        option, glued, value = word.text.partition("=")
        if option in texts_at(entry, "downloadTo"):
            return value if glued else "".join(other.text for other in command.arguments[i + 1 : i + 2])
    return cache_folder(entry, container)


def cache_folder(entry: Mapping[str, object], container: Body) -> str:
    """Where the hub's client keeps what an engine downloads, as variables say; '' where nobody knows. `entry`: of the
    engine in presets/engine_commands.yaml.
    """
    variables = plain_variables(container)
    named = {as_text(variable.get("name")) for variable in maps_at(container, "env")}
    if container.get("envFrom") or (not named.isdisjoint(_TELLING) and not named & _TELLING <= variables.keys()):
        return ""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME"):
        if name in variables:
            return variables[name]
    if "HOME" in variables or text_at(container, "securityContext", "runAsUser"):
        return f"{variables['HOME']}/{_CACHE}" if "HOME" in variables else ""
    return text_at(entry, "hubCache") or f"{_ROOT}/{_CACHE}"


_TELLING = {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "HOME"}


def _is_repository(recognised: RecognisedEngine) -> bool:
    """Whether the line names the model by a repository, such as org/name."""
    command, entry = recognised.command, table_entry(recognised.engine.runtime.name)
    named = filter(None, named_weights(command, entry))
    return any(word.count("/") == 1 and word[:1] not in "/.$" and "://" not in word for word in named)
