"""Writes renderer/bom/spdx_ids.txt, the ids of SPDX that the schema of CycloneDX takes for a licence.

They come with cyclonedx-python-lib, in the release that pyproject.toml asks for: `python -m scripts.make_licences`.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    schema = json.loads((files("cyclonedx.schema") / "_res" / "spdx.SNAPSHOT.schema.json").read_text("utf-8"))
    path = ROOT / "renderer" / "bom" / "spdx_ids.txt"
    path.write_text("\n".join(sorted(schema["enum"])) + "\n", "utf-8")
    print(f"wrote: {path}")


if __name__ == "__main__":
    main()
