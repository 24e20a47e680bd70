"""Weights in several files: the parts of a split GGUF file, and a projector beside a model
(docs/sources.md#several-files).
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from renderer.diagnostics import Collector, Origin

if TYPE_CHECKING:
    from renderer.api import OpenModel

GGUF = ".gguf"
_PART = r"(?i)(.*-)(\d{5})(-of-)(\d{5})(\.gguf)"  # as text: few runs need it, and re caches compiled patterns
_MOST_PARTS = 999
_GLOB = r"[*?\[\]{}\\,]"


def is_part(name: str) -> bool:
    """Whether a file is one of several parts of a split file, by its name."""
    return re.fullmatch(_PART, name) is not None


def part_names(name: str, origin: Origin, diagnostics: Collector) -> tuple[str, ...]:
    """All parts of a split file by the name of the first one; of another file its own name. Raises Stop where the name
    is that of another part.
    """
    match = re.fullmatch(_PART, name)
    if not match:
        return (name,)
    start, number, of, count, end = match.groups()
    names = tuple(f"{start}{i:05}{of}{count}{end}" for i in range(1, min(int(count), _MOST_PARTS) + 1))
    if int(number) != 1 or not 0 < int(count) <= _MOST_PARTS:
        is_odd = not 0 < int(count) <= _MOST_PARTS
        hint = f"at most {_MOST_PARTS} parts are loaded" if is_odd else f"write {posixpath.basename(names[0])}"
        diagnostics.stop("E940", origin, name=posixpath.basename(name), hint=hint)
    return names


def read_projector(model: OpenModel, diagnostics: Collector) -> str:
    """The path of the projector beside the weights; '' without one. Raises Stop for what is no such path."""
    projector = model.spec["source"].get("projector", "")
    if "projector" not in model.spec["source"]:
        return ""
    origin = Origin(model.document, ("spec", "source", "projector"))
    parts = projector.split("/")
    if not projector.lower().endswith(GGUF) or "" in parts or not {".", ".."}.isdisjoint(parts):
        hint = "write a .gguf file in the place of the weights, as in mmproj-F16.gguf"
        diagnostics.stop("E941", origin, value=projector, hint=hint)
    return projector


def include_pattern(names: tuple[str, ...]) -> str:
    """The pattern by which rclone takes these files alone (https://rclone.org/filtering)."""
    escaped = [re.sub(_GLOB, r"\\\g<0>", name) for name in names]
    return f"/{escaped[0]}" if len(escaped) == 1 else f"/{{{','.join(escaped)}}}"
