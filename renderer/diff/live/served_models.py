"""The models that an engine serves by a file of its options, which a ConfigMap has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from renderer.engines.dialect import Dialect
from renderer.engines.handwritten_command import table_entry
from renderer.engines.models_file import ReadSection
from renderer.engines.option_lists import Option
from renderer.engines.section_options import ModelsFile, models_path, option_of
from renderer.kubernetes.mounted_files import MountedKey, mounted_key
from renderer.kubernetes.variable_references import ConfigMaps, plain_variables

_OF_SOURCES = (
    "path",
    "repository",
    "file",
    "url",
    "name",
    "projector",
)  # roles of options that say which model a section is


class ServedModels(Struct, frozen=True):
    """The file of an engine, and what it says of each model."""

    file: MountedKey | None  # None where the command line says it all
    models: Sequence[tuple[frozenset[str], frozenset[tuple[str, ...]]]]  # the names of each, and its options
    options: frozenset[str]  # on the command line: those that name the file, and those that it may have as well
    variables: frozenset[str] = frozenset()  # that are about the file

    def serves(self, other: ServedModels) -> bool:
        """Whether it serves all models of another one, with the same options at least."""
        return all(
            any(names & other_names and options >= other_options for names, options in self.models)
            for other_names, other_options in other.models
        )

    def on_line(self, style: Dialect, options: Mapping[str, str]) -> ServedModels | None:
        """The one model of the file, as a command line with these options serves it; None where that says less."""
        if len(self.models) != 1:
            return None
        [(names, own)] = self.models
        same = {(name, *rest) for name, *rest in own if options.get(style.name(name)) == " ".join(rest)}
        moved = frozenset(style.name(name) for name, *_ in own)
        return ServedModels(None, [(names, frozenset(same))], moved)


def served_models(
    backend: str,
    style: Dialect,
    options: Mapping[str, Option],
    args: Sequence[str],
    spec: Mapping[str, Any],
    container: Mapping[str, Any],
    config_maps: ConfigMaps,
) -> ServedModels | None:
    """The models that the container of a pod (`spec`) serves by a file that one of the ConfigMaps has; None for another
    engine. `args`: of its command line.
    """
    entry = table_entry(backend).get("modelsFile")
    path = models_path(args, plain_variables(container, config_maps), entry) if entry else ""
    mounted = mounted_key(spec, container, path) if path else None
    text = config_maps.get(mounted.config_map, {}).get(mounted.key) if mounted else None
    if not entry or mounted is None or text is None:
        return None
    file = ModelsFile(text, options, entry)
    beating = file.of_server(style, args)
    models = [
        (frozenset([section.model, *file.names_of(section)]), _options(file, section, beating))
        for section in file.models
    ]
    names = {*entry["options"], entry["most"], *(style.name(words[0]) for words in beating.values())}
    variables = frozenset([*entry["variables"], entry["mostVariable"]])
    return ServedModels(mounted, models, frozenset(names), variables)


def _options(
    file: ModelsFile, section: ReadSection, beating: Mapping[str, Sequence[str]]
) -> frozenset[tuple[str, ...]]:
    """The words of each option of a model, by its name in the list, without those that say which model it is."""
    left_out = {file.setting(role) for role in _OF_SOURCES} | {*file.entry["own"]}
    named = set()
    for setting, words in file.words_of(section, beating).items():
        option = option_of(file.options, words[0].lstrip("-")) if words else None
        if words and setting not in left_out:
            named.add((option.name if option else words[0], *words[1:]))
    return frozenset(named)
