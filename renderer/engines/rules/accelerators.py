"""Whether an engine uses the accelerators of its pod, all of them and no more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.engines.given_options import given_options, last_given_number, last_number
from renderer.engines.running_engine import EngineLine, KnownEngine


@rule(of=EngineLine, when=lambda line: line.shared.accelerator.resource)
def wrong_number(line: EngineLine) -> Iterator[Diagnostic]:
    """An error where the arguments use more accelerators than the pod has, a warning where they leave some unused."""
    engine, written, accelerator, subject = line.engine, line.written, line.shared.accelerator, line.subject
    if line.shared.hosts > 1 or not engine.size_options:
        return
    count = accelerator.number if accelerator.group else 1
    is_given = not line.options.isdisjoint(engine.parallel_options)  # the preset gives some, too
    overridden = is_given and not given_options(engine.style, written).isdisjoint(engine.parallel_options)
    last = last_given_number(engine.style, written, engine.size_options) if overridden else None
    if last is not None and last.value > count:
        yield make_diagnostic("E416", last.origin, option=last.option, **_words_of_too_many(line, last.value))
        return
    used = _used_by(line, overridden=overridden)
    if used is None or used == count:
        return
    multipliers = frozenset(engine.multipliers)
    shared = (last_given_number(engine.style, written, multipliers) if overridden else None) or last
    if used > count and shared is not None:
        yield make_diagnostic("E416", shared.origin, option=shared.option, **_words_of_too_many(line, used))
    elif used < count and (origin := shared.origin if shared else line.shared.origin):
        hint = f"lower {subject.limits}, or use all of them with {subject.ways} parallelism"
        if shared and last is None:
            option = min(engine.size_options)
            hint = f"your own size removes the derived one: set {option} too, or lower {subject.limits}"
        yield make_diagnostic("W236", origin, size=used, count=count, name=accelerator.resource, hint=hint)


def _words_of_too_many(line: EngineLine, size: int) -> dict[str, object]:
    """The words of the error about a number of accelerators that the pod does not have."""
    accelerator, subject = line.shared.accelerator, line.subject
    words = {"size": size, "count": accelerator.number, "name": accelerator.resource}
    if not accelerator.group:
        words["name"] = f"{accelerator.resource}, which count as one: parts of accelerators cannot work together"
        return {**words, "hint": "request 1 of them and lower the number to 1, or request whole accelerators"}
    way = subject.raised(size) if subject.raised else ""
    return {**words, "hint": f"{way or f'raise {subject.limits}'}, or lower the number{subject.over_pods}"}


def _used_by(line: EngineLine, *, overridden: bool) -> int | None:
    """The number of accelerators that a line uses. `overridden`: users say it; None where it cannot be told."""
    return accelerators_used(line.engine, line.args) if overridden else line.shared.size


def accelerators_used(engine: KnownEngine, args: Sequence[str]) -> int | None:
    """The number of accelerators that a command line uses; None where it cannot be told."""
    options = {engine.style.name(token) for token in args if token[:1] == "-"}
    known = engine.size_options | engine.multipliers.keys()
    if options & engine.uncountable_options or options & engine.parallel_options - known:
        return None
    size = 1
    for alternatives in (engine.size_options, *(frozenset([share]) for share in engine.multipliers)):
        excluding = frozenset().union(*(engine.multipliers.get(option, ()) for option in alternatives))
        if options & alternatives and not options & excluding:
            number = last_number(engine.style, args, alternatives)
            if number is None:
                return None
            size *= number
    return size


def heads_words(heads: int, size: int) -> dict[str, object]:
    """The words of the warning about attention heads that are not divisible by a tensor parallel size."""
    return {"size": size, "heads": heads, "fits": fitting_size(heads, size)}


def fitting_size(heads: int, size: int) -> int:
    """The largest tensor parallel size up to `size` by which the attention heads are divisible."""
    return max(divisor for divisor in range(1, size + 1) if heads % divisor == 0)
