"""The presets that are tables of facts, such as what options mean; and how a preset is read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final
from zlib import crc32

from msgspec import Struct
from msgspec.json import decode

from renderer import yamlio
from renderer.diagnostics import Diagnostic
from renderer.source.paths import PRESETS
from renderer.yamlio import Document

COMPILED: Final = os.path.join(os.path.dirname(__file__), "compiled_presets")


class CompiledPreset(Struct, frozen=True):
    """The values of a preset's YAML, which are read from JSON in a tenth of the time."""

    checksum: int  # of the bytes that they were read from
    values: Sequence[object]


def read_preset(name: str) -> tuple[list[Document], list[Diagnostic]]:
    """The documents of presets/NAME.yaml, and the problems of its YAML. Raises FileNotFoundError.

    The values are the compiled ones (scripts/make_compiled_presets.py), if there are any of just these bytes.
    """
    with open(os.path.join(PRESETS, *name.split("/")) + ".yaml", "rb") as file:
        data = file.read()
    path = f"presets/{name}.yaml"
    try:
        with open(os.path.join(COMPILED, *name.split("/")) + ".json", "rb") as file:
            compiled = decode(file.read(), type=CompiledPreset)
    except FileNotFoundError:
        return yamlio.parse(path, data, editable=False)
    if compiled.checksum != crc32(data):
        return yamlio.parse(path, data, editable=False)
    return yamlio.documents(path, data, enumerate(compiled.values), editable=False), []


@cache
def preset_table(name: str) -> Mapping[str, Any]:
    """The spec of presets/NAME.yaml; it is read when it is first asked."""
    documents, _ = read_preset(name)
    spec: Mapping[str, Any] = documents[0].value["spec"]
    return spec
