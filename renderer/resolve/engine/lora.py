"""The LoRA adapters that an engine's options load, by the names that clients request."""

from __future__ import annotations

import json
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

from renderer.engines.dialect import Dialect
from renderer.plan import NamedModel
from renderer.resolve.engine.adapters import asked_name

if TYPE_CHECKING:
    from renderer.input_types import EngineSpec


def loaded_adapters(
    engine: EngineSpec, style: Dialect, served: str, args: Sequence[str], names: Set[str] | None = None
) -> tuple[NamedModel, ...]:
    """The adapters that the options of the preset's `engine.adapters` load; each value is name=path, or JSON.
    `served`: the public name of the model; `names`: the options among the arguments, where they are known.
    """
    rule = engine.get("adapters") or {}
    options = rule.get("options")
    if not options or (names is not None and names.isdisjoint(options)):
        return ()
    values = _option_values(style, args, options)
    adapters = dict.fromkeys(filter(None, (_adapter_name(value, rule.get("key", "name")) for value in values)))
    return tuple([NamedModel(adapter, asked_name(rule, served, adapter)) for adapter in adapters])


def _option_values(style: Dialect, args: Sequence[str], options: Sequence[str]) -> list[str]:
    """The values of these options; of a repeated one the last values where the last counts."""
    by_option: dict[str, list[str]] = {}
    option = ""
    for arg in args:
        if arg[:1] == "-" and (name := style.name(arg)):
            _, equals, value = arg.partition("=")
            option = name if name in options else ""
            if option and (style.duplicates == "last" or option not in by_option):
                by_option[option] = []
            if option and equals:
                by_option[option].append(value)
                option = ""
        elif option:
            by_option[option].append(arg)
    return [value for values in by_option.values() for value in values]


def _adapter_name(value: str, key: str) -> str:
    if value.startswith("{"):
        try:
            fields = json.loads(value)
        except ValueError:
            return ""
        return str(fields.get(key) or "") if isinstance(fields, dict) else ""
    return value.partition("=")[0]
