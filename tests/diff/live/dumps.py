"""Dumps and rendered objects for the tests of `llmaz diff --live`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from renderer import yamlio
from renderer.diff.live.comparison import compare_live
from renderer.diff.live.records import LiveReport
from renderer.engines.catalog import EngineCatalog
from renderer.load import render_config
from renderer.load.index import engine_catalog
from renderer.yamlio import Document

Body = dict[str, Any]
ADOPTED = ("gke-adk", "ps-lora-gpu", "ks-opt-cpu")


@cache
def catalog() -> EngineCatalog:
    """What our presets know of engines."""
    return engine_catalog(render_config(None, "")[0])


def read(paths: Iterable[Path]) -> list[Body]:
    """The objects of files."""
    return [document.value for path in sorted(paths) for document in yamlio.parse(path.name, path.read_bytes())[0]]


def documents(bodies: Sequence[Mapping[str, Any]]) -> list[Document]:
    """Bodies as the documents of a dump."""
    text = "---\n".join(f"{json.dumps(body)}\n" for body in bodies)
    parsed, problems = yamlio.parse("dump.yaml", text.encode())
    assert problems == []
    return parsed


def report_of(theirs: Sequence[Mapping[str, Any]], ours: Sequence[Mapping[str, Any]]) -> LiveReport:
    """The comparison of two sets of bodies."""
    return compare_live(documents(theirs), ours, catalog())
