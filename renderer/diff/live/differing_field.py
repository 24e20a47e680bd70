"""A field that differs, in its pair of objects: what the rules of a comparison look at."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

from renderer.diff.fields import ABSENT
from renderer.diff.live import command_options
from renderer.diff.live.compared import LivePair, PodPair
from renderer.diff.live.counterparts import is_loader
from renderer.diff.live.leaves import OPTION, Key, Leaf, path_text
from renderer.diff.live.server_fields import is_default
from renderer.kubernetes.workloads import CONTAINERS


class DifferingField:
    """A field that differs, in its pair of objects. What the server fills in by itself on our side counts as absent
    where theirs has another value.
    """

    def __init__(self, key: Key, theirs: Leaf | None, ours: Leaf | None, pair: LivePair) -> None:
        self.key: Final = key
        self.pair: Final = pair
        self.theirs: Final = theirs
        # Whether the server fills in what theirs has.
        self.is_filled_in: Final = bool(theirs and ours and is_default(pair.theirs.view, theirs.place))
        is_default_of_ours = theirs and ours and not self.is_filled_in and is_default(pair.ours.view, ours.place)
        self.ours: Final = None if is_default_of_ours else ours

    @property
    def added(self) -> bool:
        """Whether ours alone has it."""
        return self.theirs is None

    @property
    def dropped(self) -> bool:
        """Whether theirs alone has it."""
        return self.ours is None

    @property
    def value(self) -> Any:
        """Ours, or theirs where ours is absent."""
        leaf = self.ours or self.theirs
        return leaf.value if leaf else ABSENT

    @cached_property
    def pods(self) -> PodPair | None:
        """The pod templates that the field is in."""
        return self.pair.pods.get(self.key[0][1:]) if self.key[0].startswith("@") else None

    @property
    def path(self) -> Key:
        """The path in the pod or the object."""
        return self.key[1:] if self.pods else self.key

    @property
    def container(self) -> str:
        """The container that it is in, '' for none."""
        path = self.path
        return path[2][1:-1] if self.pods and len(path) > 3 and path[1] in CONTAINERS else ""

    @property
    def field(self) -> Key:
        """The path in the container, or else in the pod or the object."""
        return self.path[3:] if self.container else self.path

    @property
    def option(self) -> str:
        """The option of an engine that it is, '' for none."""
        last = self.key[-1]
        return last.removeprefix(OPTION) if last.startswith(OPTION) else ""

    @property
    def commands(self) -> tuple[command_options.ContainerCommand, command_options.ContainerCommand] | None:
        """The engines of both sides in the container that it is in, where they are compared by their options."""
        if not self.pods or self.container not in self.pods.commands:
            return None
        return self.pods.theirs.engines[self.pods.commands[self.container]], self.pods.ours.engines[self.container]

    @property
    def of_loader(self) -> bool:
        """Whether it is in a container that brings weights."""
        return is_loader(self.container) and self.path[1] == "initContainers"

    def __str__(self) -> str:
        return path_text(self.key, {})
