"""What other commands make of a tree: explain, render --to helm, nodepools; and a tree whose apps have other names."""

from __future__ import annotations

import copy
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from renderer.api import RenderOptions
from renderer.diagnostics import RenderError
from renderer.explain.answers import answer_block
from renderer.explain.question import KINDS
from renderer.explain.reasons import ReasonFinder
from renderer.explain.rendered_objects import ExplainRun
from tests.combinations.rows import Rendered, render_documents
from tests.conftest import run
from tests.integrations.test_helm import objects, replicas, scale, template

Node = dict[str, Any]
_BUCKET = re.compile(r"/_routes-\d+\.yaml$")  # of routes of a namespace, by hashes of public names
_HASH = re.compile("-fill-[0-9a-f]{8}")  # of a Job's pod template, in its name


def unexplained(rendered: Rendered, folder: Path) -> Iterator[str]:
    """Objects that `llmaz explain` does not find, and fields that it says nothing of. The tree lies in the folder."""
    explain_run = ExplainRun(RenderOptions(paths=(str(folder),), env=_environment(rendered.inputs)))
    reasons = ReasonFinder(explain_run)
    rendered_objects = {
        other.key: other for other in (*explain_run.render_items(explain_run.items), *explain_run.shared())
    }
    for body in rendered.documents:
        key = (body["kind"], body["metadata"].get("namespace", ""), body["metadata"]["name"])
        if body["kind"] not in KINDS or key not in rendered_objects:
            yield f"explain knows no {'/'.join(key)}"
            continue
        try:
            block = answer_block(reasons, rendered_objects[key], (), show=True)
        except RenderError as error:
            yield f"explain {'/'.join(key)}: {error.problems[0].message}"
            continue
        for path, _, reason in block.leaves:
            if not reason.place and not reason.rule:
                yield f"explain says nothing of {path} in {'/'.join(key)}"


def charted_otherwise(rendered: Rendered, folder: Path, helm: Path) -> Iterator[str]:
    """Objects that Helm makes otherwise by a value than llmaz by the same change of the input."""
    chart, env = folder.parent / f"{folder.name}-chart", _environment(rendered.inputs)
    done = run(["render", "--to", "helm", folder, "-o", chart, *(["--env", env] if env else [])])
    if done.code:
        yield f"render --to helm: {done.err}"
        return
    (chart,) = {path.parent for path in chart.rglob("Chart.yaml")}

    def call(*args: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([helm, *args], capture_output=True, text=True, check=False)

    if "minReplicas: 0" in (chart / "values.yaml").read_text():
        return  # what scales from zero keeps its triggers and timeouts in the chart (docs/helm.md)
    by_values = template(call, chart, replicas(chart, 3))
    changed = copy.deepcopy(rendered.inputs)
    for body in changed:
        scale(3)(body)
    by_input = render_documents(changed, folder)
    if by_input.documents:
        expected = objects("---\n".join(by_input.texts.values()))
        for key in sorted(by_values.keys() | expected.keys()):
            if by_values.get(key) != expected.get(key):
                yield f"a Helm value makes another {'/'.join(key[1:])} than the input"
    render_documents(rendered.inputs, folder)


def pooled_wrongly(rendered: Rendered, folder: Path) -> Iterator[str]:
    """What `llmaz nodepools` fails by: an answer and a refusal with a code are both right."""
    env = _environment(rendered.inputs)
    done = run(["nodepools", folder, *(["--env", env] if env else [])])
    if done.code not in (0, 2) or (done.code == 2 and not any(mark in done.err for mark in ("[E", "[W"))):
        yield f"nodepools: {done.err}"


def named_otherwise(rendered: Rendered, others: Rendered, names: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Objects that differ by more than names. `others`: the same tree with other names, by `names`."""
    texts: dict[str, str] = {}
    for path, text in others.texts.items():
        for new, old in names:
            path, text = path.replace(new, old), text.replace(new, old)
        texts[path] = _HASH.sub("", text)
    for path in sorted(texts.keys() | rendered.texts.keys()):
        if not _BUCKET.search(path) and texts.get(path) != _HASH.sub("", rendered.texts.get(path, "")):
            yield f"other names make another {path}"


def _environment(inputs: Sequence[Node]) -> str:
    return next(iter(inputs[0]["spec"].get("environments") or {}), "")
