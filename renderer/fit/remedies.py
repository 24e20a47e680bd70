"""By which change a model would fit, such as a larger share, a shorter context, more accelerators, another flavor."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from renderer.fit.verdict import CONTEXT, FITS, FitQuestion, FitVerdict, judge_fit, request_gib

_ROUND = 1024  # a shorter context that is offered is a multiple of it
_LARGEST_GROUP = 16


class Remedy(Struct, frozen=True):
    """A change by which a model would fit. Only one of its fields is set."""

    share: float = 0  # of the memory
    length: int = 0
    value_type: str = ""
    tensor: int = 0
    flavor: str = ""


def first_remedy(
    question: FitQuestion,
    verdict: FitVerdict,
    *,
    takes_fp8: bool,
    usual_share: float = 0,
    flavors: Iterable[tuple[str, FitQuestion]] = (),
) -> Remedy | None:
    """The first change that would fit for certain: the usual share of the memory, a shorter context, a cache of 8 bits,
    more accelerators, another flavor; None where none would. `takes_fp8`: engine and accelerators can have such a
    cache; `usual_share`: what the engine takes of the memory where nobody says it, 0 where it has no such share;
    `flavors`: the others of the model, with the question on each.
    """
    budget = question.budget
    if budget.fraction < usual_share and _would_fit(replace(question, budget=replace(budget, fraction=usual_share))):
        return Remedy(share=usual_share)
    if verdict.kind == CONTEXT:
        if length := _longest(question, verdict.sure_gib):
            return Remedy(length=length)
        if takes_fp8 and _would_fit(replace(question, settings=replace(question.settings, value_type="fp8"))):
            return Remedy(value_type="fp8")
    tensor = question.settings.tensor * 2
    while not question.accelerator.is_instance and tensor <= _LARGEST_GROUP and question.heads % tensor == 0:
        if _would_fit(replace(question, settings=replace(question.settings, tensor=tensor))):
            return Remedy(tensor=tensor)
        tensor *= 2
    return next((Remedy(flavor=name) for name, other in flavors if _would_fit(other)), None)


def _would_fit(question: FitQuestion) -> bool:
    return judge_fit(question).kind == FITS


def _longest(question: FitQuestion, room_gib: float) -> int:
    """The longest request, in steps of _ROUND tokens, that fits into the cache; 0 for none."""
    lengths = range(0, question.length, _ROUND)
    count = bisect_right(lengths, room_gib, lo=1, key=lambda length: request_gib(question, length))
    return lengths[count - 1]
