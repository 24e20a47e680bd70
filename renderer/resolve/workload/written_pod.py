"""A pod that somebody wrote, and what its runner's command line says."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from renderer.diagnostics import Origin, Path
from renderer.plan import Container, Pod
from renderer.resolve.engine.engine_command import EngineCommand
from renderer.resolve.pod import pods


class WrittenPod(Struct, frozen=True):
    """A pod and its runner's command line. `origin_of`: the origin of a field, by its path in the pod's template."""

    pod: Pod
    command: EngineCommand
    origin_of: Callable[[Path], Origin | None]

    @property
    def runner(self) -> Container | None:
        """The container that serves the model."""
        return next((container for container in self.pod.containers if container.name == pods.RUNNER), None)
