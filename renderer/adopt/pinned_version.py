"""The version of the engine that a Playground ran, and what other versions read differently in it."""

from __future__ import annotations

from typing import Final

from renderer.adopt.conversion_context import ConversionContext
from renderer.adopt.draft import Draft
from renderer.adopt.operator_releases import FormerBackend, default_backend, former_backends
from renderer.diagnostics import Path, quoted

_CONFIG: Final = ("spec", "backendRuntimeConfig")


def settle_version(draft: Draft, context: ConversionContext) -> None:
    """Writes the version that the operator's release ran, where that is known and our preset knows its options; else
    N960 names those that it may have been, and arguments are written as the version of our preset reads them.

    A Playground that names a version, or a BackendRuntime of the files, stays as it is.
    """
    config = draft.value(_CONFIG)
    backend = draft.value((*_CONFIG, "backendName")) or default_backend()
    if not isinstance(config, (dict, type(None))) or not isinstance(backend, str) or backend in context.runtimes:
        return
    former = former_backends().get(backend)
    if former is None:
        return
    _drop_config(draft, former)
    if draft.value((*_CONFIG, "version")) is not None:
        return
    source = draft.source((*_CONFIG, "backendName") if config and "backendName" in config else _CONFIG)
    if tag := former.tag_in(context.release):
        draft.set((*_CONFIG, "version"), tag, source)
        draft.comments[*_CONFIG, "version"] = (
            f"The operator {context.release} ran this version; without it the preset's own runs."
        )
        return
    draft.tell("N960", source, backend=backend, tags=quoted(image.tag for image in former.images_in(context.release)))
    _give_values(draft, former)


def _drop_config(draft: Draft, former: FormerBackend) -> None:
    path = (*_CONFIG, "configName")
    name = draft.value(path)
    if isinstance(name, str) and name in former.configs:
        draft.tell("N961", draft.source(path), key=True, field="configName", reason=former.configs[name])
        draft.drop(path)


def _give_values(draft: Draft, former: FormerBackend) -> None:
    """Gives options that stand alone the values that they meant."""
    path: Path = (*_CONFIG, "args")
    arguments = draft.value(path)
    if not isinstance(arguments, list):
        return
    source = draft.source(path)
    written: list[object] = []
    places: list[int] = []
    for i, argument in enumerate(arguments):
        written.append(argument)
        places.append(i)
        following = arguments[i + 1] if i + 1 < len(arguments) else "-"
        value = former.valued.get(argument) if isinstance(argument, str) else None
        if value and isinstance(following, str) and following.startswith("-"):
            draft.comments[*path, len(written) - 1] = f"It had no value, which meant '{value}'."
            written.append(value)
            places.append(i)
    if len(written) > len(arguments):
        draft.set(path, written, source)
        for i, place in enumerate(places):
            draft.set_source((*path, i), (*source, place))
