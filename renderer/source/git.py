"""Reads commits, their files, and the remote, by calling `git` once for many files.

A tree that somebody proposes may hold a folder that git takes for a repository (`HEAD`, `objects`, `refs` and a
`config` are files like others), and that config may name programs to run. So git never looks for a repository itself:
`top` walks up to the nearest `.git`, which no commit can hold, and `_start`, the only place that runs git, runs it
there, with nothing that reaches for another program or another machine.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from selectors import EVENT_READ, EVENT_WRITE, PollSelector

from msgspec import Struct
from msgspec.structs import replace

from renderer.diagnostics import Origin, Path, RenderError, make_diagnostic, suggestion

MAX_LIST_BYTES = 32 * 1024 * 1024  # bytes of the list of a commit's files: some 300,000 of them
MAX_CONTENT_BYTES = 512 * 1024 * 1024  # bytes of the files that are read of a commit at once
_MAX_ANSWER_BYTES = 64 * 1024  # bytes of other answers, and of git's messages
_NEVER_CHECKED_OUT = {"", ".", "..", ".git"}
SUBMODULE = "160000"  # the mode of a folder of which git keeps the name of a commit, and no files

# Each option comes before all that a repository's own configuration says.
_OPTIONS = (
    "--no-pager",
    *("-c", "safe.bareRepository=explicit"),  # a folder without .git is not a repository, whatever lies in it
    *("-c", "core.fsmonitor=false"),  # no program of the configuration runs where git reads the index
    *("-c", f"core.hooksPath={os.devnull}"),  # no hook runs
)
_VARIABLES = {
    "GIT_ALLOW_PROTOCOL": "",  # no remote is asked, by whatever protocol: ext:: would run a program
    "GIT_GRAFT_FILE": os.path.join(os.devnull, "none"),  # commits have the parents that they name, not those of grafts
    "GIT_NO_REPLACE_OBJECTS": "1",  # what was pushed is read, and nothing that refs/replace puts in its place
    "GIT_NO_LAZY_FETCH": "1",  # what a partial clone lacks is an error
    "GIT_OPTIONAL_LOCKS": "0",  # nothing is written
    "GIT_TERMINAL_PROMPT": "0",  # nobody is asked for a password
    "LC_ALL": "C",  # no message is translated
}
# Of git's own variables those that say where it is installed, and what it trusts. The others, such as GIT_DIR or
# GIT_INDEX_FILE in a hook, GIT_EXTERNAL_DIFF or GIT_SSH_COMMAND, name other repositories and programs.
_KEPT_VARIABLES = ("GIT_CONFIG", "GIT_EXEC_PATH")


class GitEntry(Struct, frozen=True):
    """A file of a commit, or a submodule."""

    path: str  # from the top of the repository
    mode: str  # as git writes it, 120000 for a link
    blob: str  # the name of its contents; of a submodule that of the commit that it is at


class GitError(RenderError):
    """Git could not read something, whatever the repository contains."""


class _RevisionName(Struct, frozen=True):
    """A source without places: the name of a revision or program."""

    name: str

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return 0, 0


class _Answer(Struct, frozen=True):
    """The output of git."""

    status: int
    out: bytes
    message: str  # the last line of its error messages


def top(folder: str = ".") -> str:
    """The nearest folder at or above this one, after links, that holds `.git`: a folder, or a file as in worktrees and
    submodules. Raises RenderError outside of a repository.
    """
    path = os.path.realpath(folder)
    while not os.path.isdir(git := os.path.join(path, ".git")) and not os.path.isfile(git):
        parent = os.path.dirname(path)
        if parent == path:
            what = "not a git repository (or any of the parent directories): .git"
            raise RenderError([make_diagnostic("E781", Origin(_RevisionName(folder)), what=what)])
        path = parent
    return path


def commit(top: str, name: str) -> str:
    """The commit of that name. Raises RenderError when there is none, or git does not trust the repository."""
    answer = _run(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if answer.status:
        common = _run(top, "rev-parse", "--git-common-dir")
        if common.status:
            raise _git_error(top, common)
        hint = _name_hint(top, name)
        shallow = os.path.exists(os.path.join(top, os.fsdecode(common.out).strip(), "shallow"))
        if shallow and not hint.startswith("did you mean"):
            hint = "this clone is shallow: fetch more, as with fetch-depth: 0"
        if _run(top, "rev-parse", "--verify", "--quiet", "HEAD").status:
            hint = "nothing is committed yet: commit first, as git add . && git commit"
        raise RenderError([make_diagnostic("E782", Origin(_RevisionName(name)), name=name, hint=hint)])
    return answer.out.decode().strip()


def _name_hint(top: str, name: str) -> str:
    """The branch or tag that was meant by a name, also one that only a remote has; else some that there are."""
    answer = _run(top, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags")
    names = answer.out.decode("utf-8", "replace").split()
    remote = next((known for known in names if name and known.endswith(f"/{name}")), "")
    hint = f"did you mean '{remote}'?" if remote else suggestion(name, names)
    return hint if hint.startswith("did you mean") else f"{hint}; git log lists the commits".removeprefix("; ")


def merge_base(top: str, first: str, second: str) -> str:
    """The best common ancestor of two commits. Raises RenderError when they have none."""
    answer = _run(top, "merge-base", commit(top, first), commit(top, second))
    if answer.status:
        raise RenderError(
            [make_diagnostic("E783", Origin(_RevisionName(f"{first}...{second}")), one=first, other=second)]
        )
    return answer.out.decode().strip()


def files(top: str, commit: str) -> list[GitEntry]:
    """All files and submodules of a commit, in the order of their names. Raises RenderError."""
    with listing(top, commit) as entries:
        return entries()


@contextmanager
def listing(top: str, commit: str) -> Iterator[Callable[[], list[GitEntry]]]:
    """A context with a function that returns the `files`; git lists them in the background. Raises RenderError."""
    with _start(top, "ls-tree", "-r", "-z", "--full-tree", commit) as process:
        answer = cache(partial(_finish, process, MAX_LIST_BYTES))
        try:
            yield lambda: _entries(commit, answer())
        finally:
            process.kill()  # if the list was not used


def _entries(commit: str, answer: _Answer) -> list[GitEntry]:
    if len(answer.out) > MAX_LIST_BYTES:
        what = f"the list of its files has more than {MAX_LIST_BYTES:,} bytes"
        raise GitError([make_diagnostic("E785", Origin(_RevisionName(commit)), what=what)])
    if answer.status:
        raise _git_error(commit, answer)
    entries = []
    for line in answer.out.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        head, _, path = line.partition("\t")
        mode, kind, blob = head.split()
        if kind in ("blob", "commit") and _NEVER_CHECKED_OUT.isdisjoint(path.lower().split("/")):
            entries.append(GitEntry(path, mode, blob))
    return entries


def staged(top: str, *names: str) -> list[GitEntry]:
    """All submodules in the index, and the files of these names. Raises RenderError.

    The index of a huge tree is read in parts, of which nothing else is kept.
    """
    entries, rest = [], b""
    ends = tuple(f"{before}{name}".encode() for name in names for before in "/\t")
    with _start(top, "ls-files", "--stage", "-z", "--no-recurse-submodules") as process:
        output = _Output(process)
        while part := output.take(_MAX_ANSWER_BYTES):
            *lines, rest = (rest + part).split(b"\0")
            for line in lines:
                if line.startswith(SUBMODULE.encode()) or line.endswith(ends):
                    head, _, path = line.decode("utf-8", "surrogateescape").partition("\t")
                    mode, blob, _ = head.split()
                    entries.append(GitEntry(path, mode, blob))
        answer = output.end()
    if answer.status:
        raise _git_error(top, answer)
    return entries


def data_by_blob(files: Iterable[bytes], digits: int) -> dict[str, bytes]:
    """The data by their blob names, in a repository whose names have this many digits."""
    from hashlib import sha1, sha256  # few runs need it

    digest = sha1 if digits == 40 else sha256
    return {digest(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest(): data for data in files}


def contents(top: str, blobs: Sequence[str], limit: int = MAX_CONTENT_BYTES) -> list[bytes]:
    """The bytes of these blobs, in one call; of one above `limit` bytes only `limit` + 1 zeros.
    Raises RenderError.
    """
    distinct = list(dict.fromkeys(blobs))
    data_by_blob = _read(top, distinct, limit)
    if data_by_blob is None:
        sizes = _sizes(top, distinct)
        data_by_blob = _read(top, [blob for blob in distinct if sizes[blob] <= limit], limit) or {}
    large = bytes(limit + 1) if len(data_by_blob) < len(distinct) else b""
    return [data_by_blob.get(blob, large) for blob in blobs]


def _read(top: str, blobs: Sequence[str], limit: int) -> dict[str, bytes] | None:
    """The bytes of each blob; None where one has more than `limit` bytes."""
    data_by_blob: dict[str, bytes] = {}
    if not blobs:
        return data_by_blob
    room = MAX_CONTENT_BYTES
    with _start(top, "cat-file", "--batch", has_input=True) as process:
        output = _Output(process, _lines(blobs))
        for blob in blobs:
            size = _size(blob, output.line())
            if size is None:
                answer = output.end()
                raise _git_error(top, replace(answer, message=answer.message or f"{blob} is missing"))
            if size > limit:
                process.kill()
                return None
            room -= size
            if room < 0:
                process.kill()
                what = f"its files have more than {MAX_CONTENT_BYTES:,} bytes"
                raise GitError([make_diagnostic("E785", Origin(_RevisionName(top)), what=what)])
            data_by_blob[blob] = output.take(size + 1)[:-1]
    return data_by_blob


def _sizes(top: str, blobs: Sequence[str]) -> Mapping[str, int]:
    """How many bytes each blob has, in one call."""
    with _start(top, "cat-file", "--batch-check", has_input=True) as process:
        output = _Output(process, _lines(blobs))
        return {blob: _size(blob, output.line()) or 0 for blob in blobs}


def _lines(blobs: Iterable[str]) -> bytes:
    return "".join(f"{blob}\n" for blob in blobs).encode()


def _size(blob: str, line: bytes) -> int | None:
    """Of `<name> blob <size>`; None for `<name> missing`, and where git has ended."""
    name, _, rest = line.decode("utf-8", "replace").strip().partition(" ")
    kind, _, size = rest.partition(" ")
    return int(size) if (name, kind) == (blob, "blob") and size.isdigit() else None


def remote(top: str) -> str:
    """The URL of the remote `origin`, without credentials; '' when there is none. Raises RenderError where git does not
    trust the repository.
    """
    url = _setting(top, "remote", "get-url", "origin")
    scheme, separator, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}" if separator and scheme in ("http", "https") else url


def branch(top: str) -> str:
    """The current branch; '' for a detached HEAD. Raises RenderError where git does not trust the repository."""
    return _setting(top, "symbolic-ref", "--quiet", "--short", "HEAD")


def _setting(top: str, *words: str) -> str:
    answer = _run(top, *words)
    if answer.status == 128:  # 1 and 2: there is no such thing
        raise _git_error(top, answer)
    return answer.out.decode("utf-8", "replace").strip() if not answer.status else ""


def _git_error(name: str, answer: _Answer) -> GitError:
    """The error for a failed command about `name`."""
    message = answer.message or f"git ended with {answer.status}"
    code = "E784" if "promisor remote" in message else "E787" if "dubious ownership" in message else "E781"
    return GitError([make_diagnostic(code, Origin(_RevisionName(name)), what=message)])


# --- Running it


def _run(top: str, *words: str) -> _Answer:
    """The answer to a command with a few lines of output. Raises RenderError without git."""
    with _start(top, *words) as process:
        return _finish(process, _MAX_ANSWER_BYTES)


def _start(top: str, *words: str, has_input: bool = False) -> subprocess.Popen[bytes]:
    """A running git in the repository at `top`. `has_input`: with a pipe to its standard input. Raises RenderError if
    git is not installed.

    `--git-dir` is not given, since git then trusts a repository of whatever owner.
    """
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    variables |= {name: value for name, value in os.environ.items() if name.startswith(_KEPT_VARIABLES)}
    variables |= {**_VARIABLES, "GIT_CEILING_DIRECTORIES": os.path.dirname(top)}
    command, pipe = ["git", "-C", top, *_OPTIONS, *words], subprocess.PIPE
    stdin = pipe if has_input else subprocess.DEVNULL
    try:
        return subprocess.Popen(command, stdin=stdin, stdout=pipe, stderr=pipe, env=variables)  # noqa: S603 - git alone
    except OSError as error:
        raise GitError([make_diagnostic("E780", Origin(_RevisionName("git")), what=error.strerror or error)]) from None
    except ValueError as error:  # a zero byte, or half of a character
        raise GitError([make_diagnostic("E780", Origin(_RevisionName("git")), what=error)]) from None


def _finish(process: subprocess.Popen[bytes], limit: int) -> _Answer:
    """All output of the process, or its first `limit` + 1 bytes."""
    output = _Output(process)
    out = output.take(limit + 1)
    if len(out) > limit:
        process.kill()
    return replace(output.end(), out=out)


class _Output:
    """The output of git, read while its input is written and its messages are collected, so that nothing blocks. No
    thread is needed, and no descriptor beyond the pipes.
    """

    def __init__(self, process: subprocess.Popen[bytes], data: bytes = b"") -> None:
        self._process, self._input = process, data
        self._messages, self._buffer = bytearray(), bytearray()
        self._parts = self._read()

    def line(self) -> bytes:
        """The next line, without its end; the rest where git ends before."""
        while (end := self._buffer.find(b"\n")) < 0 and len(self._buffer) < _MAX_ANSWER_BYTES and self._read_more():
            pass
        return self.take(end + 1).rstrip(b"\n") if end >= 0 else self.take(len(self._buffer))

    def take(self, size: int) -> bytes:
        """The next `size` bytes; fewer where git ends before."""
        while len(self._buffer) < size and self._read_more():
            pass
        data = bytes(memoryview(self._buffer)[:size])
        del self._buffer[:size]
        return data

    def end(self) -> _Answer:
        """The answer, once the rest of the output has been read and dropped."""
        while self._read_more():
            self._buffer.clear()
        lines = self._messages.decode("utf-8", "replace").strip().splitlines()
        fatal = [line.removeprefix("fatal: ") for line in lines if line.startswith("fatal: ")]
        return _Answer(self._process.wait(), b"", (fatal or lines or [""])[-1])

    def _read_more(self) -> bool:
        part = next(self._parts, b"")
        self._buffer += part
        return bool(part)

    def _read(self) -> Iterator[bytes]:
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        unwritten = memoryview(self._input)
        with PollSelector() as selector:
            for pipe in filter(None, (stdout, stderr)):
                selector.register(pipe, EVENT_READ)
            if stdin:
                os.set_blocking(stdin.fileno(), False)
                selector.register(stdin, EVENT_WRITE)
            while selector.get_map():
                for key, _ in selector.select():
                    if key.fileobj is stdin:
                        try:
                            unwritten = unwritten[os.write(key.fd, unwritten) :]
                        except BrokenPipeError:  # it has enough
                            unwritten = unwritten[:0]
                        if not unwritten:
                            selector.unregister(stdin)
                            stdin.close()
                    elif not (part := os.read(key.fd, _MAX_ANSWER_BYTES)):
                        selector.unregister(key.fileobj)
                    elif key.fileobj is stdout:
                        yield part
                    else:
                        self._messages += part[: _MAX_ANSWER_BYTES - len(self._messages)]
