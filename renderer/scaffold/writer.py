"""Writes new files, all of them or none, and overwrites nothing."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

from renderer.diagnostics import Diagnostic, NamedSource, Origin, RenderError, make_diagnostic
from renderer.output.folder_writer import write_file as write_file
from renderer.source.tree import refuse_links

_SHOWN = 5  # files in the way that are named beside the first


def write(folder: str, texts: Mapping[str, str]) -> None:
    """Writes each text to its path: absolute, or relative to the folder, which is made if it does not exist.

    Raises RenderError if a path exists already or a file cannot be written; then nothing is left behind.
    """
    targets = {
        os.path.relpath(path) if os.path.isabs(path) else os.path.normpath(os.path.join(folder, path)): text
        for path, text in texts.items()
    }
    if obstacles := sorted(set(map(_obstacle, targets)) - {""}):
        first, *others = obstacles
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        shown = f", and so {'does' if len(others) == 1 else 'do'} {', '.join(others[:_SHOWN])}{more}" if others else ""
        words = {"others": shown, "them": "them" if others else "it"}
        raise RenderError([make_diagnostic("E760", Origin(NamedSource(first)), **words)])
    for target in targets:
        refuse_links(target)
    created: list[str] = []
    target = folder
    try:
        for target, text in targets.items():
            _make_folders(os.path.dirname(target), created)
            write_file(target, text)
            created.append(target)
    except OSError as error:
        _remove(created)
        raise RenderError([_write_error(target, error)]) from None
    except BaseException:
        _remove(created)
        raise


def _obstacle(target: str) -> str:
    """The existing path that prevents a file: the file itself, or a file where a folder is needed; '' for none."""
    if os.path.lexists(target):
        return target
    parent = os.path.dirname(target)
    while parent and not os.path.lexists(parent):
        parent = os.path.dirname(parent)
    return "" if os.path.isdir(parent or ".") else parent


def _make_folders(folder: str, created: list[str]) -> None:
    """Makes a folder and its parents, and appends each to `created`."""
    if folder and not os.path.isdir(folder):
        _make_folders(os.path.dirname(folder), created)
        os.mkdir(folder)
        created.append(folder)


def _remove(created: list[str]) -> None:
    for path in reversed(created):
        with contextlib.suppress(OSError):
            (os.rmdir if os.path.isdir(path) else os.unlink)(path)


def _write_error(target: str, error: OSError) -> Diagnostic:
    return make_diagnostic("E140", Origin(NamedSource(target)), what=error.strerror or error)
