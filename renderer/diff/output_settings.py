"""What the RenderConfig of one side says about its output folder, as far as files there are judged by it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec.structs import replace

from renderer import load
from renderer.api import RenderOptions
from renderer.diagnostics import RenderError
from renderer.integrations import helm
from renderer.source.git import GitError
from renderer.source.tree import glob

_FOLDER = "rendered"
_UNREADABLE: Sequence[str] = []  # the patterns of a file that cannot be read


class OutputSettings:
    """The settings of one side. Where `llmaz.yaml` is not there or cannot be read, the defaults, which allow nothing.

    Folders are relative to the current one.
    """

    base: str  # the folder of `llmaz.yaml`
    config_path: str | None  # the path of `llmaz.yaml`
    root: str  # the output folder of all environments
    chart: str  # where charts are by default
    environments: Sequence[str]  # their names

    def __init__(self, options: RenderOptions) -> None:
        self._options = options
        base, self.config_path = options.file_system.base_of(options.paths)
        self.base = os.path.relpath(base)
        self._foreign: dict[str, Sequence[str]] = {}
        self.environments: Sequence[str] = ()
        directory, self._foreign[""], self._ignored = self._read("")
        if self.config_path and self._foreign[""] is not _UNREADABLE:
            self.environments = self._names()
        self.root = os.path.normpath(os.path.join(self.base, directory))
        self.chart = os.path.normpath(os.path.join(self.base, helm.FOLDER))

    def allows(self, path: str) -> bool:
        """Whether `output.foreign` allows a file of others. `path`: below the folder of all environments."""
        environment = path.partition("/")[0]
        if environment not in self.environments:
            environment = ""
        if environment not in self._foreign:
            self._foreign[environment] = self._read(environment)[1]
        return any(glob(pattern).fullmatch(path) for pattern in self._foreign[environment])

    def ignores(self, path: str) -> bool:
        """Whether `ignore` hides a file from the input. `path`: below the folder of `llmaz.yaml`."""
        return any(glob(pattern).fullmatch(path) for pattern in self._ignored)

    def _read(self, environment: str) -> tuple[str, Sequence[str], Sequence[str]]:
        """`output.dir`, `output.foreign` and `ignore`, as an environment has them."""
        options = self._options
        name = os.path.relpath(self.config_path) if self.config_path else ""
        overrides = [load.parse_override(text) for text in options.overrides]
        try:
            config, _ = load.render_config(
                self.config_path, name, overrides, options.file_system, options.skipped_keys, environment
            )
        except GitError:
            raise
        except RenderError:
            return _FOLDER, _UNREADABLE, ()
        foreign, ignored = (tuple(config.get(*path) or ()) for path in (("output", "foreign"), ("ignore",)))
        return str(config.get("output", "dir") or _FOLDER), foreign, ignored

    def _names(self) -> Sequence[str]:
        try:
            return load.rendered_environments(replace(self._options, env=""))
        except GitError:
            raise
        except RenderError:
            return ()
