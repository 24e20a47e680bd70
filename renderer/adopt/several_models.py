"""Several models of one engine: in a file that it reads from a ConfigMap, or pulled one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from renderer.adopt.engine_container import AdoptedContainer, EngineOption
from renderer.adopt.model_source import ModelSource, find_model_source, own_steps, pulled_models, source_of_pull
from renderer.adopt.serving_workload import Body, ServingWorkload
from renderer.diagnostics import Collector, Origin, quoted
from renderer.engines.models_file import ReadSection
from renderer.engines.option_lists import Option
from renderer.engines.section_options import ModelsFile, models_path
from renderer.kubernetes.json_values import map_at
from renderer.kubernetes.mounted_files import MountedKey, mounted_key
from renderer.resolve.names import is_dns_label

_BY_HAND = "write the OpenModels and the Playground by hand: docs/sources.md#several-models-in-one-server"


class AdoptedMain(Struct, frozen=True):
    """One of several models of an engine."""

    weights: ModelSource
    name: str  # that its OpenModel should have, '' where that follows from its source
    served_name: str
    options: Sequence[EngineOption] = ()  # its whole command line, without those of the server
    preload: bool = False


class SeveralModels(Struct, frozen=True):
    """The models of an engine that serves several, or that reads the options of one from a file."""

    mains: Sequence[AdoptedMain]
    container: AdoptedContainer  # as if the engine served the first model alone
    loaded: int  # how many are in memory at once
    file: MountedKey | None = None


def find_several_models(
    workload: ServingWorkload,
    container: AdoptedContainer,
    template: Body,
    options: Mapping[str, Option],
    keep_reason: str,
    diagnostics: Collector,
) -> SeveralModels | None:
    """The models of a container's engine where it reads them from a file or several are pulled; None where it serves
    one that its command line names. `options`: of the engine in any version. Raises Stop where the file is not known or
    cannot be read, or where nobody says what a Playground needs.
    """
    if "modelsFile" in container.entry:
        return _of_file(workload, container, template, options, keep_reason, diagnostics)
    if keep_reason or "mostVariable" not in container.entry:
        return None
    steps = own_steps(container, template) or [(name, "") for name in pulled_models(container, template)]
    if len(steps) < 2:
        return None
    mains = []
    for name, path in steps:
        weights = source_of_pull(container, template, name)
        if path:
            weights = find_model_source(workload, container, template, diagnostics, opened=path)
        mains.append(AdoptedMain(weights, "", name))
    most = container.values.get(container.entry["mostVariable"], "")
    loaded = int(most) if most.isdecimal() and 0 < int(most) < len(mains) else len(mains)
    return SeveralModels(mains, container, loaded)


def _of_file(
    workload: ServingWorkload,
    container: AdoptedContainer,
    template: Body,
    options: Mapping[str, Option],
    keep_reason: str,
    diagnostics: Collector,
) -> SeveralModels | None:
    entry, words = container.entry["modelsFile"], _words(container)
    if not (path := models_path(words, container.values, entry)):
        return None
    origin = next((option.origin for option in container.options if path in option.values), None)
    origin = origin or workload.engine_origin_of((*container.path, "env"))
    mounted = mounted_key(map_at(template, "spec"), container.body, path)
    text = workload.config_maps.get(mounted.config_map, {}).get(mounted.key) if mounted else None
    if text is None or mounted is None:
        why = f"the file {path} of {entry['options'][0]} is in no ConfigMap beside it"
        diagnostics.stop("E953", origin, why=why, hint="adopt the ConfigMap with that file in the same run")
    file = ModelsFile(text, options, entry)
    if why := _why_by_hand(container, file, path, keep_reason):
        diagnostics.stop("E953", origin, why=why, hint=_BY_HAND)
    style = container.engine.engine.style
    server = [
        option for option in container.options if option.name not in {entry["most"], *entry["options"], *entry["lazy"]}
    ]
    beating = file.of_server(style, _words(container))
    own = [option for option in server if option.words not in beating.values()]
    mains = list[AdoptedMain]()
    for section in file.models:
        model_options = [*_options(container, file, section, beating, origin)]
        weights = find_model_source(workload, replace(container, options=model_options), template, diagnostics)
        mains.append(_main(file, section, weights, model_options, origin, diagnostics))
    _tell_lost(container, file, origin, diagnostics)
    most = file.most(style, _words(container), container.values)
    loaded = most if most is not None and 0 < most < len(mains) else len(mains)
    first = replace(container, options=[*own, *mains[0].options])
    return SeveralModels(mains, first, loaded, mounted)


def _why_by_hand(container: AdoptedContainer, file: ModelsFile, path: str, keep_reason: str) -> str:
    """Why nobody knows what a Playground would need in the place of a file, in words; '' where it is known."""
    if keep_reason:
        return f"{keep_reason}, so nobody knows which options the file {path} may have"
    names = {option.name for option in container.options} | container.values.keys()
    if further := [name for name in file.entry["further"] if name in names]:
        return f"{further[0]} adds the models of a folder to those of {path}"
    if file.file.unread:
        return f"line {min(file.file.unread)} of {path} cannot be read"
    if not file.models:
        return f"{path} has no model"
    keys = [pair.key for section in file.file.sections for pair in section.pairs if pair.key.isupper()]
    return f"{path} has the variable {keys[0]} in the place of its option" if keys else ""


def rendered_options(container: AdoptedContainer, text: str, options: Mapping[str, Option]) -> list[list[EngineOption]]:
    """The options of each model in a file that llmaz renders for the engine of a container."""
    file = ModelsFile(text, options, container.entry["modelsFile"])
    return [[*_options(container, file, section, {}, container.options[0].origin)] for section in file.models]


def _words(container: AdoptedContainer) -> list[str]:
    return [word for option in container.options for word in option.words]


def _options(
    container: AdoptedContainer,
    file: ModelsFile,
    section: ReadSection,
    beating: Mapping[str, Sequence[str]],
    origin: Origin,
) -> Iterator[EngineOption]:
    """The options of a model: those of the server's command line beat those of the file."""
    for setting, words in file.words_of(section, beating).items():
        if words and setting not in file.entry["own"]:
            name = container.engine.engine.style.name(words[0])
            yield EngineOption(name=name, words=(name, *words[1:]), values=tuple(words[1:]), origin=origin)


def _main(
    file: ModelsFile,
    section: ReadSection,
    weights: ModelSource,
    options: Sequence[EngineOption],
    origin: Origin,
    diagnostics: Collector,
) -> AdoptedMain:
    """A model of the file. It keeps two of its names: that of the OpenModel, by which the engine goes on knowing it,
    and the public one.
    """
    names = [*dict.fromkeys([*file.names_of(section), section.model])]
    name = next(filter(is_dns_label, [section.model, *names]), "")
    served_name = next((other for other in names if other != name), name)
    if lost := [other for other in names if other not in (name, served_name)]:
        what = f"the model's name {quoted(lost)}"
        diagnostics.add("W951", origin, what=what, why="a model has one public name, and that of its OpenModel")
    return AdoptedMain(weights, name, served_name, options, file.is_preloaded(section))


def _tell_lost(container: AdoptedContainer, file: ModelsFile, origin: Origin, diagnostics: Collector) -> None:
    """Tells what a Playground cannot say of the server and its file."""
    for option in container.options:
        if option.name in file.entry["lazy"]:
            diagnostics.add("W951", option.origin, what=option.name, why="a request loads its model")
    known = [pair.key for section in file.file.sections for pair in section.pairs if pair.key in file.entry["keys"]]
    for key in dict.fromkeys(known):
        diagnostics.add(
            "W951", origin, what=f"the key {key} of the file of models", why="no key of a Playground says it"
        )
