"""LoRA adapters that an engine's own options load: more names that clients may ask for."""

from __future__ import annotations

import json
from collections.abc import Sequence, Set

from renderer import template
from renderer.api import Spec
from renderer.resolve.options import Style

_WORDS = frozenset(["ModelName", "Adapter"])


def loaded(
    engine: Spec, style: Style, served: str, args: Sequence[str], names: Set[str] | None = None
) -> tuple[str, ...]:
    """The names by which clients ask for them, by the options that `engine.adapters` of the preset lists; each value is
    name=path, or JSON. `served`: the public name of the model itself; `names`: the options among the arguments, where
    somebody knows.
    """
    rule = engine.get("adapters") or {}
    options = rule.get("options")
    if not options or (names is not None and names.isdisjoint(options)):
        return ()
    loading = filter(None, (_name(each, rule.get("key", "name")) for each in _values(style, args, options)))
    filler = template.compiled(rule.get("asked", ""), _WORDS)
    return tuple(dict.fromkeys(filler({"ModelName": served, "Adapter": each}) if filler else each for each in loading))


def _values(style: Style, args: Sequence[str], options: Sequence[str]) -> list[str]:
    """The values of these options; where one is given twice and the last counts, its last ones."""
    made: dict[str, list[str]] = {}
    taken = ""
    for each in args:
        if each[:1] == "-" and (name := style.name(each)):
            _, equals, value = each.partition("=")
            taken = name if name in options else ""
            if taken and (style.duplicates == "last" or taken not in made):
                made[taken] = []
            if taken and equals:
                made[taken].append(value)
                taken = ""
        elif taken:
            made[taken].append(each)
    return [value for values in made.values() for value in values]


def _name(value: str, key: str) -> str:
    if value.startswith("{"):
        try:
            said = json.loads(value)
        except ValueError:
            return ""
        return str(said.get(key) or "") if isinstance(said, dict) else ""
    return value.partition("=")[0]
