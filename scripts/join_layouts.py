"""Joins OCI layouts of one image, each for another architecture, into one layout with an index of all.

`python3 scripts/join_layouts.py --output dist/image image-amd64 image-arm64`; needs Python alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

INDEX: Final = "application/vnd.oci.image.index.v1+json"
NAME: Final = "org.opencontainers.image.ref.name"


class LayoutError(Exception):
    """Why the layouts cannot be joined."""


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="join_layouts.py", description="Joins OCI layouts into one with an index.")
    parser.add_argument("layouts", nargs="+", type=Path, metavar="LAYOUT")
    parser.add_argument("--output", type=Path, required=True, help="the layout to write")
    options = parser.parse_args(words)
    try:
        print(join(options.layouts, options.output))
    except LayoutError as error:
        print(f"join_layouts.py: {error}", file=sys.stderr)
        return 1
    return 0


def join(layouts: Iterable[Path], output: Path) -> str:
    """Writes the joined layout. The digest of its index."""
    entries: dict[str, dict[str, Any]] = {}
    tags = set()
    blobs = output / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    for layout in layouts:
        descriptor = manifest_descriptor(layout)
        tags.add(descriptor.get("annotations", {}).get(NAME))
        config = blob(layout, blob(layout, descriptor)["config"])
        architecture = config["architecture"]
        if architecture in entries:
            raise LayoutError(f"{layout} is for {architecture}, and another layout is too")
        parts = {key: descriptor[key] for key in ("mediaType", "digest", "size")}
        entries[architecture] = parts | {"platform": {"architecture": architecture, "os": config["os"]}}
        shutil.copytree(layout / "blobs" / "sha256", blobs, dirs_exist_ok=True)
    if len(tags) != 1:
        raise LayoutError(f"the layouts have several tags: {', '.join(sorted(map(str, tags)))}")
    manifests = [entries[architecture] for architecture in sorted(entries)]
    content = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests}).encode()
    digest = hashlib.sha256(content).hexdigest()
    (blobs / digest).write_bytes(content)
    top = {"mediaType": INDEX, "digest": f"sha256:{digest}", "size": len(content), "annotations": {NAME: tags.pop()}}
    (output / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [top]}), "utf-8")
    (output / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}', "utf-8")
    return f"sha256:{digest}"


def manifest_descriptor(layout: Path) -> dict[str, Any]:
    """What a layout says of its one manifest. Raises LayoutError."""
    try:
        (descriptor,) = json.loads((layout / "index.json").read_text("utf-8"))["manifests"]
    except (OSError, ValueError, KeyError) as error:
        raise LayoutError(f"{layout} is no OCI layout of one image: {error}") from None
    return dict(descriptor)


def blob(layout: Path, descriptor: Mapping[str, Any]) -> Any:
    """The JSON that a descriptor leads to."""
    algorithm, _, digest = descriptor["digest"].partition(":")
    return json.loads((layout / "blobs" / algorithm / digest).read_bytes())


if __name__ == "__main__":
    raise SystemExit(main())
