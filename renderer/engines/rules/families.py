"""Whether options that read what a model writes, or how it is stored, are those of the family of the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from msgspec import Struct

from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.engines.given_options import WrittenOption, option_values, written_options
from renderer.engines.handwritten_command import table_entry
from renderer.engines.running_engine import EngineLine, RunningEngine
from renderer.kubernetes.json_values import map_at, maps_at, text_at, texts_at
from renderer.preset_tables import preset_table
from renderer.text.patterns import expression

_TABLE = "model_families"


class _Family(Struct, frozen=True):
    """A row of the table, as far as it is about one engine."""

    name: str
    named: str  # a pattern of names of repositories; '' for the models of the architectures
    architectures: Sequence[str]
    values: Mapping[str, Sequence[str]]  # by option

    def has(self, architecture: str, model: str) -> bool:
        """Whether a model is of the family, by the last part of its id in small letters."""
        if not self.named:
            return architecture in self.architectures
        stored = text_at(preset_table(_TABLE), "stored")
        return bool(expression(f"({self.named}){stored}").fullmatch(model))


@cache
def _families(backend: str) -> Sequence[_Family]:
    """The families of which options of an engine are known."""
    families = []
    for row in maps_at(preset_table(_TABLE), "rows"):
        if values := map_at(row, "values", backend):
            by_option = {option: texts_at(values, option) for option in values}
            families.append(
                _Family(text_at(row, "family"), text_at(row, "named"), texts_at(row, "architectures"), by_option)
            )
    return families


@cache
def _options(backend: str) -> frozenset[str]:
    """The options of an engine whose values belong to families."""
    return frozenset(texts_at(table_entry(backend), "familyOptions"))


@rule(of=RunningEngine, when=lambda running: not running.line.options.isdisjoint(_options(running.line.backend)))
def options_of_another_family(running: RunningEngine) -> Iterator[Diagnostic]:
    """A warning for an option that reads what models of other families write, or that are stored otherwise. None beside
    a chat template or a tokenizer of the reader's own.
    """
    line = running.line
    layers = [layer for layer in line.written if not any(layer.origin.source is source for source in line.shipped)]
    if not layers or not line.options.isdisjoint(texts_at(preset_table(_TABLE), "unless")):
        return
    names = _options(line.backend)
    values = option_values(line.engine.style, line.args, names)
    for option in written_options(line.engine.style, layers, names):
        if option.value == values.get(option.name):
            yield from _foreign_value(running, option)


def _foreign_value(running: RunningEngine, option: WrittenOption) -> Iterator[Diagnostic]:
    """The warning for an option whose value stands in families alone that are not those of the model."""
    line = running.line
    rows = _families(line.backend)
    owners = [family for family in rows if option.value in family.values.get(option.name, ())]
    if not owners:
        return
    architecture, model = text_at(running.facts(), "architecture"), running.model()
    name = model.rpartition("/")[2].lower()
    own = [family for family in rows if option.name in family.values and family.has(architecture, name)]
    if not own or any(option.value in family.values[option.name] for family in own):
        return
    first = [family for family in owners if family.values[option.name][0] == option.value]
    fitting = [value for family in own for value in family.values[option.name] if _is_known(line, option.name, value)]
    spelled = option.text.partition("=")[0]
    yield make_diagnostic(
        "W831",
        option.origin,
        option=spelled,
        value=option.value,
        families=" and ".join(family.name for family in (first or owners)[:2]),
        model=model or architecture,
        effect=text_at(preset_table(_TABLE), "effects", option.name),
        hint=f"write {spelled} {fitting[0]}" if fitting else "leave it out",
    )


def _is_known(line: EngineLine, option: str, value: str) -> bool:
    """Whether the version takes a value, as far as that is known."""
    known = line.option_rules.option_list.options.get(option) if line.option_rules else None
    return known is None or not known.choices.values or value in known.choices
