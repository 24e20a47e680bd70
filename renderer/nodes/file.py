"""The file that node pools are kept in: compared, and written whole."""

from __future__ import annotations

import errno
import os

from renderer.api import Scope
from renderer.paths import read_file
from renderer.problems import Origin, RenderError, problem
from renderer.tree import MARK, File, refuse_links
from renderer.writer import write_file


def settled(scope: Scope, path: str, text: str, write: bool) -> str:
    """What stands at the path: same, stale or missing; with `write` it is the text afterwards. Raises RenderError for a
    file of somebody else's, for a place where `llmaz render` would delete it, and for what the file system refuses.
    """
    at = Origin(File(path, "", ""))
    if not path.isprintable():
        raise RenderError([problem("E124", at)])
    if path.endswith(os.sep):
        raise RenderError([problem("E140", at, what=os.strerror(errno.EISDIR))])
    refuse_links(path)
    rendered = os.path.dirname(scope.folder) if scope.options.env else scope.folder
    if (os.path.realpath(path) + os.sep).startswith(os.path.realpath(rendered) + os.sep):
        raise RenderError([problem("E797", at, folder=rendered)])
    try:
        try:
            data = read_file(path)
        except FileNotFoundError:
            state = "missing"
        else:
            if not data.startswith(MARK.encode()):
                raise RenderError([problem("E796", at)])
            state = "same" if data == text.encode() else "stale"
        if write and state != "same":
            write_file(path, text)
    except OSError as error:
        raise RenderError([problem("E140", at, what=error.strerror or error)]) from None
    return state
