"""One made-up repository, one command, and what must never come of it."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from renderer.check.programs import process
from tests.hostile import (
    admissions,
    adoptions,
    cutovers,
    helm_releases,
    judges,
    kustomizations,
    live_dumps,
    policies,
    renderings,
)
from tests.hostile.aims import Aim, Attempt, Ended
from tests.hostile.listeners import Listeners
from tests.hostile.renderings import HELM
from tests.hostile.running import SECONDS, TooLong, leash, run
from tests.programs import TOOLS

AIMS: tuple[Aim, ...] = (
    *renderings.AIMS,
    *(part.AIM for part in (adoptions, cutovers, live_dumps, policies, admissions, kustomizations, helm_releases)),
)
OTHER_PROGRAMS = frozenset({kustomizations.AIM.name, helm_releases.AIM.name})
QUOTING = frozenset({"diff", "adopt", "cutover"})  # what they print may quote errors, or names that look like one
# What obeys a terminal, a runner of workflows or a reader's eye: C0 but for tab and line feed, DEL, C1, bidi controls.
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]")
# A command of GitHub's runner: `::` begins a line, `##[` stands anywhere. Ours have a title.
WORKFLOW = re.compile(r"^\s*::(?!(?:error|warning|notice) file=[^\n]*,title=llmaz )|^(?!::)[^\n]*##\[", re.MULTILINE)


# An error that is told: by its code, in whatever format, or in a sentence about the command line.
ERROR = re.compile(r"\bE\d{3}\b|^Error: |(^|checked, )[1-9][\d,]* errors?\b", re.MULTILINE)
WARNING = re.compile(r"\bW\d{3}\b")
UNKNOWN = "not checked, no schema: "  # which counts as errors with --strict


class Fault(NamedTuple):
    """What went wrong: in which trial, of which kind, and more words."""

    number: int
    kind: str
    command: tuple[str, ...]
    detail: str


def listed(folder: Path) -> dict[str, tuple[int, int]]:
    """Everything below a folder, links not followed, with its inode and size."""
    entries: dict[str, tuple[int, int]] = {}
    for place, _, names in os.walk(folder):
        for name in names:
            status = os.lstat(path := os.path.join(place, name))
            entries[path] = (status.st_ino, status.st_size)
    return entries


class Outcome(NamedTuple):
    """The faults of a trial, what it aimed at, and whether its input got to the last stage of that."""

    faults: list[Fault]
    aim: str
    reaches: bool = False


def aim_of(random: Random) -> Aim:
    """One of the commands, by its weight."""
    [aim] = random.choices(AIMS, [aim.weight for aim in AIMS])
    return aim


@contextlib.contextmanager
def surroundings() -> Iterator[None]:
    """The programs that tests get are found, and such a program may take as much memory as it reserves. Nothing else is
    found: without `unshare` there is no network namespace, so that a request would arrive.
    """
    before = resource.getrlimit(resource.RLIMIT_AS)
    path = os.environ["PATH"]
    forget = getattr(getattr(process, "network_namespace", None), "cache_clear", lambda: None)
    forget()
    os.environ["PATH"] = str(TOOLS)
    resource.setrlimit(resource.RLIMIT_AS, (before[1], before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
        os.environ["PATH"] = path
        forget()


def trial(number: int, seed: int, listening: Listeners, only: str = "") -> Outcome:
    """What came of one trial, the same each time but for the ports of the listeners. `only`: the aim, where it is not
    drawn.
    """
    random = Random(f"{seed}-{number}")
    drawn = aim_of(random)
    aim = next((aim for aim in AIMS if aim.name == only), drawn)
    top, origin = Path(tempfile.mkdtemp(prefix="hostile-")), os.getcwd()
    try:
        canary, folder = top / "canary", top / "repository"
        canary.mkdir()
        folder.mkdir()
        (canary / "x.yaml").write_text("token: CANARY\n")
        (canary / "x-1.txt").write_text("CANARY\n")
        attempt = aim.attempt(folder, random, listening)
        os.chdir(folder)
        with surroundings() if aim.name in OTHER_PROGRAMS else contextlib.nullcontext():
            outcome = _judged(number, aim, canary, folder, attempt)
        requests = [Fault(number, "request", attempt.arguments, seen) for seen in listening.seen()]
        return outcome._replace(faults=[*outcome.faults, *requests])
    finally:
        os.chdir(origin)
        sys.stdout.flush()
        shutil.rmtree(top, ignore_errors=True)


def _judged(number: int, aim: Aim, canary: Path, folder: Path, attempt: Attempt) -> Outcome:
    """What came of one command in the folder, and what other programs say of it."""
    arguments = attempt.arguments
    before, inside = listed(canary), listed(folder)
    done = _leashed(number, arguments)
    if isinstance(done, Fault):
        return Outcome([done], aim.name)
    ended = Ended(*done, folder)
    kinds = [*_text_faults(attempt, ended), *attempt.faults(ended)]
    faults = [Fault(number, kind, arguments, detail) for kind, detail in kinds]
    if listed(canary) != before:
        faults.append(Fault(number, "written outside", arguments, str(listed(canary))))
    changed = {path for path, what in listed(folder).items() if inside.get(path) != what}
    changed |= inside.keys() - listed(folder).keys()
    output = tuple(f"{folder}/{name}/" for name in attempt.output)
    stray = [path for path in changed if not path.startswith(output)]
    if stray and not _configured(folder, stray):
        faults.append(Fault(number, "written elsewhere", arguments, str(stray)))
    return Outcome([*faults, *_asked_again(number, folder, arguments, ended.code)], aim.name, attempt.reaches(ended))


def _leashed(number: int, arguments: tuple[str, ...]) -> tuple[object, str] | Fault:
    try:
        with leash():
            return run(arguments)
    except TooLong:
        return Fault(number, "too long", arguments, f"more than {SECONDS} s")
    except BaseException as error:  # noqa: BLE001 - that is what is looked for
        return Fault(number, "raised", arguments, f"{type(error).__name__}: {error}"[:300])


def _text_faults(attempt: Attempt, ended: Ended) -> Iterator[tuple[str, str]]:
    """What is wrong with an exit status and what was printed."""
    arguments, (code, text, _) = attempt.arguments, ended
    if code not in attempt.statuses:
        yield f"exit {code}", text[-400:]
    elif "--stdout" not in arguments and code != 1:
        errors = ERROR.search(text) or ("--strict" in arguments and (WARNING.search(text) or UNKNOWN in text))
        if code == 2 and not errors:
            yield "exit 2 without an error", text[-400:]
        if code == 0 and errors and arguments[0] not in QUOTING:
            yield "exit 0 despite an error", text[-400:]
    if match := RAW.search(text):
        yield "raw character", repr(text[max(match.start() - 60, 0) : match.end() + 30])
    if "CANARY" in text:
        yield "read outside", text[:300]
    if "--stdout" not in arguments and WORKFLOW.search(text):  # which prints manifests, byte for byte
        yield "workflow command", repr(text[:300])


def _asked_again(number: int, folder: Path, arguments: tuple[str, ...], code: object) -> list[Fault]:
    """What other programs say of what was rendered."""
    if arguments == ("render", judges.kubeconform()) and code == 2:
        again = _leashed(number, ("render",))
        if not isinstance(again, Fault) and again[0] == 0:
            return [Fault(number, "kubeconform", arguments, "refuses what is valid")]
    if arguments == HELM and code == 0:
        done = _leashed(number, ("render", "--stdout"))
        plain = "" if isinstance(done, Fault) else done[1]
        return [Fault(number, "helm", arguments, detail) for detail in judges.helm_faults(folder, plain)]
    return []


def _configured(folder: Path, paths: list[str]) -> bool:
    """Whether the files lie in a folder of the tree that its configuration may have named."""
    config = folder / "llmaz.yaml"
    return (
        config.is_file()
        and "output" in config.read_text("utf-8", "replace")
        and all(os.path.realpath(path).startswith(f"{folder}/") for path in paths)
    )
