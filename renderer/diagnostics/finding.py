"""What a rule says of an object: plain values, so that rules know neither files nor manifests."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from renderer.diagnostics.diagnostic import Diagnostic, make_diagnostic
from renderer.diagnostics.origin import Origin, Path


class Finding(Struct, frozen=True):
    """What is wrong with a field of an object."""

    code: str  # of a wording
    path: Path  # in the object
    words: Mapping[str, object]  # of the wording
    key: bool = False  # it is about the key at `path`, not about its value

    def below(self, *path: str | int) -> Finding:
        """The same, of the object at a path of another one."""
        return replace(self, path=(*path, *self.path))

    def located(self, origin: Origin) -> Diagnostic:
        """The diagnostic. `origin`: of the object."""
        return make_diagnostic(self.code, origin.at(*self.path, key=self.key), **self.words)
