"""Chat templates in files of the tree: what `chatTemplate.file` names, read and parsed.

A path is relative to the folder of the file that names it. Nothing is read through links, outside of the tree, or below
a name that begins with a dot: the text is rendered, and so shown to whoever sees what a change renders.
"""

from __future__ import annotations

import os

from renderer.api import TreeFile
from renderer.diagnostics import meant_name
from renderer.source.paths import LinkError, is_inside, tree_root
from renderer.source.tree import DISK, FileSystem
from renderer.template import chat_template_fault
from renderer.text.suggestions import closest

_SIMILAR = 0.6  # from which on a name may be meant
_LINK = "name the file that it leads to"
_START = "write a path that starts at the folder of this file"
_ELSEWHERE = "put it into the tree, or name a ConfigMap: configMap: {name: …, key: …}"


class TemplateReader:
    """Reads chat templates (api.TemplateFiles) lazily, each once."""

    def __init__(self, file_system: FileSystem = DISK) -> None:
        self._file_system = file_system
        self._read: dict[tuple[str, str], TreeFile] = {}

    def read(self, path: str, named_in: str) -> TreeFile:
        """The file at a path that is relative to the folder of the file that names it."""
        folder = os.path.dirname(named_in) or os.curdir
        if not self._file_system.isdir(folder):  # objects of a pipe have no file of their own
            folder = os.curdir
        if (folder, path) not in self._read:
            self._read[folder, path] = self._file(folder, path)
        return self._read[folder, path]

    def _file(self, folder: str, path: str) -> TreeFile:
        if "\0" in path or os.path.isabs(path):
            return TreeFile(path, unread="is no relative path", hint=_START)
        real_folder = os.path.realpath(folder)
        root = tree_root(folder) or real_folder
        place = os.path.normpath(os.path.join(real_folder, path))
        parent = os.path.dirname(place)
        if not is_inside(place, root) or not is_inside(os.path.realpath(parent), root):
            return TreeFile(path, unread="lies outside of the tree", hint=_ELSEWHERE)
        if any(part.startswith(".") for part in os.path.relpath(place, root).split(os.sep)):
            return TreeFile(path, unread="has a name that begins with a dot, which is never read", hint="move it")
        if os.path.realpath(parent) != parent:
            return TreeFile(path, unread="lies behind a link", hint=_LINK)
        try:
            data = self._file_system.read_entry(place)
        except LinkError:
            return TreeFile(path, unread="is a link", hint=_LINK)
        except OSError as error:
            return TreeFile(path, unread=f"cannot be read: {error.strerror}", hint="name a file with the template")
        if data is None:
            return TreeFile(path, unread="is no file of the tree", hint=self._hint(path, real_folder, root))
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            return TreeFile(path, unread=f"is not valid UTF-8, byte {error.start}", hint="save it as UTF-8")
        return TreeFile(path, text, fault=chat_template_fault(text))

    def _hint(self, path: str, folder: str, root: str) -> str:
        """What may be meant by a path of no file: one that starts at the root, or has a similar name."""
        from_root, (parent, name) = os.path.join(root, path), os.path.split(os.path.join(folder, path))
        if self._file_system.isfile(from_root):
            return meant_name(path, os.path.relpath(from_root, folder))
        beside = [other for other in self._file_system.names(parent, root) if not other.startswith(".")]
        if near := closest(name, beside, _SIMILAR):
            return meant_name(path, os.path.join(os.path.dirname(path), near))
        return _START
