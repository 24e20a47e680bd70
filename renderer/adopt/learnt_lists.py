"""The lists of options that a tree has learnt, of engines' versions that adopted workloads run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from renderer.adopt.operator_releases import default_backend
from renderer.api import RenderConfig
from renderer.engines.catalog import EngineCatalog
from renderer.engines.image_version import version_of_tag
from renderer.engines.option_lists import is_listed, list_path, list_stem
from renderer.kubernetes.json_values import text_at
from renderer.load.index import engine_catalog
from renderer.load.option_lists import learnt_folder
from renderer.load.render_config import render_config
from renderer.source.paths import tree_root
from renderer.source.tree import DISK

if TYPE_CHECKING:
    from renderer.input_types import RenderConfigSpec

LISTS = "flags"
"""The folder of the adopted tree with copies of these lists."""


class TargetTree:
    """The tree into which is written, which has its own RenderConfig there: of that around it, what it has learnt."""

    def __init__(self, folder: str) -> None:
        """`folder`: which may not exist yet. Raises RenderError."""
        _, path = DISK.base_of([folder])
        config, _ = render_config(path, os.path.relpath(path) if path else "")
        learnt: RenderConfigSpec = {"optionLists": config.get("optionLists")} if config.get("optionLists") else {}
        config = RenderConfig(learnt, config.document)
        self._folder = learnt_folder(config)
        self.catalog = engine_catalog(config)
        """What is known of engines."""

    def lists(self, engines: Iterable[tuple[str, str]]) -> dict[str, str]:
        """The lists of engines' versions that this release does not know, by their paths in the adopted tree."""
        files, (base, folder) = self.catalog.option_files, self._folder
        texts = {}
        for backend, version in sorted(set(engines)):
            runtime = self.catalog.runtimes.get(backend)
            path = list_path(runtime.spec.get("engine") or {}) if runtime else ""
            name = f"{os.path.basename(list_stem(path))}-{version}.txt"
            if runtime and path and name in files.learnt() and not is_listed(files, runtime, version):
                data = DISK.read(os.path.join(base, folder, name), tree_root(base) or base)
                texts[f"{LISTS}/{name}"] = data.decode("utf-8")
        return texts


def engine_of(playground: Mapping[str, Any], catalog: EngineCatalog) -> tuple[str, str]:
    """Backend and engine's version of a Playground, '' where it names none."""
    config = "spec", "backendRuntimeConfig"
    backend = text_at(playground, *config, "backendName") or default_backend()
    runtime = catalog.runtimes.get(backend)
    tag = text_at(playground, *config, "version")
    return backend, version_of_tag(runtime.spec.get("engine") or {}, tag, trusted=True) if runtime else ""
