"""A field that differs, in its pair of objects: what the rules of a comparison look at."""

from __future__ import annotations

from typing import Any, Final

from renderer.diff.fields import ABSENT
from renderer.diff.live import command_options
from renderer.diff.live.compared import LivePair, PodPair
from renderer.diff.live.counterparts import is_loader
from renderer.diff.live.leaves import OPTION, Key, Leaf, path_text
from renderer.diff.live.server_fields import is_default
from renderer.kubernetes.workloads import CONTAINERS

OBJECT, POD, CONTAINER = 0, 1, 2
"""Parts of an object that a field is in, each within the one before."""
ENGINE, OPTION_OF_ENGINE = 3, 4
"""Those within a container whose command lines are compared by their options."""
OURS, THEIRS, BOTH = "ours", "theirs", "both"


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
        self.added: Final = theirs is None  # whether ours alone has it
        self.dropped: Final = self.ours is None  # whether theirs alone has it
        leaf = self.ours or theirs
        self.value: Final[Any] = leaf.value if leaf else ABSENT  # ours, or theirs where ours is absent
        # The pod templates that the field is in.
        self.pods: Final = pair.pods.get(key[0][1:]) if key[0].startswith("@") else None
        # The path in the pod or the object.
        self.path: Final = key[1:] if self.pods else key
        path = self.path
        # The container that it is in, '' for none.
        self.container: Final = path[2][1:-1] if self.pods and len(path) > 3 and path[1] in CONTAINERS else ""
        # The path in the container, or else in the pod or the object.
        self.field: Final = path[3:] if self.container else path
        # The option of an engine that it is, '' for none.
        self.option: Final = key[-1].removeprefix(OPTION) if key[-1].startswith(OPTION) else ""
        # The engines of both sides in the container that it is in, where they are compared by their options.
        self.commands: Final = _commands(self.pods, self.container)

    @property
    def part(self) -> int:
        """The innermost part of the object that it is in."""
        if self.option:
            return OPTION_OF_ENGINE
        if self.commands:
            return ENGINE
        return CONTAINER if self.container else POD if self.pods else OBJECT

    @property
    def side(self) -> str:
        """The side that has it alone, or BOTH."""
        return OURS if self.added else THEIRS if self.dropped else BOTH

    @property
    def of_loader(self) -> bool:
        """Whether it is in a container that brings weights."""
        return bool(self.container) and self.path[1] == "initContainers" and is_loader(self.container)

    def __str__(self) -> str:
        return path_text(self.key, {})


def _commands(
    pods: PodPair | None, container: str
) -> tuple[command_options.ContainerCommand, command_options.ContainerCommand] | None:
    if not pods or container not in pods.commands:
        return None
    return pods.theirs.engines[pods.commands[container]], pods.ours.engines[container]
