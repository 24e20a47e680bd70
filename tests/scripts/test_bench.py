"""`scripts/bench.py`: how it runs a command."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from scripts import bench

SIZE = 200_000  # bytes; a pipe holds 65,536


def test_standard_error_is_read_while_a_command_runs(tmp_path: Path) -> None:
    texts: list[str] = []
    command = (sys.executable, "-c", f"import sys; sys.stderr.write('w' * {SIZE})")
    thread = threading.Thread(target=lambda: texts.append(bench.run(*command, cwd=tmp_path)), daemon=True)
    thread.start()
    thread.join(120)  # a command whose pipe nobody reads never ends
    assert [len(text) for text in texts] == [SIZE]


def test_a_command_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"exit status 3:\nno such model"):
        bench.run(sys.executable, "-c", "import sys; sys.stderr.write('no such model'); sys.exit(3)", cwd=tmp_path)
