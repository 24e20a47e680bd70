"""Rules about objects, each of which declares where it stands which kinds it is about: an object is a map, whose type
says nothing, so that its rules are found by its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from renderer.check.finding import Body
from renderer.diagnostics import Finding

Rule = TypeVar("Rule", bound=Callable[..., Iterator[Finding]])


class KindRules(dict[str, list[Rule]]):
    """The rules of one stage, by the names of kinds."""

    def about(self, *kinds: str) -> Callable[[Rule], Rule]:
        """Declares a function as a rule about objects of these kinds."""

        def declare(function: Rule) -> Rule:
            for kind in kinds:
                self.setdefault(kind, []).append(function)
            return function

        return declare


object_rules = KindRules[Callable[[Body], Iterator[Finding]]]()
"""The rules about one object beside those of its schema, by the name of that."""
