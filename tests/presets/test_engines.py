"""Every engine meets every source, format and accelerator once: in a case that renders, or in one that is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from renderer import load
from tests.inputs import error_case
from tests.paths import TESTS

SOURCES = {
    *("hub", "hub-gguf", "hub-gguf-folder", "modelscope", "s3", "s3-gguf", "gs"),
    *("oss", "oss-gguf", "host", "host-gguf", "oci", "ollama", "pvc", "pvc-gguf"),
}
SKIPPED = {f"{source}-skip" for source in SOURCES if not source.startswith(("host", "hub-gguf-f", "oss-", "pvc"))}
FLAVORS = {
    f"on-{name}"
    for name in (
        *("nvidia", "nvidia-4", "nvidia-mig", "amd", "intel", "cpu", "unflavored", "gaudi", "tpu", "ascend"),
        "max-model-len",
    )
}
DRAFTS = {"with-draft", "with-draft-skip"}


def playgrounds(folder: Path) -> list[str]:
    """The names of a folder's Playgrounds."""
    with open(folder / "playgrounds.yaml", encoding="utf-8") as file:
        return [document["metadata"]["name"] for document in yaml.safe_load_all(file)]


@pytest.mark.parametrize("engine", load.preset_names("backends"))
def test_everything_is_taken_or_refused(engine: str) -> None:
    rendered = playgrounds(TESTS / "cases" / f"engine-{engine}" / "input")
    refused = playgrounds(error_case(f"engine-{engine}-refuses"))
    assert sorted(rendered + refused) == sorted(SOURCES | SKIPPED | FLAVORS | DRAFTS)
    stderr = (error_case(f"engine-{engine}-refuses") / "stderr.txt").read_text("utf-8")
    last = stderr.splitlines()[-1]  # a main model and its draft may be wrong both
    assert last.endswith(" errors; nothing was written")
    assert int(last.split()[0]) >= len(refused)
