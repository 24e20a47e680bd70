"""The Go programs that tests ask: `scripts/tools.sh NAME` gets them into .tools."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

from tests.paths import ROOT

TOOLS = ROOT / ".tools"


def tool(name: str) -> Path:
    """The path of a program. Where it is not there the test is skipped; in CI it fails."""
    path = TOOLS / name
    if not path.exists():
        miss(f"{name} is not built: scripts/tools.sh {name}")
    return path


def program(name: str) -> Path:
    """The path of a program of the machine; as above where it is not there."""
    path = shutil.which(name)
    if path is None:
        miss(f"{name} is not on the PATH")
    return Path(path)


def miss(what: str) -> NoReturn:
    """Skips the test, or fails it in CI."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)
