"""What `llmaz render` makes of made-up inputs, in batches: each is a repository with a RenderConfig of its own."""

from __future__ import annotations

import gc
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from renderer import pipeline, yamlio
from renderer.api import RenderOptions
from renderer.diagnostics import Diagnostic, has_errors
from renderer.output.manifest_files import OutputFile
from tests.apiserver.inputs import Input, Node, configs, drawn, inputs, numbered
from tests.apiserver.traffic import Traffic, traffic, wired

SIZE = 20  # inputs under one RenderConfig
UNMEASURED = "W555"  # we warn of a trigger by cpu or memory that nobody asks for; of a Deployment KEDA refuses it
LEADING = 4  # ModelRoutes and InferenceModels over their apps


class Batch(NamedTuple):
    """`files`: name → text of the input. `rendered`: how many of the inputs held. `texts`: what came of those.
    `codes`: why the others did not, one code each.
    """

    number: int
    files: dict[str, str]
    inputs: int
    rendered: int
    texts: Sequence[OutputFile]
    codes: Counter[str]
    examples: dict[str, Diagnostic]


def batches(count: int) -> Iterator[Batch]:
    """All of them; `count` inputs in total."""
    drawn_inputs = drawn(inputs, count)
    parts = [drawn_inputs[start : start + SIZE] for start in range(0, count, SIZE)]
    leading = drawn(traffic, LEADING * len(parts))
    for number, (part, config) in enumerate(zip(parts, drawn(configs, len(parts)), strict=True)):
        yield rendered(number, part, leading[LEADING * number :][:LEADING], config)


def rendered(number: int, batch_inputs: Sequence[Input], leading: Sequence[Traffic], config: Node) -> Batch:
    """One batch. What is wrong with the RenderConfig itself is wrong with each of its inputs."""
    files = {"llmaz.yaml": dumped([config])}
    keda = config["spec"]["autoscaling"].get("autoscaler") == "keda"
    named = [numbered(drawn_input, index, config["spec"]) for index, drawn_input in enumerate(batch_inputs)]
    files |= {f"{index}.yaml": dumped(documents) for index, documents in enumerate(named)}
    files |= {f"to{index}.yaml": dumped([document]) for index, document in enumerate(wired(leading, named, config))}
    with repository(files):
        done = pipeline.render(RenderOptions(texts=True))
    gc.unfreeze()
    gc.enable()  # the program turns it off, since it lives for seconds only
    wrong: dict[str, Diagnostic] = {}
    for problem in done.problems:
        if has_errors([problem]):
            wrong.setdefault(problem.file, problem)
    apps = [name for name in files if name != "llmaz.yaml"]
    valid = [] if "llmaz.yaml" in wrong else [name for name in apps if name not in wrong]
    refused = {problem.file for problem in done.problems if keda and problem.code == UNMEASURED}
    sound = {f"# Rendered by llmaz from {name}. Do not edit." for name in {*valid, "llmaz.yaml"} - refused}
    texts = [text for text in done.texts if text.text.partition("\n")[0] in sound] if valid else []
    codes = Counter(problem.code for problem in wrong.values())
    return Batch(
        number, files, len(apps), len(valid), texts, codes, {problem.code: problem for problem in wrong.values()}
    )


def dumped(documents: Sequence[Node]) -> str:
    """As YAML."""
    return "---\n".join(yamlio.dump(document) for document in documents)


@contextmanager
def repository(files: dict[str, str]) -> Iterator[None]:
    """Makes a folder with these files the current one."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            Path(folder, name).write_text(text, "utf-8")
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
