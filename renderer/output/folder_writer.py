"""Writes and deletes files below a folder without following links; nothing else in the program does.

Each folder on the way is opened by name relative to its parent (openat with O_NOFOLLOW), so nothing in a hostile
repository can lead out of the output folder: no link, no `..`, no guessed name of a temporary file.
"""

from __future__ import annotations

import contextlib
import errno
import os

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_MAX_OPEN = 32  # the most folders that are kept open, least recently used are closed


class OutputFolder:
    """A folder, created by the first write. Paths below it have `/` between names, and no `.` or `..`.

    A link or another obstacle on the way is an OSError.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._descriptors: dict[str, int] = {}  # of open folders by path, the most recently used last
        self._empty: dict[str, bool] = {}

    def read_start(self, path: str, size: int) -> bytes:
        """The first bytes of a file, `size` at most. Raises OSError."""
        parent, _, name = path.rpartition("/")
        # Without O_NONBLOCK, opening a pipe waits for a writer.
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=self._folder(parent))
        try:
            return os.read(descriptor, size)
        finally:
            os.close(descriptor)

    def is_empty(self, path: str) -> bool:
        """Whether a folder was empty or missing at the first call; False where it cannot be opened."""
        if path not in self._empty:
            try:
                with os.scandir(self._folder(path)) as entries:
                    self._empty[path] = next(entries, None) is None
            except FileNotFoundError:
                self._empty[path] = True
            except OSError:
                self._empty[path] = False
        return self._empty[path]

    def write(self, path: str, text: str, mode: int | None = None) -> None:
        """Writes a file atomically, by a temporary file beside it and a rename; creates folders. `mode`: its rights,
        by default those of new files. Raises OSError that names the file.
        """
        parent, _, name = path.rpartition("/")
        folder = self._folder(parent, create=True)
        try:
            temporary = f"{name}.llmaz-{os.getpid()}-{os.urandom(8).hex()}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            try:
                descriptor = os.open(temporary, flags, 0o666, dir_fd=folder)  # in here, since Ctrl-C may follow it
                try:
                    if mode is not None:
                        os.fchmod(descriptor, mode)
                    data = memoryview(text.encode())
                    while data:
                        data = data[os.write(descriptor, data) :]
                finally:
                    os.close(descriptor)
                os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except FileExistsError:  # somebody else's
                raise
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary, dir_fd=folder)
                raise
        except OSError as error:
            error.filename = os.path.join(self.path, path)
            raise

    def delete(self, path: str) -> None:
        """Deletes a file, and parent folders that become empty. Raises OSError that names the file."""
        parent, _, name = path.rpartition("/")
        folder = self._folder(parent)
        try:
            os.unlink(name, dir_fd=folder)
        except OSError as error:
            error.filename = os.path.join(self.path, path)
            raise
        while parent:
            grandparent, _, name = parent.rpartition("/")
            try:
                os.rmdir(name, dir_fd=self._folder(grandparent))
            except OSError:
                break
            if (descriptor := self._descriptors.pop(parent, None)) is not None:
                os.close(descriptor)
            parent = grandparent

    def close(self) -> None:
        """Closes all open folders; the object can still be used."""
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])

    def __del__(self) -> None:
        self.close()

    def _folder(self, path: str, *, create: bool = False) -> int:
        """The descriptor of a folder below; '' is the folder itself. Raises OSError."""
        descriptor = self._descriptors.pop(path, None)
        if descriptor is None:
            if len(self._descriptors) >= _MAX_OPEN:
                os.close(self._descriptors.pop(next(iter(self._descriptors))))
            descriptor = self._open(path, create=create)
        self._descriptors[path] = descriptor
        return descriptor

    def _open(self, path: str, *, create: bool) -> int:
        if create and not path:
            os.makedirs(self.path or os.curdir, exist_ok=True)
        if not path:
            return os.open(self.path or os.curdir, _FOLDER)
        parent_descriptor = self._folder("", create=create)
        last_opened: int | None = None  # the last one on the way
        try:
            for name in path.split("/"):
                if name in ("", os.curdir, os.pardir):
                    raise OSError(errno.EINVAL, f"'{name}' is not a name of a folder")
                try:
                    descriptor = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=parent_descriptor)
                except FileNotFoundError:
                    if not create:
                        raise
                    with contextlib.suppress(FileExistsError):  # another process was quicker
                        os.mkdir(name, dir_fd=parent_descriptor)
                    descriptor = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=parent_descriptor)
                if last_opened is not None:
                    os.close(last_opened)
                last_opened = parent_descriptor = descriptor
        except OSError as error:
            if last_opened is not None:
                os.close(last_opened)
            error.filename = os.path.join(self.path, path)
            raise
        return parent_descriptor


def write_file(path: str, text: str, mode: int | None = None) -> None:
    """Writes a file atomically, as `OutputFolder.write`, relative to its own folder. Raises OSError."""
    folder, name = os.path.split(path)
    output = OutputFolder(folder or os.curdir)
    try:
        output.write(name, text, mode)
    finally:
        output.close()
