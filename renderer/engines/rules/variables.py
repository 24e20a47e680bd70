"""Environment variables that the version of an engine does not read."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from functools import cache

from renderer.diagnostics import Diagnostic, ReplacingHint, make_diagnostic, meant_name, rule
from renderer.engines.handwritten_command import table_entry
from renderer.engines.name_lists import NameList
from renderer.engines.option_hints import value_instead
from renderer.engines.rules.accelerators import used_accelerators
from renderer.engines.running_engine import EngineLine, RunningEngine
from renderer.kubernetes.json_values import as_text, maps_at, text_at
from renderer.preset_tables import preset_table
from renderer.text.suggestions import closest

_VISIBLE = "_VISIBLE_DEVICES"  # how their names end
_NEAR = 0.9  # one letter in ten may be wrong or missing
_DIGITS = re.compile(r"\d+")


@rule(of=RunningEngine, when=lambda running: running.line.version and running.line.engine.names.prefix)
def unread_variables(running: RunningEngine) -> Iterator[Diagnostic]:
    """A warning for each variable of the engine's own that its version reads no longer, or not yet, or that is spelt
    nearly as one that it reads: the engine ignores it. Only of images of the engine's project, since any other may have
    plugins with variables of their own.
    """
    line = running.line
    written = list(running.written_variables(line.engine.names.prefix))
    known = line.engine.names.variables(line.version) if written else None
    for name, origin in written if known else ():
        if known is None or name in known.names or not line.is_own_image() or _is_used(running, name):
            continue
        words = {"of": f"{line.engine.names.engine} {line.version}", "name": name}
        if name in known.ended:
            hint = _replacement(running, known, name, running.plain_value(name))
            yield make_diagnostic("W475", origin, hint=hint, **words)
        elif name in known.later:
            hint = f"it was added {known.later[name]}: use that version or a newer one, or leave it out"
            yield make_diagnostic("W476", origin, hint=hint, **words)
        elif hint := _meant(line, known, name):
            yield make_diagnostic("W476", origin, hint=hint, **words)


def _meant(line: EngineLine, known: NameList, name: str) -> str:
    """What is meant by a variable that no version reads: another one, or an option; '' where nobody can tell."""
    if (instead := known.replaced.get(name, "")) in known.names:
        return meant_name(name, instead)
    near = closest(name, sorted(known.names), _NEAR)
    if near and _DIGITS.findall(near) == _DIGITS.findall(name):
        return meant_name(name, near)
    option = f"--{name.removeprefix(line.engine.names.prefix).lower().replace('_', '-')}"
    is_option = line.option_rules is not None and option in line.option_rules.option_list.options
    return f"write the option {option} among the arguments" if is_option else ""


def _replacement(running: RunningEngine, known: NameList, name: str, value: str) -> str:
    """What to do about a variable that the version no longer reads. An option or a variable that took its place is
    named where the version has it, with a value for it where it does not take the variable's own.
    """
    rules, removal = running.line.option_rules, f"it was removed {known.ended[name]}"
    for instead in known.replaced.get(name, "").split():
        option, _, _ = instead.partition(".")
        if instead in known.names:
            return ReplacingHint(f"use {instead} instead; {removal}", name, instead)
        if rules and option in rules.option_list.options:
            return f"use {value_instead(rules, instead, value)}; {removal}"
    return f"leave it out; {removal}"


def _is_used(running: RunningEngine, name: str) -> bool:
    """Whether the container itself says the variable's name, so that something else than the engine may read it."""
    container = running.container
    values = (as_text(variable.get("value")) for variable in container.env)
    return any(name in text for text in itertools.chain(container.command, container.args, values))


@rule(of=RunningEngine, when=lambda running: running.line.shared.accelerator.number)
def unseen_accelerators(running: RunningEngine) -> Iterator[Diagnostic]:
    """A warning for a variable that names an accelerator which the container does not have, or fewer than the engine is
    told to use, or that takes the place of the device plugin's own.
    """
    accelerator = running.line.shared.accelerator
    for name, origin in running.written_variables(""):
        if not name.endswith(_VISIBLE) or not (row := _visible().get(name)) or row["vendor"] != accelerator.vendor:
            continue
        value = running.plain_value(name)
        parts = [part.strip() for part in value.split(",")]
        numbers = [int(part) for part in parts if part.isdecimal()]
        if row.get("plugin"):
            if value and not accelerator.claimed:
                what = f"is set by the device plugin, and {value} takes the place of the container's own accelerators"
                yield make_diagnostic("W494", origin, variable=name, what=what)
        elif beyond := [number for number in numbers if number >= accelerator.number]:
            what = f"names accelerator {beyond[0]}, and those of a container are numbered from 0: it has "
            yield make_diagnostic("W494", origin, variable=name, what=f"{what}{accelerator.number}")
        elif all(parts) and "$(" not in value:
            used = _accelerators_needed(running.line)
            if len(parts) < used:
                what = f"names {len(parts)} of the container's accelerators, and its engine is told to use {used}"
                yield make_diagnostic("W494", origin, variable=name, what=what)


def _accelerators_needed(line: EngineLine) -> int:
    """How many accelerators of its pod the engine cannot do without; 0 where it takes those that it sees, or nobody
    knows.
    """
    if line.shared.hosts > 1 or not line.engine.size_options or table_entry(line.backend).get("usesAll"):
        return 0
    return used_accelerators(line) or 0


@cache
def _visible() -> dict[str, Mapping[str, object]]:
    """The variables by which a process sees a part of its accelerators."""
    return {text_at(row, "variable"): row for row in maps_at(preset_table("accelerators"), "visible")}
