#!/usr/bin/env python3
"""Add the new keys of the input kinds to `key_versions.yaml`, of which the reference pages of the site say since when a
key exists. A new key is of `next`: docs/releasing.md says when that becomes a version.

    python -m scripts.make_key_versions          # writes; the same bytes every run
    python -m scripts.make_key_versions --check  # exit code 1 when the file differs
"""

from __future__ import annotations

import re
import sys

import yaml

from scripts.input_reference import VERSIONS, read_kinds, read_versions

NEXT = "next"


def file_text() -> str:
    """The file with all keys that exist, in the order of the schemas."""
    head = re.match(r"(?:#.*\n)*", VERSIONS.read_text("utf-8"))
    known = read_versions()
    versions = {
        kind.name: {key.path: known.get(kind.name, {}).get(key.path, [NEXT]) for key in kind.keys}
        for kind in read_kinds().values()
    }
    return f"{head[0] if head else ''}{yaml.safe_dump(versions, sort_keys=False, default_flow_style=None, width=200)}"


def main() -> int:
    text = file_text()
    if text == VERSIONS.read_text("utf-8"):
        return 0
    if "--check" in sys.argv[1:]:
        print(f"differs: {VERSIONS}")
        return 1
    VERSIONS.write_text(text, "utf-8")
    print(f"wrote: {VERSIONS}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
