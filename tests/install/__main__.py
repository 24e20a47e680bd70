"""Asks whether llmaz can be installed: `python -m tests.install image` or `python -m tests.install debian [SUITE...]`.

A line for each question, `ok` or `WRONG` with what was seen. Exit status 1 when anything is wrong, 2 when nothing could
be judged. Needs Linux, root, and dist/ as `make release-check` and `make image` write it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.install import debian, image
from tests.install.sandbox import CannotJudge, check_machine
from tests.paths import ROOT

SUITES = ("bookworm", "trixie")


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.install", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("subject", choices=("debian", "image"))
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of Debian [{' '.join(SUITES)}]")
    parser.add_argument("--stale", action="store_true", help="take lists of Debian's packages that have expired")
    parser.add_argument("--source", default="", help="the image's label, as make_image.py had it")
    options = parser.parse_args()
    try:
        check_machine()
        check_files(options.subject)
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            folder.chmod(0o755)  # another user has to reach it
            if options.subject == "image":
                return judge(image.questions(options.source, folder))
            return judge(ask_debian(options.suites or SUITES, options.stale, folder))
    except CannotJudge as error:
        sys.stderr.write(f"cannot judge: {error}\n")
    except subprocess.CalledProcessError as error:
        sys.stderr.write(f"cannot judge: {' '.join(error.cmd)} ended with {error.returncode}\n{error.stderr}")
    return 2


def check_files(subject: str) -> None:
    """Raises CannotJudge where there is nothing to ask about."""
    if not (ROOT / debian.sdist().replace(debian.DIST, "dist")).is_file():
        raise CannotJudge("dist/ has no sdist of this version: make release-check")
    if subject == "image" and not (image.IMAGE / "index.json").is_file():
        raise CannotJudge("dist/image is not there: make image")


def ask_debian(suites: Iterable[str], stale: bool, folder: Path) -> Iterator[tuple[str, str]]:
    for suite in suites:
        (folder / suite).mkdir()
        yield from debian.questions(suite, stale, folder / suite)


def judge(answers: Iterable[tuple[str, str]]) -> int:
    """Prints a line for each answer. The exit status."""
    faults = 0
    start = time.monotonic()
    for question, fault in answers:
        faults += bool(fault)
        sys.stdout.write(f"{time.monotonic() - start:6.1f} s  {question}: {f'WRONG: {fault}' if fault else 'ok'}\n")
        sys.stdout.flush()
        start = time.monotonic()
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
