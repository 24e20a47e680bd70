"""Sessions that show a code which no input of a folder shows by itself: every folder in sessions/ holds input files and
`console.txt`, the commands with what they print. `pytest --snapshot-update` writes what they print now.

A folder's name begins with the code. `/repository` stands for the folder in which the session runs, `llmaz-tmp` for a
folder of temporary files. A folder `NAME.whl` in it is packed into that wheel.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.console import Shell
from tests.paths import TESTS

if TYPE_CHECKING:
    from tests.conftest import Golden

SESSIONS = TESTS / "error_pages" / "sessions"
NAMES = sorted(path.parent.name for path in SESSIONS.glob("*/console.txt"))


@pytest.mark.parametrize("name", NAMES)
def test_session(name: str, folder: Path, tmp_path: Path, golden: Golden) -> None:
    shutil.copytree(SESSIONS / name, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("console.txt", "*.whl"))
    for wheel in (SESSIONS / name).glob("*.whl"):
        shutil.make_archive(wheel.name, "zip", wheel)
        Path(f"{wheel.name}.zip").rename(wheel.name)
    text = Shell(tmp_path / "bin").session((SESSIONS / name / "console.txt").read_text("utf-8"))
    assert name[:4] in text
    assert "[E901]" not in text
    text = re.sub(r"(/repository/\S+/llmaz-)\w{8}/", r"\1tmp/", text.replace(str(folder.resolve()), "/repository"))
    golden(f"error_pages/sessions/{name}/console.txt", text)
