"""The one way in which files are written and deleted: below a folder that is opened once, following no link.

Every folder on the way is opened by its own name in the one above it (openat with O_NOFOLLOW), so nothing in a hostile
repository leads out of the folder: no link, no `..`, no temporary file whose name somebody guessed.
"""

from __future__ import annotations

import contextlib
import errno
import os

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_OPEN = 32  # folders at most that are kept open, the last ones used


class OutputFolder:
    """The folder `path`, and files below it. Their paths have `/` between names, and no `.` or `..`.

    Whatever stands in the way, a link too, is an OSError. It is made when something is written.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._descriptors: dict[str, int] = {}  # of folders by their paths, the last used last
        self._empty: dict[str, bool] = {}

    def begin(self, path: str, size: int) -> bytes:
        """The first bytes of a file, `size` at most. Raises OSError."""
        parent, _, name = path.rpartition("/")
        # Without O_NONBLOCK, opening a pipe waits for a writer.
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=self._folder(parent))
        try:
            return os.read(descriptor, size)
        finally:
            os.close(descriptor)

    def is_empty(self, path: str) -> bool:
        """Whether nothing lay in a folder, or it was not there, when first asked; not where something else stands."""
        if path not in self._empty:
            try:
                with os.scandir(self._folder(path)) as entries:
                    self._empty[path] = next(entries, None) is None
            except FileNotFoundError:
                self._empty[path] = True
            except OSError:
                self._empty[path] = False
        return self._empty[path]

    def write(self, path: str, text: str) -> None:
        """Writes a file whole, by a temporary file beside it and a rename, so that none is ever half written; folders
        are made. Raises OSError that names the file.
        """
        parent, _, name = path.rpartition("/")
        folder = self._folder(parent, create=True)
        try:
            temporary = f"{name}.llmaz-{os.getpid()}-{os.urandom(8).hex()}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            try:
                descriptor = os.open(temporary, flags, 0o666, dir_fd=folder)  # in here, since Ctrl-C may follow it
                try:
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
        """Deletes a file, and the folders above it that get empty. Raises OSError that names the file."""
        parent, _, name = path.rpartition("/")
        folder = self._folder(parent)
        try:
            os.unlink(name, dir_fd=folder)
        except OSError as error:
            error.filename = os.path.join(self.path, path)
            raise
        while parent:
            above, _, name = parent.rpartition("/")
            try:
                os.rmdir(name, dir_fd=self._folder(above))
            except OSError:
                break
            if (descriptor := self._descriptors.pop(parent, None)) is not None:
                os.close(descriptor)
            parent = above

    def close(self) -> None:
        """Closes the folders that are open; it may be used again."""
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])

    def __del__(self) -> None:
        self.close()

    def _folder(self, path: str, *, create: bool = False) -> int:
        """The descriptor of a folder below, '' for the folder itself. Raises OSError."""
        descriptor = self._descriptors.pop(path, None)
        if descriptor is None:
            if len(self._descriptors) >= _OPEN:
                os.close(self._descriptors.pop(next(iter(self._descriptors))))
            descriptor = self._open(path, create=create)
        self._descriptors[path] = descriptor
        return descriptor

    def _open(self, path: str, *, create: bool) -> int:
        if create and not path:
            os.makedirs(self.path or os.curdir, exist_ok=True)
        if not path:
            return os.open(self.path or os.curdir, _FOLDER)
        above = self._folder("", create=create)
        opened: int | None = None  # the last one on the way
        try:
            for name in path.split("/"):
                if name in ("", os.curdir, os.pardir):
                    raise OSError(errno.EINVAL, f"'{name}' is no name of a folder")
                try:
                    below = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=above)
                except FileNotFoundError:
                    if not create:
                        raise
                    with contextlib.suppress(FileExistsError):  # another process was quicker
                        os.mkdir(name, dir_fd=above)
                    below = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=above)
                if opened is not None:
                    os.close(opened)
                opened = above = below
        except OSError as error:
            if opened is not None:
                os.close(opened)
            error.filename = os.path.join(self.path, path)
            raise
        return above


def write_file(path: str, text: str) -> None:
    """Writes one file whole, as `OutputFolder.write` does, below the folder that it lies in. Raises OSError."""
    folder, name = os.path.split(path)
    output = OutputFolder(folder or os.curdir)
    try:
        output.write(name, text)
    finally:
        output.close()
