"""Resolves paths from input and the command line, and reads files; nothing else in the program opens input.

A hostile repository chooses every file name, link and path in it. So paths are checked after resolving links, only
regular files are opened, and no more is read than a limit allows.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator

MAX_BYTES = 16 * 1024 * 1024  # of a file of the tree; yamlio/limits.py says why
CONFIG = "llmaz.yaml"
POLICY = "llmaz-policy.yaml"
PASSED = "_extra"
"""The folder of the output with the copies of files that passThrough names."""
_PACKAGE = os.path.dirname(os.path.dirname(__file__))
# In a wheel they lie inside the package, in a checkout beside it.
PRESETS = next(
    folder
    for folder in (os.path.join(_PACKAGE, "presets"), os.path.join(os.path.dirname(_PACKAGE), "presets"))
    if os.path.isdir(folder)
)


class FileTooLargeError(OSError):
    """A file above the limit."""

    def __init__(self, path: str, size: int, limit: int) -> None:
        super().__init__(errno.EFBIG, f"it has {size:,} bytes, at most {limit:,} are read", path)
        self.size = size  # in bytes


class OutsideError(OSError):
    """A path that leads out of the folder that it must stay in."""

    def __init__(self, path: str, target: str) -> None:
        super().__init__(errno.EXDEV, f"it points outside the tree, to {target}", path)


class LinkError(OSError):
    """A link in the place of a file that must not be one."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.ELOOP, "it is a link", path)


def read_file(path: str, limit: int = MAX_BYTES) -> bytes:
    """The bytes of a regular file. Raises OSError, also for pipes, sockets and devices, and FileTooLargeError above
    `limit` bytes.
    """
    try:
        # Without O_NONBLOCK, opening a pipe waits for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except ValueError as error:  # NUL in the name
        raise OSError(errno.EINVAL, str(error), path) from None
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        if status.st_size > limit:
            raise FileTooLargeError(path, status.st_size, limit)
        data = os.read(descriptor, status.st_size + 1)
        if len(data) == status.st_size:  # one byte more was requested, so this is the end
            return data
        parts = [data]  # the file grows or shrinks, or has no size, as under /proc
        while data and (room := limit + 1 - sum(map(len, parts))) > 0:
            parts.append(data := os.read(descriptor, min(room, 1 << 20)))
        if (size := sum(map(len, parts))) > limit:
            raise FileTooLargeError(path, size, limit)
        return b"".join(parts)
    finally:
        os.close(descriptor)


def read_file_inside(root: str, path: str, limit: int = MAX_BYTES) -> bytes:
    """As `read_file`, of a file that lies below the folder `root` once links are followed. Raises OSError, OutsideError
    among them.
    """
    return read_file(real_path_inside(root, path), limit)


def read_entry(path: str) -> bytes | None:
    """The bytes of a regular file that is not a link; None where nothing has that name. Raises OSError for all else."""
    if os.path.islink(path):
        raise LinkError(path)
    return read_file(path) if os.path.lexists(path) else None


def real_path_inside(root: str, path: str) -> str:
    """The real path of `path`. Raises OutsideError where it does not lie below the folder `root`."""
    try:
        target = os.path.realpath(path)
    except ValueError as error:  # NUL in the name
        raise OSError(errno.EINVAL, str(error), path) from None
    if not is_inside(target, os.path.realpath(root)):
        raise OutsideError(path, target)
    return target


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is the folder or lies below it; both must be real paths."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def path_below(path: str, folder: str) -> str | None:
    """The path of a submodule below a folder, '' where it is the folder or one above it; None elsewhere. Both begin at
    the same folder, which is ''.
    """
    if folder and is_inside(folder, path):
        return ""
    prefix = f"{folder}/" if folder else ""
    return path[len(prefix) :] if path.startswith(prefix) else None


def git_root(folder: str) -> str:
    """The real path of the nearest folder at or above this one that holds `.git`; '' where none does.

    Real folders are walked up, so no link and no folder that only looks like a repository can stand in for it.
    """
    return _nearest_holding(os.path.realpath(folder), ".git")


def tree_root(folder: str) -> str:
    """The real path of the folder that files in `folder` may refer to: the git root, else the nearest folder with a
    `llmaz.yaml`, else the current folder where `folder` lies in it; '' for none of them.
    """
    real, current = os.path.realpath(folder), os.path.realpath(os.curdir)
    return (
        _nearest_holding(real, ".git")
        or _nearest_holding(real, CONFIG)
        or (current if is_inside(real, current) else "")
    )


def _nearest_holding(folder: str, name: str) -> str:
    while not os.path.lexists(os.path.join(folder, name)):
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return ""
    return folder


def links(path: str) -> Iterator[tuple[str, str]]:
    """The links on the way to a path, itself included, that lie in a tree; each with the root of that tree."""
    parts = os.path.abspath(path).split(os.sep)
    for end in range(2, len(parts) + 1):
        link = os.sep.join(parts[:end])
        if os.path.islink(link) and (root := tree_root(os.path.dirname(link))):
            yield link, root


def link_out(path: str) -> tuple[str, str] | None:
    """The first link on the way to a path that leads out of its tree, with the real path of its target; None without
    one.
    """
    targets = ((link, os.path.realpath(link), root) for link, root in links(path))
    return next(((link, target) for link, target, root in targets if not is_inside(target, root)), None)
