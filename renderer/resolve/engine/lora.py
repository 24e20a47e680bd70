"""LoRA adapters that an engine's own options load: more names that clients may ask for."""

from __future__ import annotations

import json
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

from renderer import template
from renderer.resolve.engine.dialect import Dialect

if TYPE_CHECKING:
    from renderer.input_types import EngineSpec

_WORDS = frozenset(["ModelName", "Adapter"])


def lora_names(
    engine: EngineSpec, style: Dialect, served: str, args: Sequence[str], names: Set[str] | None = None
) -> tuple[str, ...]:
    """The names by which clients ask for them, by the options that `engine.adapters` of the preset lists; each value is
    name=path, or JSON. `served`: the public name of the model itself; `names`: the options among the arguments, where
    somebody knows.
    """
    rule = engine.get("adapters") or {}
    options = rule.get("options")
    if not options or (names is not None and names.isdisjoint(options)):
        return ()
    loading = filter(None, (_name(value, rule.get("key", "name")) for value in _values(style, args, options)))
    filler = template.compile_template(rule.get("asked", ""), _WORDS)
    return tuple(
        dict.fromkeys(filler({"ModelName": served, "Adapter": adapter}) if filler else adapter for adapter in loading)
    )


def _values(style: Dialect, args: Sequence[str], options: Sequence[str]) -> list[str]:
    """The values of these options; where one is given twice and the last counts, its last ones."""
    by_option: dict[str, list[str]] = {}
    taken = ""
    for arg in args:
        if arg[:1] == "-" and (name := style.name(arg)):
            _, equals, value = arg.partition("=")
            taken = name if name in options else ""
            if taken and (style.duplicates == "last" or taken not in by_option):
                by_option[taken] = []
            if taken and equals:
                by_option[taken].append(value)
                taken = ""
        elif taken:
            by_option[taken].append(arg)
    return [value for values in by_option.values() for value in values]


def _name(value: str, key: str) -> str:
    if value.startswith("{"):
        try:
            fields = json.loads(value)
        except ValueError:
            return ""
        return str(fields.get(key) or "") if isinstance(fields, dict) else ""
    return value.partition("=")[0]
