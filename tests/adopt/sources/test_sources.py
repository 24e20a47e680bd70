"""What KServe's and production-stack's inputs become: each folder here is an `input.yaml`, with the workloads that are
read out of it in `expected.yaml`, the places of the fields of their templates in `places.txt`, and what is told in
`stderr.txt`. `pytest --snapshot-update` writes what is expected.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from renderer import yamlio
from renderer.adopt.kserve import read_kserve
from renderer.adopt.production_stack import read_production_stack
from renderer.adopt.serving_workload import ServingWorkload
from renderer.diagnostics import Diagnostic, dotted, told_problems
from renderer.diagnostics import Path as FieldPath
from tests.paths import TESTS

if TYPE_CHECKING:
    from tests.conftest import Golden

SOURCES = TESTS / "adopt" / "sources"
CASES = sorted(path.parent.name for path in SOURCES.glob("*/input.yaml"))
FILES = ("expected.yaml", "places.txt", "stderr.txt")
ODD: tuple[Any, ...] = (None, 5, "x", [], {}, [1], {"a": 1}, True, "{{ .Spec.Model.Name }}", [{}], [["a"]])


def read(data: bytes) -> tuple[list[ServingWorkload], list[Diagnostic]]:
    """What both readers make of a file."""
    documents, problems = yamlio.parse("input.yaml", data)
    assert problems == []
    objects = [item for document in documents for item in document.objects]
    results = [reader(objects) for reader in (read_kserve, read_production_stack)]
    return [workload for result in results for workload in result[0]], told_problems(results[0][1] + results[1][1])


def record(workload: ServingWorkload) -> dict[str, Any]:
    """A workload as a body, without what is empty."""
    model = workload.model
    body = {
        "kind": workload.kind,
        "name": workload.name,
        "namespace": workload.namespace,
        "labels": dict(workload.labels),
        "annotations": dict(workload.annotations),
        "replicas": workload.replicas,
        "rollout": dict(workload.rollout),
        "model": model
        and {
            "uri": model.uri,
            "name": model.name,
            "path": model.path,
            "adapters": [{"name": name, "uri": uri} for name, uri in model.adapters],
        },
        "engine": workload.engine,
        "spec": dict(workload.spec),
        "hosts": workload.hosts,
        "leaderTemplate": workload.leader_template,
        "template": workload.template,
    }
    return {key: value for key, value in body.items() if value not in (None, "", {})}


def leaves(value: object, path: FieldPath = ()) -> Iterator[FieldPath]:
    """The paths of all values that are no map or list with something in it."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list) and value:
        for i, item in enumerate(value):
            yield from leaves(item, (*path, i))
    else:
        yield path


def places(workload: ServingWorkload) -> Iterator[str]:
    """Where each field of the templates stands."""
    sides = [("template", workload.template, workload.origin_of)]
    if workload.leader_template and workload.leader_origin_of:
        sides.append(("leaderTemplate", workload.leader_template, workload.leader_origin_of))
    for name, template, origin_of in sides:
        for path in leaves(template):
            file, line, column = origin_of(path).place
            yield f"{workload.name} {name}.{dotted(path)}: {file}:{line}:{column}\n"


@pytest.mark.parametrize("name", CASES)
def test_source(name: str, golden: Golden) -> None:
    workloads, diagnostics = read((SOURCES / name / "input.yaml").read_bytes())
    texts = (
        yamlio.dump(*map(record, workloads)) if workloads else "",
        "".join(line for workload in workloads for line in places(workload)),
        "".join(f"{diagnostic}\n" for diagnostic in diagnostics),
    )
    for file, text in zip(FILES, texts, strict=True):
        if text:
            golden(f"adopt/sources/{name}/{file}", text)
        else:
            assert not (SOURCES / name / file).exists()


def test_each_code_is_shown() -> None:
    """E965, W965, W966, W967, W968, W969, N965, N966 and N967."""
    text = "".join(path.read_text("utf-8") for path in SOURCES.glob("*/stderr.txt"))
    for code in ("E965", "W965", "W966", "W967", "W968", "W969", "N965", "N966", "N967"):
        assert f"[{code}]" in text


@pytest.mark.parametrize(
    "secret",
    [
        "pass-of-nobody7",
        "TokenOfNobody",
        "8c5d1f7a9e3b2c4d",
        "correct-horse",
        "notARealToken",
        "wJalrXUtn",
        "not-to-be-seen",
    ],
)
def test_secrets_are_written_nowhere(secret: str) -> None:
    assert any(secret in path.read_text("utf-8") for path in SOURCES.glob("*/input.yaml"))
    assert not any(secret in path.read_text("utf-8") for file in FILES for path in SOURCES.glob(f"*/{file}"))


def nodes(value: object, path: FieldPath = ()) -> Iterator[FieldPath]:
    """The paths of all values below a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from nodes(item, (*path, key))


@pytest.mark.parametrize("name", CASES)
def test_odd_values_end_in_no_traceback(name: str) -> None:
    """Each value in turn is something else."""
    documents, _ = yamlio.parse("input.yaml", (SOURCES / name / "input.yaml").read_bytes())
    bodies = [document.value for document in documents]
    for number, path in enumerate(nodes(bodies)):
        odd = copy.deepcopy(bodies)
        parent: Any = odd
        for part in path[:-1]:
            parent = parent[part]
        parent[path[-1]] = ODD[number % len(ODD)]
        workloads, _ = read(yamlio.dump(*[body if isinstance(body, dict) else {} for body in odd]).encode())
        for workload in workloads:
            record(workload)
            assert [*places(workload)]


def test_nesting_is_no_work() -> None:
    """Values as deep as YAML may be, and many references to one config."""
    deep: Any = "x"
    for _ in range(45):
        deep = {"a": [deep]}
    service = {
        "apiVersion": "serving.kserve.io/v1alpha2",
        "kind": "LLMInferenceService",
        "metadata": {"name": "deep"},
        "spec": {
            "model": {"uri": "hf://a/b"},
            "template": {"containers": [{"name": "main", "env": deep}], "affinity": deep},
            "baseRefs": [{"name": "base"}] * 2_000,
        },
    }
    config = {
        **service,
        "kind": "LLMInferenceServiceConfig",
        "metadata": {"name": "base"},
        "spec": {"labels": {"a": "{{" * 9_000}},
    }
    workloads, diagnostics = read(yamlio.dump(service, config).encode())
    assert [workload.name for workload in workloads] == ["deep"]
    assert diagnostics


def test_goldens_lie_in_folders_with_an_input() -> None:
    assert sorted(path.name for path in SOURCES.iterdir() if path.is_dir() and path.name != "__pycache__") == CASES
    assert all(path.name in (*FILES, "input.yaml") for name in CASES for path in Path(SOURCES / name).iterdir())
