"""Objects of llmaz's API of older releases, in today's shape: a folder of llmaz/ is `input.yaml`, its `expected.yaml`,
`stderr.txt` where something is told, and `release.txt` where the operator's release is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from renderer import yamlio
from renderer.adopt.commented_text import commented_text
from renderer.adopt.conversion_context import conversion_context
from renderer.adopt.llmaz_kinds import convert_llmaz_object
from renderer.adopt.llmaz_objects import AdoptedObjects, adopt_llmaz_objects
from renderer.diagnostics import Diagnostic, has_errors
from renderer.yamlio import BuiltDocument, Document
from tests.paths import TESTS

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz

FOLDER = TESTS / "adopt" / "llmaz"
CASES = sorted(path.parent.name for path in FOLDER.glob("*/input.yaml"))
CODES = {"E960", "W960", "N960", "E961", "N961", "E962", "N962", "E963"}
ODD_VALUES: tuple[object, ...] = (None, True, 7, "x", [], {}, ["x"], {"x": "y"}, [{"x": ["y"]}])


def read(name: str) -> bytes:
    return (FOLDER / name / "input.yaml").read_bytes()


def adopted(name: str, data: bytes) -> tuple[AdoptedObjects, list[Diagnostic]]:
    """What becomes of a case's text, and what is told of it."""
    documents, problems = yamlio.parse("input.yaml", data)
    release = FOLDER / name / "release.txt"
    outcome = adopt_llmaz_objects(documents, release.read_text().strip() if release.exists() else "")
    return outcome, sorted([*problems, *outcome.problems])


def text(outcome: AdoptedObjects) -> str:
    return "---\n".join(commented_text(item.body, item.comments) for item in outcome.objects)


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz, golden: Golden) -> None:
    outcome, problems = adopted(name, read(name))

    golden(f"adopt/llmaz/{name}/expected.yaml", text(outcome))
    if problems:
        golden(f"adopt/llmaz/{name}/stderr.txt", "".join(f"{problem}\n" for problem in problems))
    else:
        assert not (FOLDER / name / "stderr.txt").exists(), "nothing is told any more"

    if outcome.objects and not has_errors(problems):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "adopted.yaml").write_text(text(outcome))
        done = llmaz("validate", "--set", "gateway.mode=off")  # where two apps of a model may share its name
        assert done.code == 0, done.err


@pytest.mark.parametrize("name", CASES)
def test_a_second_conversion_changes_nothing(name: str) -> None:
    first, _ = adopted(name, read(name))
    second, problems = adopted(name, text(first).encode())

    assert [item.body for item in second.objects] == [item.body for item in first.objects]
    if all(item.valid for item in first.objects):
        assert {problem.code for problem in problems} <= {"N960", "N962"}


def test_every_code_is_shown() -> None:
    shown = "".join(path.read_text() for path in FOLDER.glob("*/stderr.txt"))
    assert set(re.findall(r"\[(\w+)\]$", shown, re.MULTILINE)) >= CODES


def test_others_are_passed_on() -> None:
    outcome, _ = adopted("kubectl-list", read("kubectl-list"))
    assert [item.value["kind"] for item in outcome.others] == ["ConfigMap", "HTTPRoute"]


def test_defaults_of_the_crds_mean_the_same_as_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    outcome, _ = adopted("kubectl-list", read("kubectl-list"))
    documents, _ = yamlio.parse("input.yaml", read("kubectl-list"))
    stored = [
        {**item.body, "spec": {key: field for key, field in document.value["spec"].items() if key != "createdAt"}}
        for item, document in zip(outcome.objects, documents[0].objects, strict=False)
    ]
    assert [body["spec"] for body in stored] != [item.body["spec"] for item in outcome.objects]
    manifests = []
    for folder, bodies in (("stored", stored), ("adopted", [item.body for item in outcome.objects])):
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        (tmp_path / folder / "input.yaml").write_text("---\n".join(map(yamlio.dump, bodies)))
        done = llmaz("render", "--stdout")
        assert done.code == 0, done.err
        manifests.append(done.out)
    assert manifests[0] == manifests[1]


def test_what_is_no_object_of_llmaz_is_none() -> None:
    documents, _ = yamlio.parse("input.yaml", read("other-documents"))
    assert len(documents) == 6
    assert [document for document in documents if convert_llmaz_object(document)] == []


def test_the_input_stays_as_it_is() -> None:
    documents, _ = yamlio.parse("input.yaml", read("runtime-arguments"))
    adopt_llmaz_objects(documents)
    again, _ = yamlio.parse("input.yaml", read("runtime-arguments"))
    assert [item.value for item in documents] == [item.value for item in again]


def test_fields_are_located_where_they_stood() -> None:
    outcome, _ = adopted("backend-config", read("backend-config"))
    document = outcome.objects[1].document
    lines = read("backend-config").decode().split("\n")
    for path, word in [
        (("backendName",), "llamacpp"),
        (("args", 0), "-fa"),
        (("args", 1), "-fa"),
        (("args", 2), "--threads"),
        (("resources", "requests", "memory"), "8Gi"),
    ]:
        line, column = document.locate(("spec", "backendRuntimeConfig", *path))
        assert lines[line - 1][column - 1 :].startswith(word)


def test_a_release_that_there_is_not() -> None:
    with pytest.raises(ValueError, match=r"did you mean 'v0\.1\.1'"):
        conversion_context([], "0.1.1")


def mutations(value: Any) -> Iterator[Any]:
    """The value with each field, one at a time, in another type."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from ({**value, key: changed} for changed in (*ODD_VALUES, *mutations(item)))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from ([*value[:i], changed, *value[i + 1 :]] for changed in (*ODD_VALUES, *mutations(item)))


@pytest.mark.parametrize("name", CASES)
def test_no_value_ends_in_a_traceback(name: str) -> None:
    documents, _ = yamlio.parse("input.yaml", read(name))
    for item in (item for document in documents for item in document.objects):
        for value in mutations(item.value):
            odd = with_value(item, value)
            outcome = convert_llmaz_object(odd, conversion_context([odd]))
            assert outcome is None or commented_text(outcome.body, outcome.comments)


def with_value(document: Document, value: object) -> Document:
    """A document with another value, at the places of the first."""
    other = Document(document._file, document.index, value)
    return BuiltDocument(other, lambda path: document.origin(*path))


SOURCES = (
    "s3://bucket/models/qwen3-8b",
    "gs://bucket/models/qwen3-8b",
    "oss://bucket.oss-cn-hangzhou.aliyuncs.com/models/qwen3-8b",
    "oss://bucket.oss-cn-hangzhou.aliyuncs.com/models/qwen3.8b",  # which another loader loads
    "pvc://claim/qwen3-8b",
    "host:///models/qwen3-8b",
)
SERVED = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {{name: qwen3-8b}}
spec:
  familyName: qwen3
  source: {{uri: "{uri}"}}
  inferenceConfig: {{flavors: [{{name: gpu, limits: {{nvidia.com/gpu: 1}}}}]}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {{name: chat, namespace: llm}}
spec:
  modelClaim: {{modelName: qwen3-8b}}
  backendRuntimeConfig: {{backendName: vllm, version: v0.33.0}}
"""


@pytest.mark.parametrize("uri", SOURCES)
def test_the_source_of_a_rendered_loader_is_read(
    uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chat.yaml").write_text(SERVED.format(uri=uri), "utf-8")
    assert llmaz("render").code == 0
    done = llmaz("adopt", "rendered", "-o", "again")
    assert done.code == 0, done.err + done.out
    text = (tmp_path / "again" / "chat.yaml").read_text("utf-8")
    assert f"uri: {uri}\n" in text
    assert "podTemplate" not in text
