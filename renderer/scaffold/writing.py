"""Files written where nothing stands in their way, all of them or none."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

from renderer.load.rule import Rule
from renderer.problems import Origin, Problem, RenderError, problem
from renderer.tree import refuse_links
from renderer.writer import write_file as write_file


def write(folder: str, texts: Mapping[str, str]) -> None:
    """Writes each text to its path: absolute, or below the folder, which need not be there yet.

    Raises RenderError, with nothing written, when any of them is in the way of something, or cannot be written.
    """
    targets = {
        os.path.relpath(path) if os.path.isabs(path) else os.path.normpath(os.path.join(folder, path)): text
        for path, text in texts.items()
    }
    if found := [problem("E760", Origin(Rule(path))) for path in sorted(set(map(_taken, targets)) - {""})]:
        raise RenderError(found)
    for target in targets:
        refuse_links(target)
    made: list[str] = []
    target = folder
    try:
        for target, text in targets.items():
            _folders(os.path.dirname(target), made)
            write_file(target, text)
            made.append(target)
    except OSError as error:
        _remove(made)
        raise RenderError([_unwritten(target, error)]) from None
    except BaseException:
        _remove(made)
        raise


def _taken(target: str) -> str:
    """What stands in the way of a file: it itself, or a file where a folder is needed; '' for nothing."""
    if os.path.lexists(target):
        return target
    parent = os.path.dirname(target)
    while parent and not os.path.lexists(parent):
        parent = os.path.dirname(parent)
    return "" if os.path.isdir(parent or ".") else parent


def _folders(folder: str, made: list[str]) -> None:
    """Makes a folder and those above it, and notes those that it made."""
    if folder and not os.path.isdir(folder):
        _folders(os.path.dirname(folder), made)
        os.mkdir(folder)
        made.append(folder)


def _remove(made: list[str]) -> None:
    for path in reversed(made):
        with contextlib.suppress(OSError):
            (os.rmdir if os.path.isdir(path) else os.unlink)(path)


def _unwritten(target: str, error: OSError) -> Problem:
    return problem("E140", Origin(Rule(target)), what=error.strerror or error)
