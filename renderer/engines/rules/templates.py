"""Chat templates that are none, and options for another task than the model's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from renderer.diagnostics import Diagnostic, Origin, make_diagnostic, rule
from renderer.engines.given_options import option_values, written_options
from renderer.engines.handwritten_command import table_entry
from renderer.engines.running_engine import RunningEngine
from renderer.engines.version_order import in_range
from renderer.kubernetes.json_values import maps_at, text_at, texts_at

_MARKS = "{}\n"  # what a template has, and no name


@cache
def _template_options(backend: str) -> frozenset[str]:
    """The options that take the text of a template, or a name."""
    rows = maps_at(table_entry(backend), "templateTexts")
    return frozenset(name for row in rows for name in (text_at(row, "option"), text_at(row, "variable")) if name)


def _may_name_template(running: RunningEngine) -> bool:
    names = _template_options(running.line.backend)
    return not names.isdisjoint(running.line.options) or running.has_variable(names)


@rule(of=RunningEngine, when=_may_name_template)
def names_for_templates(running: RunningEngine) -> Iterator[Diagnostic]:
    """An error for each name where the engine takes a template's text, and for one that it does not know."""
    line = running.line
    if not line.version or not line.is_own_image():
        return
    engine = line.engine.names.engine or line.backend
    for row in maps_at(table_entry(line.backend), "templateTexts"):
        if not in_range(row, line.version) or not line.options.isdisjoint(texts_at(row, "unless")):
            continue
        if not {*texts_at(row, "beside")} <= line.options:
            continue
        for name, value, origin in _values(running, row):
            is_path = "/" in value or "." in value
            if not value or value in texts_at(row, "names") or any(mark in value for mark in (*_MARKS, "$(")):
                continue
            if value.startswith("-") or (is_path and "file" not in row):
                continue  # an option in place of a value, and whether a file is there, are told elsewhere
            hint = f"write {text_at(row, 'file')} {value}" if is_path else text_at(row, "hint")
            words = {"option": name, "value": value, "engine": engine, "effect": text_at(row, "effect")}
            yield make_diagnostic("E830", origin, hint=hint, **words)


def _values(running: RunningEngine, row: Mapping[str, object]) -> Iterator[tuple[str, str, Origin]]:
    """The option and the variable of the reader's, what each has, and its place."""
    line, variable = running.line, text_at(row, "variable")
    for option in written_options(line.engine.style, line.written, (text_at(row, "option"),)):
        yield option.name, option.value, option.origin
    for name, origin in running.written_variables(variable) if variable else ():
        if name == variable:
            yield name, running.plain_value(name), origin


@cache
def _tasks(backend: str) -> Sequence[Mapping[str, object]]:
    return maps_at(table_entry(backend), "taskOptions")


@rule(of=RunningEngine, when=lambda running: running.line.start and _tasks(running.line.backend))
def other_task(running: RunningEngine) -> Iterator[Diagnostic]:
    """A warning for an option that makes the engine answer other requests than those that the model is for, and where
    one is lacking without which it does. Of lines that a preset begins E462 says so, and the preset has the option.
    """
    line = running.line
    for row in _tasks(line.backend):
        option, values = text_at(row, "option"), texts_at(row, "values")
        is_on = option in line.options
        if line.hides_options or not (is_on or "lacking" in row) or not line.is_own_image():
            continue
        facts = running.facts()
        task, model = text_at(facts, "kind"), running.model() or "the model"
        words = {"option": option, "engine": line.engine.names.engine or line.backend, "model": model, "task": task}
        if is_on and task in texts_at(row, "not"):
            value = option_values(line.engine.style, line.args, frozenset([option])).get(option, "")
            written = next(written_options(line.engine.style, line.written, [option]), None)
            if written and (not values or value in values):
                shown = f"{option} {value}" if values else option
                words = {**words, "option": shown, "what": text_at(row, "what")}
                yield make_diagnostic("W834", written.origin, hint="leave it out", **words)
        lacks = not is_on and task in texts_at(row, "lacking")
        layer = next((layer for layer in line.written if layer.args), None)
        if lacks and layer and text_at(facts, "architecture").endswith(text_at(row, "ending")):
            words = {**words, "option": f"without {option}", "what": text_at(row, "else")}
            yield make_diagnostic("W834", layer.origin_of(0), hint=f"add {option}", **words)
