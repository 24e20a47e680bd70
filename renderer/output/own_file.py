"""Compares and writes one file of ours at a path that the user names."""

from __future__ import annotations

import errno
import os

from renderer.api import Scope
from renderer.diagnostics import Origin, RenderError, make_diagnostic
from renderer.output.file_header import MARK
from renderer.output.folder_writer import write_file
from renderer.source.paths import read_file
from renderer.source.tree import InputFile, refuse_links


def update_file(scope: Scope, path: str, text: str, *, write: bool = True, option: str = "-o", mark: str = MARK) -> str:
    """The state of the file before: same, stale or missing. With `write`, it holds the text afterwards.

    Raises RenderError for a file that does not begin with the mark, which llmaz did not write, for a path below the
    output folder, where `llmaz render` would delete it, and for errors of the file system. `option`: what names it.
    """
    origin = Origin(InputFile(path, "", ""))
    if not path.isprintable():
        raise RenderError([make_diagnostic("E124", origin)])
    if path.endswith(os.sep):
        raise RenderError([make_diagnostic("E140", origin, what=os.strerror(errno.EISDIR))])
    refuse_links(path)
    rendered = os.path.dirname(scope.folder) if scope.options.env else scope.folder
    if (os.path.realpath(path) + os.sep).startswith(os.path.realpath(rendered) + os.sep):
        raise RenderError([make_diagnostic("E797", origin, folder=rendered, option=option)])
    try:
        try:
            data = read_file(path)
        except FileNotFoundError:
            state = "missing"
        else:
            if not data.startswith(mark.encode()):
                raise RenderError([make_diagnostic("E796", origin, option=option)])
            state = "same" if data == text.encode() else "stale"
        if write and state != "same":
            write_file(path, text)
    except OSError as error:
        raise RenderError([make_diagnostic("E140", origin, what=error.strerror or error)]) from None
    return state
