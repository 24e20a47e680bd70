"""What a BackendRuntime says of its engine's command line: its dialect, the options that distribute accelerators, and
the rules by which a version's options are judged.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from renderer.api import BackendRuntime, OptionFiles
from renderer.engines import dialect
from renderer.engines.dialect import Dialect
from renderer.engines.given_options import option_names
from renderer.engines.name_lists import engine_names
from renderer.engines.option_lists import OptionList, known_versions, list_path, released_around
from renderer.engines.option_rules import OptionRules
from renderer.engines.running_engine import MemoryShare
from renderer.engines.version_order import version_key
from renderer.kubernetes.json_values import text_at

if TYPE_CHECKING:
    from renderer.input_types import BackendRuntimeSpec, EngineSpec


class SizeOptions(Struct, frozen=True):
    """The options that distribute accelerators, each set by the names of the dialect."""

    size: frozenset[str]  # that set the tensor parallel size
    all: frozenset[str]  # `size` too
    multipliers: Mapping[str, frozenset[str]]  # options that multiply the size, and those that suspend each
    uncountable: frozenset[str]  # with which the number of accelerators is unknown


def build_dialect(spec: BackendRuntimeSpec, option_list: OptionList | None) -> Dialect:
    """The dialect of a runtime's command line; options that the runtime uses count as known."""
    engine_spec = spec.get("engine") or {}
    layers = [config.get("args") or [] for config in spec.get("recommendedConfigs") or ()]
    layers += [entry.get("args") or [] for entry in engine_spec.get("derived") or ()]
    return dialect.build_style(engine_spec.get("options") or {}, layers, option_list)


def size_options(style: Dialect, engine_spec: EngineSpec) -> SizeOptions:
    """The options of a runtime that distribute accelerators."""
    options = engine_spec.get("options") or {}
    multipliers = {
        style.name(option): frozenset(map(style.name, excluding))
        for option, excluding in (options.get("shares") or {}).items()
    }
    size = grouped_options(style, engine_spec, "TP")
    groups = (style.groups.get(group, ()) for group, _ in given_options(engine_spec, "TP"))
    return SizeOptions(
        size, size.union(multipliers, *groups), multipliers, option_names(style, options.get("uncounted"))
    )


def length_options(style: Dialect, engine_spec: EngineSpec) -> frozenset[str]:
    """The options of a runtime that set the context length."""
    return frozenset(style.name(option) for _, option in given_options(engine_spec, "MaxModelLen"))


def health_paths(spec: BackendRuntimeSpec) -> tuple[str, str]:
    """The paths by which a runtime asks whether its engine is ready, and lives; '' where it asks otherwise."""
    return text_at(spec, "readinessProbe", "httpGet", "path"), text_at(spec, "livenessProbe", "httpGet", "path")


def shares_memory(engine_spec: EngineSpec) -> bool:
    """Whether the processes of several accelerators need more shared memory than a container has by itself."""
    return any("sharedMemory" in entry for entry in engine_spec.get("derived") or ())


def memory_share(style: Dialect, engine_spec: EngineSpec) -> MemoryShare | None:
    """The part of an accelerator's memory that the engine takes at its start; None without one."""
    memory = engine_spec.get("memory") or {}
    fraction = memory.get("fraction")
    if not fraction or memory.get("offload") != "none":
        return None
    option = fraction["option"]
    names = option_names(style, [option, *(memory.get("sizeOptions") or ())])
    return MemoryShare(float(fraction.get("default", 1)), option, names)


def grouped_options(style: Dialect, engine_spec: EngineSpec, word: str) -> frozenset[str]:
    """The options whose value in an entry of `derived` with a group is the word."""
    return frozenset(style.name(option) for group, option in given_options(engine_spec, word) if group)


def given_options(engine_spec: EngineSpec, word: str) -> Iterator[tuple[str, str]]:
    """Group and option of each argument of `derived` whose value is the word."""
    for entry in engine_spec.get("derived") or ():
        for option, value in itertools.pairwise(entry.get("args") or ()):
            if bare_word(value) == word:
                yield entry.get("group", ""), option


def bare_word(value: str) -> str:
    """The word of a value that is no more than a word in braces; else ''."""
    return value.strip("{} ").lstrip(".") if value.startswith("{{") else ""


def build_option_rules(
    files: OptionFiles, runtime: BackendRuntime, style: Dialect, option_list: OptionList, version: str
) -> OptionRules:
    """The rules for the options of a version. `option_list`: its own, or that of the nearest older version, of which
    errors become warnings.
    """
    name, options = runtime.name, (runtime.spec.get("engine") or {}).get("options") or {}
    rules = OptionRules(
        style,
        option_list,
        f"{name} {version}",
        list_path=list_path(runtime.spec.get("engine") or {}),
        plugins=options.get("plugins") or {},
        requires=options.get("requires") or {},
        idle_without=options.get("idleWithout") or {},
    )
    if options.get("uncertain"):
        described = f"the uncertain list of {name} {option_list.version}"
        return structs.replace(rules, engine=described, is_certain=False)
    if option_list.is_learnt:  # what no help tells an older version does
        older = f"{name} {option_list.older} (the nearest known to {version})" if option_list.older else ""
        rules = structs.replace(rules, older=older)
    telling = option_list.older or option_list.version
    rules = structs.replace(rules, keys=partial(engine_names(files, runtime).keys, telling))
    if version_key(option_list.version) != version_key(version):
        nearest = f"{name} {option_list.version} (the nearest known to {version})"
        is_beyond = version_key(version) > max(map(version_key, known_versions(files, runtime)))
        around = released_around(files, runtime, version)
        return structs.replace(rules, engine=nearest, is_certain=False, is_beyond=is_beyond, around=around)
    return structs.replace(rules, is_certain=False, is_learnt=True) if option_list.is_learnt else rules
