"""All presets as `llmaz presets list` shows them, and how new the options are that are known of each engine."""

from __future__ import annotations

import json
from collections.abc import Mapping

from renderer.api import BackendRuntime
from renderer.engines.option_lists import known_versions
from renderer.engines.version_order import describe_versions
from renderer.load import preset, preset_names
from renderer.load.option_lists import OptionListReader
from renderer.preset_catalog.model_list import ModelListing
from renderer.preset_tables import preset_table


def all_text(models: ModelListing) -> str:
    """Every preset by its kind, as text; the models are given."""
    backends = {name: f"{image}{_known_text(name)}" for name, image in _images("backends").items()}
    parts = ("backends", backends), ("loaders", _images("loaders")), ("pickers", _images("pickers"))
    backend_lines, *others = (f"{folder}:\n{_columns(images)}" for folder, images in parts)
    return f"{backend_lines}models:\n{models.text}{''.join(others)}"


def all_json(models: ModelListing) -> str:
    """The same as JSON."""
    backends = [
        {"name": name, "image": image, **_release(name), "optionsOf": option_versions(name)}
        for name, image in _images("backends").items()
    ]
    others = {
        folder: [{"name": name, "image": image} for name, image in _images(folder).items()]
        for folder in ("loaders", "pickers")
    }
    return f"{json.dumps({'backends': backends, 'models': models.records, **others}, indent=2)}\n"


def models_json(models: ModelListing) -> str:
    """The models that were looked for as JSON, and how many may fit too."""
    return f"{json.dumps({'models': models.records, 'unknown': models.unknown}, indent=2)}\n"


def option_versions(backend: str) -> list[str]:
    """The versions of which a backend that ships has a list of options, the oldest first."""
    document = preset(f"backends/{backend}")
    return known_versions(OptionListReader(), BackendRuntime(backend, document.value["spec"], document, ours=True))


def newest_release(backend: str) -> Mapping[str, str]:
    """The newest version that is known of a backend's engine: `version`, the day when it was `released`, and the
    `source` that says so; empty where nobody has written it down.
    """
    release: Mapping[str, str] = preset_table("releases")["engines"].get(backend, {})
    return release


def _release(backend: str) -> dict[str, str]:
    release = newest_release(backend)
    return {"newestKnown": release["version"], "released": release["released"]} if release else {}


def _known_text(backend: str) -> str:
    """What stands behind a backend's image: the versions whose options are known, and the day of the newest one."""
    versions, release = option_versions(backend), newest_release(backend)
    words = [f"options of {describe_versions(versions)}"] if versions else []
    words += [f"released {release['released']}"] if release else []
    return f" ({', '.join(words)})" if words else ""


def _images(folder: str) -> dict[str, str]:
    """The presets of a folder with their images."""
    specs = {name: preset(f"{folder}/{name}").value["spec"] for name in preset_names(folder)}
    return {name: f"{spec['image']}:{spec['version']}" for name, spec in specs.items()}


def _columns(descriptions: Mapping[str, str]) -> str:
    """A line for each name."""
    width = max(map(len, descriptions))
    return "".join(f"  {name:<{width}}  {text}\n" for name, text in descriptions.items())
