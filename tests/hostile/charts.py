"""`python -m tests.hostile.charts --count 5000`: hostile text in every field, and whether Helm gives it back as text.

Each input has one of forty texts in one field of an input kind, or of an object that is passed through. Those that
render become charts; what the real Helm makes of them has to be what `llmaz render` makes, value by value. Exit status
1 when it is not; the same inputs for the same seed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeAlias

import click
import yaml
from yaml import CSafeLoader

from renderer import load, pipeline, yamlio
from renderer.api import RenderOptions
from renderer.diagnostics import RenderError
from renderer.integrations.helm.files import files
from renderer.output.manifest_files import OutputFile
from renderer.source.memory import memory_tree
from tests.hostile.bases import base, passed_through
from tests.hostile.text_fields import KINDS, Field, at, fields, put
from tests.inputs import document
from tests.programs import tool

Node: TypeAlias = Any
TREE, CHARTS = 60, 60  # inputs of a chart; charts of one run of Helm
TEXTS = (
    '{{ fail "PWN" }}',
    '{{ lookup "v1" "Secret" "" "" }}',
    'x.y" }}{{ fail "PWN" }}{{ "/z',
    "a.b`/{{ `{{`}}",
    "{{/* no comment */}}",
    "{{- .Values -}}",
    "{{",
    "}}",
    "{",
    "{{{`",
    "{{`{{`}}",
    "{% raw %}{# x #}",
    " #llmaz:0#",
    " #llmaz:0!#",
    " #llmaz:9999#",
    "`",
    '"',
    "'",
    '\\"; x',
    "\\",
    "\\n\\x61\\u0061",
    "$(POD_NAME)",
    "$$(A)",
    "$(touch pwned)",
    "${HOME:-x}",
    "$x `id` !!",
    "a\nb: {{ c }}\n",
    "a\n---\nkind: Secret\n",
    "\n# Source: x\n\n",
    "|-\n {{ a",
    "\x00",
    "\x1b[2J",
    "\u2028x\u2029\x85",
    "\ufeff\u202e",
    "\U0001f999é漢",
    ": #- ? [a]",
    "NaN",
    "{a.n0.svc.cluster.local",
    'up{namespace="n0"} or {{ x }}',
    "{{ x }}" * 1500,
)


class Input(NamedTuple):
    """Documents with the text in one field. `namespace`: where its objects are; `at`: the field and the text."""

    namespace: str
    field: str
    text: str
    documents: list[Node]
    passed: list[Node]


class Chart(NamedTuple):
    """The files of a chart, and the rendered texts that it has to come to."""

    name: str
    inputs: Sequence[Input]
    files: Sequence[OutputFile]
    texts: Sequence[OutputFile]


class Report(NamedTuple):
    """What came of all inputs. `refused`: by the program itself, with an error; `faults`: in words."""

    inputs: int
    refused: int
    files: int
    fields: int
    faults: list[str]


def texts_of(random: Random, number: int) -> str:
    """A hostile text, at times in the midst of a harmless one."""
    text = TEXTS[number % len(TEXTS)]
    return random.choice([text, text, f"a{text}", f"{text}a", f"a.b/{text}", f"{text}.b/c"])


def leaves(value: Node, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The places of text in a value."""
    if isinstance(value, str):
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from leaves(inner, (*path, key))


def inputs(count: int, seed: int) -> Iterator[Input]:
    """So many inputs: every field in turn, in another order for each seed."""
    random = Random(seed)
    every: list[Field | None] = [field for kind in KINDS for field in fields(kind)]
    every += [None] * (len(every) // 5)  # objects that are passed through
    random.shuffle(every)
    offset = random.randrange(len(TEXTS))
    for i in range(count):
        yield made_input(i, every[i % len(every)], texts_of(random, i + i // len(every) + offset), random)


def made_input(i: int, field: Field | None, text: str, random: Random) -> Input:
    """The documents that a field needs, with the text in it; without a field, objects that are passed through."""
    documents = base(i)
    kinds = {"openmodel", "playground"}
    passed: list[Node] = []
    if field is None:
        passed = passed_through(i)
        for body in passed:
            spoil(body, i, random)
        return Input(f"n{i}", "passed through", text, [documents["openmodel"]], passed)
    put(field, text, documents[field.kind])
    beside(field, documents)
    kinds.add(field.kind)
    if field.kind == "service":
        kinds.discard("playground")
    if field.kind == "backendruntime":
        documents["playground"]["spec"]["backendRuntimeConfig"]["backendName"] = f"b{i}"
    return Input(f"n{i}", field.name, text, [documents[kind] for kind in sorted(kinds)], passed)


def spoil(body: Node, i: int, random: Random) -> None:
    """Puts a text into each field of an object but its kind and name; each text of each field comes up in turn."""
    paths = [path for path in leaves(body) if path[:1] not in (("apiVersion",), ("kind",), ("metadata",))]
    for position, (*way, last) in enumerate([*paths, ("metadata", "annotations", "a")]):
        if random.random() < 0.8:
            at(body, way)[last] = texts_of(random, i + position)


def beside(field: Field, documents: Mapping[str, Node]) -> None:
    """Writes what no schema asks for and the field needs: names that are known, volumes, a pool."""
    spec = documents[field.kind]["spec"]
    if field.path[1] == "disaggregation":
        spec["gateway"] = {"mode": "pool"}
        spec["backendRuntimeConfig"] = {"backendName": "vllm"}
        flavor = {"name": "g", "limits": {"nvidia.com/gpu": 1}}
        documents["openmodel"]["spec"]["inferenceConfig"] = {"flavors": [flavor]}
        del documents["openmodel"]["spec"]["source"]["modelHub"]["filename"]
        for role in ("prefill", "decode"):
            spec["disaggregation"].setdefault(role, {})
    for position, step in enumerate(field.path):
        if step in ("containers", "initContainers") and field.path[position + 1 :] != (0, "name"):
            pod = at(documents[field.kind], field.path[:position])
            if field.path[position + 2 :] != ("name",):
                pod[step][0]["name"] = "b" if step == "initContainers" else "model-runner"
            if step == "initContainers":
                pod[step][0].setdefault("image", "b")
            if "volumeMounts" in field.path:
                pod.setdefault("volumes", []).append({"name": "a", "emptyDir": {}})
    if field.path[1] == "provider":
        spec["backends"][0].pop("playground", None)


def chart(batch: Sequence[Input], name: str, config: Node = None) -> tuple[Chart | None, int]:
    """The chart of those inputs that render under this RenderConfig, and the number of those that do not."""
    own = {"passThrough": ["own/**"], "targets": {"kubernetes": "1.37"}}
    config = config or document("RenderConfig", "config", own)
    environments = config["spec"].get("environments")
    env = next(iter(environments)) if isinstance(environments, dict) and environments else ""
    left = {f"i{i}.yaml": item for i, item in enumerate(batch)}
    while left:
        options = RenderOptions(("/t",), file_system=memory_tree("/t", tree(left, config)), texts=True, env=env)
        try:
            result = pipeline.render(options)
            chart_files, problems = files(result.texts, load.scope(options).config)
            problems = [*result.problems, *problems]
        except RenderError as error:
            chart_files, problems = [], error.problems
        wrong = {os.path.basename(problem.file) for problem in problems if problem.forbids()}
        if not wrong:
            return Chart(name, [*left.values()], chart_files, result.texts), len(batch) - len(left)
        left = {path: item for path, item in left.items() if wrong & left.keys() and path not in wrong}
    return None, len(batch)


def tree(items: Mapping[str, Input], config: Node) -> dict[str, bytes]:
    """The files of inputs, each of which has one, or two."""
    contents = {"llmaz.yaml": yamlio.dump(config).encode()}
    for path, item in items.items():
        contents[path] = yamlio.dump(*item.documents).encode()
        if item.passed:
            contents[f"own/{path}"] = as_written(item.passed, len(item.namespace + item.text) % 2).encode()
    return contents


def as_written(bodies: Sequence[Node], escaped: int) -> str:
    """The objects as a file, in which an `a` may be an escape."""
    if not escaped:
        return yamlio.dump(*bodies)
    return "---\n".join(json.dumps(body).replace("a", "\\u0061") + "\n" for body in bodies)


def objects(text: str) -> list[str]:
    """The objects of a stream, in an order of their own."""
    return sorted(json.dumps(body, sort_keys=True, default=str) for body in yaml.load_all(text, CSafeLoader) if body)


def templated(helm: str, charts: Sequence[Chart], folder: Path) -> dict[str, str] | str:
    """What Helm makes of charts that are parts of one, by their names; what it says where it fails."""
    parent = folder / "parent"
    parent.mkdir()
    (parent / "Chart.yaml").write_text("{apiVersion: v2, name: parent, version: 1.0.0}\n", "utf-8")
    for item in charts:
        for file in item.files:
            path = parent / "charts" / item.name / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            text = re.sub("(?m)^name: .*", f"name: {item.name}", file.text) if file.path == "Chart.yaml" else file.text
            path.write_text(text, "utf-8", newline="")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("HELM_", "KUBE"))}
    done = subprocess.run([helm, "template", "r", parent], env=environment, capture_output=True, check=False)
    shutil.rmtree(parent)
    if done.returncode:
        return done.stderr.decode("utf-8", "replace")
    texts: dict[str, list[str]] = {}
    parts = re.split(r"^---\n# Source: parent/charts/(\w+)/templates/.*\n", done.stdout.decode(), flags=re.MULTILINE)
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        texts.setdefault(name, []).append(text)
    return {name: "---\n".join(documents) for name, documents in texts.items()}


def differences(item: Chart, text: str) -> list[str]:
    """What Helm made of a chart and should not have, or the other way round."""
    plain = objects("".join(f"---\n{file.text}" for file in item.texts if file.path != "kustomization.yaml"))
    try:
        rendered = objects(text)
    except yaml.YAMLError as error:
        return [f"{item.name}: no YAML: {str(error)[:300]!r}"]
    lost, more = Counter(plain) - Counter(rendered), Counter(rendered) - Counter(plain)
    return [f"{item.name}: {what} {body[:2000]!r}" for what, some in (("lost", lost), ("more", more)) for body in some]


def judged(helm: str, charts: Sequence[Chart]) -> list[str]:
    """The faults of charts. Where Helm refuses all of them together, those that it refuses are looked for."""
    if not charts:
        return []
    with tempfile.TemporaryDirectory(prefix="charts-") as folder:
        texts = templated(helm, charts, Path(folder))
    if isinstance(texts, dict):
        return [fault for item in charts for fault in differences(item, texts.get(item.name, ""))]
    if len(charts) > 1:
        middle = len(charts) // 2
        return [*judged(helm, charts[:middle]), *judged(helm, charts[middle:])]
    [item] = charts
    fields_of = ", ".join(f"{input_.field}={input_.text[:40]!r}" for input_ in item.inputs[:3])
    if len(item.inputs) > 1:
        smaller = [chart([input_], f"{item.name}x{i}")[0] for i, input_ in enumerate(item.inputs)]
        return [fault for part in smaller if part for fault in judged(helm, [part])] or [f"{item.name}: {texts[-300:]}"]
    return [f"{item.name} ({fields_of}): {texts[-300:]}"]


def run(helm: str, count: int, seed: int) -> Report:
    """All of it."""
    plain: list[Input] = []
    charts: list[Chart] = []
    faults: list[str] = []
    refused = rendered = 0
    everything = list(inputs(count, seed))

    def take(batch: Sequence[Input], config: Node = None) -> None:
        nonlocal refused, rendered
        item, failed = chart(batch, f"c{len(charts)}x{rendered}", config)
        refused += failed
        if item:
            charts.append(item)
            rendered += len(item.texts)
        if len(charts) >= CHARTS:
            faults.extend(judged(helm, charts))
            charts.clear()

    for item in everything:
        if item.field.startswith("renderconfig."):
            [config] = [body for body in item.documents if body["kind"] == "RenderConfig"]
            rest = [body for body in item.documents if body is not config]
            take([item._replace(documents=rest)], config)
        else:
            plain.append(item)
    for start in range(0, len(plain), TREE):
        take(plain[start : start + TREE])
    faults += judged(helm, charts)
    return Report(count, refused, rendered, len({item.field for item in everything}), faults)


def main() -> int:
    """See above."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.charts", description=__doc__)
    parser.add_argument("--count", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    report = run(str(tool("helm")), options.count, options.seed)
    for fault in report.faults:
        click.echo(ascii(fault))
    click.echo(
        f"{report.inputs:,} inputs over {report.fields:,} fields: {report.refused:,} refused, "
        f"{report.files:,} files, {len(report.faults)} faults"
    )
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
