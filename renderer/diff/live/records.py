"""What a comparison of a running cluster with the rendered objects comes to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from renderer.diff.objects import ObjectKey

EQUAL: Final = "equal in effect"
ADDS: Final = "ours adds"
LOST: Final = "lost"
UNEXPLAINED: Final = "unexplained"
IMMUTABLE: Final = "immutable"
CLASSES: Final = (LOST, UNEXPLAINED, IMMUTABLE, EQUAL, ADDS)
COMPARED: Final = "compared"
NOT_RENDERED: Final = "not rendered"
ADDED: Final = "added"


class Difference(Struct, frozen=True):
    """A field, option or item that differs. A side that does not have it has ABSENT."""

    path: str  # in words: `spec.template.spec.containers[model-runner].args: --port`
    theirs: object  # as it runs
    ours: object  # as it is rendered
    hide_secrets: Callable[[], tuple[object, object]]  # both, as they may be printed: few reports print them all
    kind: str  # one of CLASSES
    rule: str = ""  # the name of the rule that explains it
    deviation: int = 0  # its number in docs/deviations.md, 0 without one


class LiveObject(Struct, frozen=True):
    """An object that is compared, or that only one side has."""

    state: str  # compared, not rendered or added
    theirs: ObjectKey | None
    ours: ObjectKey | None
    file: str = ""  # of the dump
    differences: tuple[Difference, ...] = ()
    same: int = 0  # fields and options that are the same
    owners: tuple[str, ...] = ()  # kind and name of each owner in the cluster

    @property
    def title(self) -> str:
        """`Deployment default/chat → LeaderWorkerSet default/chat`, or the one name that both have."""
        names = [str(key) for key in (self.theirs, self.ours) if key]
        return " → ".join(dict.fromkeys(names))

    @property
    def kind(self) -> str:
        """Of ours, or of theirs where ours is absent."""
        key = self.ours or self.theirs
        return key.kind if key else ""

    def of_kind(self, kind: str) -> list[Difference]:
        """The differences of a class."""
        return [difference for difference in self.differences if difference.kind == kind]


class LiveReport(Struct, frozen=True):
    """All that was compared."""

    objects: tuple[LiveObject, ...]
    skipped: Mapping[str, int] = {}  # by kind, how many objects of the dump are not about serving

    def differences(self) -> Iterator[Difference]:
        """Those of all objects."""
        for item in self.objects:
            yield from item.differences

    def count(self, kind: str) -> int:
        """How many differences are of a class; an object that is not rendered is lost as a whole."""
        fields = sum(difference.kind == kind for difference in self.differences())
        states = {LOST: NOT_RENDERED, ADDS: ADDED}
        return fields + sum(item.state == states.get(kind) for item in self.objects)

    @property
    def same(self) -> int:
        """How many fields and options are the same."""
        return sum(item.same for item in self.objects)

    @property
    def lost(self) -> int:
        """What theirs has, ours has not, and no rule explains."""
        return self.count(LOST)

    @property
    def unexplained(self) -> int:
        """What differs for a reason that no rule knows."""
        return self.count(UNEXPLAINED)

    @property
    def deviations(self) -> list[int]:
        """The numbers of the deviations that were met, sorted."""
        return sorted({difference.deviation for difference in self.differences()} - {0})
