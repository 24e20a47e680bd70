"""One made-up repository, one command, and what must never come of it."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from renderer import cli
from renderer.cli.console import FORMATS
from tests.hostile import judges, repositories, words

SECONDS = 5.0  # of one processor
# What obeys a terminal, a runner of workflows or a reader's eye: C0 but for tab and line feed, DEL, C1, bidi controls.
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]")
# A command of GitHub's runner: `::` begins a line, `##[` stands anywhere. Ours have a title.
WORKFLOW = re.compile(r"^\s*::(?!(?:error|warning|notice) file=[^\n]*,title=llmaz )|^(?!::)[^\n]*##\[", re.MULTILINE)


# An error that is told: by its code, in whatever format, or in a sentence about the command line.
ERROR = re.compile(r"\bE\d{3}\b|^Error: |^[\d,]+ errors?\b", re.MULTILINE)
WARNING = re.compile(r"\bW\d{3}\b")
RENDERED = re.compile(r"^[\d,]+ apps?, [\d,]+ objects?( → .+: .+|: .+ is up to date)$", re.MULTILINE)

HELM = ("render", "--to", "helm", "-o", "made")  # where nothing lies about
DIFFS = (
    ("diff", "HEAD~1"),
    ("diff", "HEAD~1..HEAD"),
    ("diff", "HEAD~1", "--format", "markdown"),
    ("diff", "HEAD~1..", "--format", "json"),
)


class Fault(NamedTuple):
    """What went wrong: in which trial, of which kind, and more words."""

    number: int
    kind: str
    command: tuple[str, ...]
    detail: str


def command(random: Random) -> tuple[str, ...]:
    """A command line, at times with hostile words."""
    form = random.choice(FORMATS)
    odd = words.text(random).replace("\x00", "")
    if (chance := random.random()) < 0.2:
        return HELM if chance < 0.08 else ("render", judges.kubeconform()) if chance < 0.12 else random.choice(DIFFS)
    return random.choice(
        [
            ("render",),
            ("render",),
            ("render", "--format", form),
            ("render", "--check"),
            ("render", "--check", "--format", form),
            ("render", "--stdout"),
            ("render", "--set", f"namespace={odd}"),
            ("render", "--set", odd),
            ("render", "--env", odd),
            ("render", odd),
            ("validate",),
            ("validate", "--format", form),
            ("validate", "--format", form, "--strict", "-v"),
            ("check", "."),
            ("check", ".", "--format", form),
            ("check", ".", "--external", odd),
            ("routes",),
            ("routes", "--format", "json"),
            ("routes", "--format", "markdown"),
            ("routes", "--format", "mermaid"),
            ("explain", "LeaderWorkerSet/chat", "spec"),
            ("explain", odd, odd),
            ("diff", "--env-a", "dev", "--env-b", "prod"),
            ("presets", "diff", "vllm"),
            ("presets", "show", odd),
            ("presets", "adapter-rules", "."),
            ("nodepools",),
            ("kustomize", "a0.yaml"),
            ("argocd", "application"),
            ("flux", "kustomization"),
            (odd,),
            ("render", f"--{odd}"),
        ]
    )


def listed(folder: Path) -> dict[str, tuple[int, int]]:
    """Everything below a folder, links not followed, with its inode and size."""
    entries: dict[str, tuple[int, int]] = {}
    for place, _, names in os.walk(folder):
        for name in names:
            status = os.lstat(path := os.path.join(place, name))
            entries[path] = (status.st_ino, status.st_size)
    return entries


class TooLong(BaseException):
    """The processor was busy for more than SECONDS."""


@contextlib.contextmanager
def leash() -> Iterator[None]:
    """Ends what uses a processor too long. Raises TooLong."""

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def run(arguments: tuple[str, ...]) -> tuple[object, str]:
    """Exit code and all that was printed, of one run in this process; of `--stdout` the manifests alone."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", write_through=True)
    aside = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace") if "--stdout" in arguments else out
    code: object = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(aside):
            try:
                cli.run(list(arguments))
            except SystemExit as end:
                code = end.code or 0
    finally:
        gc.unfreeze()
        gc.enable()
    return code, out.buffer.getvalue().decode("utf-8")


class Outcome(NamedTuple):
    """The faults of a trial, and whether its input is valid and comes to manifests."""

    faults: list[Fault]
    renders: bool = False


def trial(number: int, seed: int) -> Outcome:
    """What came of one trial, the same each time."""
    random = Random(f"{seed}-{number}")
    top, origin = Path(tempfile.mkdtemp(prefix="hostile-")), os.getcwd()
    try:
        canary, folder = top / "canary", top / "repository"
        canary.mkdir()
        folder.mkdir()
        (canary / "x.yaml").write_text("token: CANARY\n")
        (canary / "x-1.txt").write_text("CANARY\n")
        arguments = command(random)
        repositories.write(folder, random)
        if arguments in DIFFS:
            if not judges.commit_and_change(folder, random):
                arguments = ("validate",)
        elif random.random() < 0.7:
            (folder / ".git").mkdir()
        os.chdir(folder)
        return _judged(number, canary, folder, arguments)
    finally:
        os.chdir(origin)
        sys.stdout.flush()
        shutil.rmtree(top, ignore_errors=True)


def _judged(number: int, canary: Path, folder: Path, arguments: tuple[str, ...]) -> Outcome:
    """What came of one command in the folder, and of those that show whether its input renders."""
    before, inside = listed(canary), listed(folder)
    done = _leashed(number, arguments)
    if isinstance(done, Fault):
        return Outcome([done])
    code, text = done
    faults = [Fault(number, kind, arguments, detail) for kind, detail in _text_faults(arguments, code, text)]
    if listed(canary) != before:
        faults.append(Fault(number, "written outside", arguments, str(listed(canary))))
    changed = {path for path, what in listed(folder).items() if inside.get(path) != what}
    changed |= inside.keys() - listed(folder).keys()
    output = tuple(f"{folder}/{name}/" for name in ("rendered", "chart", "made"))
    stray = [path for path in changed if not path.startswith(output)]
    if stray and not _configured(folder, stray):
        faults.append(Fault(number, "written elsewhere", arguments, str(stray)))
    more, renders = _asked_again(number, folder, arguments, code)
    return Outcome([*faults, *more], renders)


def _leashed(number: int, arguments: tuple[str, ...]) -> tuple[object, str] | Fault:
    try:
        with leash():
            return run(arguments)
    except TooLong:
        return Fault(number, "too long", arguments, f"more than {SECONDS} s")
    except BaseException as error:  # noqa: BLE001 - that is what is looked for
        return Fault(number, "raised", arguments, f"{type(error).__name__}: {error}"[:300])


def _text_faults(arguments: tuple[str, ...], code: object, text: str) -> Iterator[tuple[str, str]]:
    """What is wrong with an exit status and what was printed."""
    if code not in ((0, 1, 2) if arguments[:2] == ("render", "--check") else (0, 2)):
        yield f"exit {code}", text[-400:]
    elif "--stdout" not in arguments and code != 1:
        errors = ERROR.search(text) or ("--strict" in arguments and WARNING.search(text))
        if code == 2 and not errors:
            yield "exit 2 without an error", text[-400:]
        if code == 0 and errors and arguments[0] != "diff":  # whose notes quote the errors of its base
            yield "exit 0 despite an error", text[-400:]
    if (
        code == 0
        and arguments[0] == "render"
        and not {"--stdout", "--format"} & {*arguments}
        and not RENDERED.search(text)
    ):
        yield "no summary", text[-400:]
    if match := RAW.search(text):
        yield "raw character", repr(text[max(match.start() - 60, 0) : match.end() + 30])
    if "CANARY" in text:
        yield "read outside", text[:300]
    if "--stdout" not in arguments and WORKFLOW.search(text):  # which prints manifests, byte for byte
        yield "workflow command", repr(text[:300])


def _asked_again(number: int, folder: Path, arguments: tuple[str, ...], code: object) -> tuple[list[Fault], bool]:
    """Whether the input is valid by itself, and what other programs say of what came of it."""
    valid = arguments if arguments[0] == "validate" and code == 0 else ("validate",)
    done = (code, "") if valid is arguments else _leashed(number, valid)
    if isinstance(done, Fault):
        return [done], False
    renders = done[0] == 0
    if arguments == ("render", judges.kubeconform()) and renders and code == 2:
        again = _leashed(number, ("render",))
        if not isinstance(again, Fault) and again[0] == 0:
            return [Fault(number, "kubeconform", arguments, "refuses what is valid")], renders
    if arguments == HELM and renders and code == 0:
        done = _leashed(number, ("render", "--stdout"))
        plain = "" if isinstance(done, Fault) else done[1]
        return [Fault(number, "helm", arguments, detail) for detail in judges.helm_faults(folder, plain)], renders
    return [], renders


def _configured(folder: Path, paths: list[str]) -> bool:
    """Whether the files lie in a folder of the tree that its configuration may have named."""
    config = folder / "llmaz.yaml"
    return (
        config.is_file()
        and "output" in config.read_text("utf-8", "replace")
        and all(os.path.realpath(path).startswith(f"{folder}/") for path in paths)
    )
