#!/usr/bin/env python3
"""Makes the cases of an engine from those of vLLM: every source, format and accelerator, each in the case that renders
(tests/cases/engine-ENGINE) or in the one that is refused (tests/errors/CODE-engine-ENGINE-refuses).

    .venv/bin/python -m scripts.make_engine_case ENGINE
    make test ARGS="--snapshot-update -k engine-ENGINE"

writes what is expected; read it as a reviewer would.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml
from click.testing import CliRunner

from renderer.cli import cli

TESTS = Path(__file__).resolve().parent.parent / "tests"
_ARGS = "--set gateway.mode=off"
_SEPARATOR = "---\n"


def documents(name: str) -> Iterator[str]:
    """The texts of a file's documents in the two cases of vLLM, each once."""
    folders = (TESTS / "cases" / "engine-vllm" / "input", TESTS / "errors" / "E403-engine-vllm-refuses")
    texts = [text for folder in folders for text in (folder / name).read_text("utf-8").split(_SEPARATOR)]
    yield from {document_name(text): text if text.endswith("\n") else f"{text}\n" for text in texts}.values()


def document_name(text: str) -> str:
    """The name of the object in a document."""
    return str(yaml.safe_load(text)["metadata"]["name"])


def claimed(playgrounds: Iterable[str]) -> set[str]:
    """The names of the models that Playgrounds claim."""
    return {name for text in playgrounds for name in re.findall(r"(?:modelName|- {name): ([\w-]+)", text)}


def write_input(folder: Path, playgrounds: list[str]) -> None:
    """Writes the Playgrounds, the models that they claim, and the configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    models = [text for text in documents("models.yaml") if document_name(text) in claimed(playgrounds)]
    (folder / "models.yaml").write_text(_SEPARATOR.join(models), "utf-8")
    (folder / "playgrounds.yaml").write_text(_SEPARATOR.join(playgrounds), "utf-8")
    shutil.copy(TESTS / "cases" / "engine-vllm" / "input" / "llmaz.yaml", folder)


def first_error(playgrounds: list[str]) -> str:
    """The code of the first error that rendering these Playgrounds gives, '' without one."""
    with tempfile.TemporaryDirectory() as folder:
        write_input(Path(folder), playgrounds)
        done = CliRunner().invoke(cli, ["render", "--stdout", *_ARGS.split(), folder])
    error = re.search(r"\[(E\d{3})\]$", done.output, re.MULTILINE)
    return error[1] if error else ""


def main(engine: str) -> int:
    playgrounds = [
        text.replace("backendName: vllm", f"backendName: {engine}") for text in documents("playgrounds.yaml")
    ]
    refused = [text for text in playgrounds if first_error([text])]
    case = TESTS / "cases" / f"engine-{engine}"
    write_input(case / "input", [text for text in playgrounds if text not in refused])
    (case / "args.txt").write_text(f"{_ARGS}\n", "utf-8")
    write_input(TESTS / "errors" / f"{first_error(refused)}-engine-{engine}-refuses", refused)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
