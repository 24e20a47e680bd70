"""What git knows: commits, the files in them, the remote. Plain `git` is asked, in one call for many files."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial

from renderer.problems import Origin, Path, RenderError, problem
from renderer.records import NamedTuple


class Entry(NamedTuple):
    """A file of a commit. `path`: from the top of the repository; `mode`: as git writes it, 120000 for a link; `blob`:
    the name of its contents.
    """

    path: str
    mode: str
    blob: str


class _Word(NamedTuple):
    """A source without a place: what the user called a revision."""

    name: str

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return 0, 0


def top(folder: str = ".") -> str:
    """The top of the repository that the folder lies in. Raises RenderError outside of one, and without git."""
    done = _git(folder, "rev-parse", "--show-toplevel")
    if done.returncode:
        raise RenderError([problem("E781", Origin(_Word(folder)), what=_said(done))])
    return done.stdout.decode().removesuffix("\n")


def commit(top: str, name: str) -> str:
    """The commit of that name. Raises RenderError when there is none."""
    done = _git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if done.returncode:
        shallow = os.path.exists(os.path.join(_folder(top), "shallow"))
        hint = "this clone is shallow: fetch more, as with fetch-depth: 0" if shallow else "git log shows what there is"
        raise RenderError([problem("E782", Origin(_Word(name)), name=name, hint=hint)])
    return done.stdout.decode().strip()


def top_and_commit(folder: str, name: str) -> tuple[str, str]:
    """`top`, and the `commit` of that name there, in one call. Raises RenderError."""
    words = ("--show-toplevel", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    done = _git(folder, "rev-parse", *words)
    if done.returncode:  # each says what is wrong with it
        return (found := top(folder)), commit(found, name)
    found, _, named = done.stdout.decode().removesuffix("\n").rpartition("\n")
    return found, named


def merge_base(top: str, one: str, other: str) -> str:
    """The commit at which two parted. Raises RenderError when they have none in common."""
    done = _git(top, "merge-base", commit(top, one), commit(top, other))
    if done.returncode:
        raise RenderError([problem("E783", Origin(_Word(f"{one}...{other}")), one=one, other=other)])
    return done.stdout.decode().strip()


def files(top: str, commit: str) -> list[Entry]:
    """All files of a commit, in the order of their names; submodules aside. Raises RenderError."""
    with listing(top, commit) as listed:
        return listed()


@contextmanager
def listing(top: str, commit: str) -> Iterator[Callable[[], list[Entry]]]:
    """What hands over the `files`, which git looks up while the caller is about other things. Raises RenderError."""
    with _begun(top, "ls-tree", "-r", "-z", "--full-tree", commit) as asked:
        ended = cache(partial(_ended, asked))
        try:
            yield lambda: _entries(commit, ended())
        finally:
            asked.kill()  # where nobody wanted to know


def _entries(commit: str, done: subprocess.CompletedProcess[bytes]) -> list[Entry]:
    if done.returncode:
        raise RenderError([problem("E781", Origin(_Word(commit)), what=_said(done))])
    made = []
    for line in done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        head, _, path = line.partition("\t")
        mode, kind, blob = head.split()
        if kind == "blob":
            made.append(Entry(path, mode, blob))
    return made


def named(datas: Iterable[bytes], digits: int) -> dict[str, bytes]:
    """By the names that git has for them, in a repository whose names have so many digits."""
    from hashlib import sha1, sha256  # few runs need it

    digest = sha1 if digits == 40 else sha256
    return {digest(b"blob %d\0" % len(each) + each, usedforsecurity=False).hexdigest(): each for each in datas}


def contents(top: str, blobs: Sequence[str]) -> list[bytes]:
    """What these blobs hold, in one call. Raises RenderError."""
    if not blobs:
        return []
    done = _git(top, "cat-file", "--batch", given="".join(f"{blob}\n" for blob in blobs).encode())
    if done.returncode:
        raise RenderError([problem("E781", Origin(_Word(top)), what=_said(done))])
    data, at, made = done.stdout, 0, []
    for _ in blobs:
        end = data.index(b"\n", at)
        parts = data[at:end].split()
        if len(parts) != 3:  # "<name> missing", of a clone that has not all of it
            raise RenderError([problem("E781", Origin(_Word(top)), what=data[at:end].decode("utf-8", "replace"))])
        size = int(parts[2])
        made.append(data[end + 1 : end + 1 + size])
        at = end + 1 + size + 1
    return made


def remote(folder: str = ".") -> str:
    """The URL of the remote `origin`, without what stands before its @; '' when there is none."""
    done = _git(folder, "remote", "get-url", "origin")
    url = done.stdout.decode().strip() if not done.returncode else ""
    scheme, found, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}" if found and scheme in ("http", "https") else url


def branch(folder: str = ".") -> str:
    """The branch that the next commit goes to; '' for a detached HEAD, and outside of a repository."""
    done = _git(folder, "symbolic-ref", "--quiet", "--short", "HEAD")
    return done.stdout.decode("utf-8", "replace").strip() if not done.returncode else ""


def _folder(top: str) -> str:
    done = _git(top, "rev-parse", "--git-common-dir")
    return os.path.join(top, done.stdout.decode().strip())


def _git(folder: str, *words: str, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """Raises RenderError without git."""
    return _ended(_begun(folder, *words, reads=given is not None), given)


def _begun(folder: str, *words: str, reads: bool = False) -> subprocess.Popen[bytes]:
    """Git is at it; `reads`: it will be given something. Raises RenderError without git. Nobody is asked for a
    password, and no message is translated.
    """
    around = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    command, pipe = ["git", "-C", folder, *words], subprocess.PIPE
    try:
        return subprocess.Popen(command, stdin=pipe if reads else None, stdout=pipe, stderr=pipe, env=around)  # noqa: S603 - git alone
    except OSError as error:
        raise RenderError([problem("E780", Origin(_Word("git")), what=error.strerror or error)]) from None


def _ended(asked: subprocess.Popen[bytes], given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    with asked:
        try:
            out, err = asked.communicate(given)
        except BaseException:
            asked.kill()
            raise
    return subprocess.CompletedProcess(asked.args, asked.returncode, out, err)


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    """The last line of what git has against it."""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].removeprefix("fatal: ") if lines else f"git ended with {done.returncode}"
