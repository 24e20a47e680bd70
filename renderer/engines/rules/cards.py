"""Whether the cards of a pod can compute what its engine is told to."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, Origin, make_diagnostic, rule
from renderer.engines.card_needs import CardNeed, card_needs, options_with_needs
from renderer.engines.given_options import option_values, written_options
from renderer.engines.handwritten_command import table_entry
from renderer.engines.running_engine import EngineLine, RunningEngine
from renderer.kubernetes.json_values import map_at, number_at, text_at, texts_at

_FORMAT = "--quantization"


def _has_needs(running: RunningEngine) -> bool:
    """Whether the engine of a known version may need a card, and has some: weights are looked at later."""
    line = running.line
    if line.option_rules is None or not line.option_rules.is_certain or not line.shared.accelerator.resource:
        return False
    needed = options_with_needs(line.backend, line.version)
    return "" in needed or not line.options.isdisjoint(needed)


@rule(of=RunningEngine, when=_has_needs)
def unable_cards(running: RunningEngine) -> Iterator[Diagnostic]:
    """An error for each thing that the engine refuses on all of the cards that the pod may get, in the image of its own
    project.
    """
    line = running.line
    cards = running.cards()
    if not cards or not all(card.capability for card in cards) or not line.is_own_image():
        return
    for need in card_needs(line.backend, line.version):
        if any(need.least <= card.capability <= need.most for card in cards):
            continue
        for what, origin in _asked(running, need):
            words = {
                "what": what,
                "least": f"{need.least:.1f}",
                "most": f" to {need.most:.1f}" if need.most < max(card.capability for card in cards) else "",
                "card": " or ".join(f"{card.name} ({card.capability:.1f})" for card in cards),
                "engine": f"{line.backend} {line.version}",
                "hint": need.hint or "use accelerators of that compute capability",
            }
            yield make_diagnostic("E483", origin, **words)


@rule(of=RunningEngine, when=lambda running: running.line.engine.memory_share and not running.line.hides_options)
def no_share_of_memory(running: RunningEngine) -> Iterator[Diagnostic]:
    """A warning for an engine that takes nearly all memory of a card that its pod shares with others."""
    line, share = running.line, running.line.engine.memory_share
    if not share or not line.options.isdisjoint(share.options):
        return
    if not running.takes_turns() or not line.options.isdisjoint(texts_at(table_entry(line.backend), "settingsFile")):
        return
    if origin := line.shared.where():
        words = {"name": line.subject.name, "percent": f"{share.fraction * 100:.0f}", "option": share.option}
        yield make_diagnostic("W484", origin, **words)


@rule(of=EngineLine, when=lambda line: "mostShare" in table_entry(line.backend))
def too_large_share(line: EngineLine) -> Iterator[Diagnostic]:
    """A warning for a share of a card's memory that leaves nothing for what the engine has outside of it."""
    row = map_at(table_entry(line.backend), "mostShare")
    if not line.shared.accelerator.resource or text_at(row, "option") not in line.options:
        return
    for option in written_options(line.engine.style, line.written, (text_at(row, "option"),)):
        share = float(option.value) if option.value.replace(".", "", 1).isdecimal() else 0
        known = line.option_rules.option_list.options.get(option.name) if line.option_rules else None
        # What is above 1 is told as a value that the option does not take, where its list has bounds.
        if share > number_at(row, "most") and not (share > 1 and known and known.bounds):
            words = {"option": option.name, "value": option.value, "engine": line.backend, "usual": row["usual"]}
            yield make_diagnostic("W499", option.origin, **words)


def _asked(running: RunningEngine, need: CardNeed) -> Iterator[tuple[str, Origin]]:
    """What asks for it: the option that somebody wrote, else the weights or the engine itself; and where."""
    line = running.line
    origin = line.shared.where()
    if need.option:
        yield from _options(line, need)
    elif need.weights:
        formats = {text_at(running.facts(), key).lower() for key in ("quantization", "precision")}
        if origin and _FORMAT not in line.options and need.weights in formats:
            yield f"weights in {need.weights}", origin
    elif origin:
        yield f"{line.backend} itself", origin


def _options(line: EngineLine, need: CardNeed) -> Iterator[tuple[str, Origin]]:
    rules, beside = line.option_rules, ""
    if need.other and rules:
        value = option_values(line.engine.style, line.args, frozenset((need.other,))).get(need.other, "")
        if not rules.is_among(need.other, value, need.other_values):
            return
        beside = f" beside {need.other} {value}"
    for option in written_options(line.engine.style, line.written, (need.option,)):
        if rules and rules.is_among(need.option, option.value, need.values):
            yield f"{need.option} {option.value}{beside}", option.origin
