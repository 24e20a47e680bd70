"""A tree that is rendered several times, each time with other contents in some of its files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace

from renderer import load, pipeline
from renderer.api import Inputs, RenderOptions, Scope
from renderer.diagnostics import Diagnostic
from renderer.load import ParsedFile
from renderer.result import RenderResult
from renderer.source.overlay import Overlay

# The environment, RenderConfig's new contents, the file, whether it lies outside PATHS, its new contents.
_Key = tuple[str, bytes | None, str, bool, bytes | None]


class EditedTree:
    """A tree in its environments; files that stay as they are are read once."""

    def __init__(self, options: RenderOptions, names: Sequence[str]) -> None:
        self._options: Final = options
        self._names: Final = names  # of the environments
        self._parsed: Final[dict[_Key, ParsedFile]] = {}
        self.paths: Final = set[str]()  # of the files below PATHS and of RenderConfig, once links are followed

    def render(
        self, contents: Mapping[str, bytes], select: pipeline.Selector = pipeline.select_all
    ) -> list[RenderResult]:
        """The result of each environment, with other contents of files, by their real paths. Raises RenderError."""
        below = self._options.file_system
        options = replace(self._options, texts=True, file_system=Overlay(below, contents) if contents else below)
        read = partial(self._read, contents)
        return [pipeline.render(replace(options, env=name), read=read, select=select) for name in self._names]

    def _read(self, contents: Mapping[str, bytes], scope: Scope) -> tuple[Inputs, list[Diagnostic]]:
        """As `load.inputs`."""
        config = contents.get(os.path.realpath(scope.config_path)) if scope.config_path else None
        files = load.scoped_files(scope)
        self.paths.update(os.path.realpath(file.path) for file, outside in files if not outside)
        self.paths.update([os.path.realpath(scope.config_path)] if scope.config_path else ())
        keys: list[_Key] = [
            (scope.options.env, config, file.path, outside, contents.get(os.path.realpath(file.path)))
            for file, outside in files
        ]
        unread = {key: file for key, file in zip(keys, files, strict=True) if key not in self._parsed}
        self._parsed.update(zip(unread, load.read_files(scope, [*unread.values()]), strict=True))
        return load.gather_inputs(scope, [self._parsed[key] for key in keys])
