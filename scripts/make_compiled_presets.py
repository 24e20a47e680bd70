#!/usr/bin/env python3
"""Makes renderer/compiled_presets/ of the presets that many runs read: `python -m scripts.make_compiled_presets`."""

from __future__ import annotations

import shutil
from pathlib import Path
from zlib import crc32

from msgspec.json import encode

from renderer import yamlio
from renderer.preset_tables import COMPILED, CompiledPreset

PRESETS = Path(__file__).resolve().parents[1] / "presets"


def compiled_presets() -> dict[str, bytes]:
    """The files below renderer/compiled_presets/ by their paths there: of each table, backend and loader."""
    files = {}
    for path in sorted((*PRESETS.glob("*.yaml"), *PRESETS.glob("backends/*.yaml"), *PRESETS.glob("loaders/*.yaml"))):
        name = path.relative_to(PRESETS)
        documents, _ = yamlio.parse(str(name), data := path.read_bytes())
        compiled = CompiledPreset(crc32(data), [document.value for document in documents])
        files[str(name.with_suffix(".json"))] = encode(compiled) + b"\n"
    return files


def main() -> None:
    """Writes the files anew."""
    shutil.rmtree(COMPILED, ignore_errors=True)
    for name, content in compiled_presets().items():
        target = Path(COMPILED, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


if __name__ == "__main__":
    main()
