"""The Go programs that tests ask: `scripts/tools.sh NAME` gets them into .tools."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.paths import ROOT

TOOLS = ROOT / ".tools"


def tool(name: str) -> Path:
    """The path of a program. Where it is not there the test is skipped; in CI it fails."""
    path = TOOLS / name
    if not path.exists():
        missing = f"{name} is not built: scripts/tools.sh {name}"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    return path
