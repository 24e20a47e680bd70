"""`llmaz explain` of a line in a rendered file, as reviews print it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cases.test_cases import INPUTS
from tests.inputs import CONFIG

if TYPE_CHECKING:
    from tests.conftest import Llmaz, Outcome

APP = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat, namespace: demo}
spec:
  modelClaim: {modelName: qwen3-8b}
  replicas: 2
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def chat(folder: Path, llmaz: Llmaz) -> Path:
    """A rendered file, and its input `chat.yaml`."""
    (folder / "chat.yaml").write_text(APP)
    assert llmaz("render").code == 0
    return folder / "rendered" / "demo" / "chat.yaml"


def line_of(file: Path, text: str) -> int:
    """The number of the first line that is this text but for its indentation."""
    return [line.strip() for line in file.read_text().splitlines()].index(text) + 1


def same(one: Outcome, other: Outcome) -> bool:
    """Whether both are answers, without a warning, of the same text."""
    assert (one.code, one.err) == (0, "")
    return one == other


def test_every_line_of_a_file(chat: Path, llmaz: Llmaz) -> None:
    """Each line with a value answers with its own field, and that value."""
    texts = chat.read_text().splitlines()
    fields = []
    for number in range(2, len(texts) + 1, 3):
        done = llmaz("explain", f"rendered/demo/chat.yaml:{number}")
        text = texts[number - 1].strip()
        if text == "---":
            assert done.code == 2
            continue
        assert (done.code, done.err) == (0, ""), number
        head, field, *_ = done.out.splitlines()
        key, _, value = text.removeprefix("- ").rpartition(": ")
        if value and not value.endswith(":"):
            assert (key in field, field.rpartition(": ")[2]) == (True, value), number
            fields.append((head, field))
    assert len(set(fields)) == len(fields) > 40


@pytest.mark.parametrize("suffix", ["", ":", ":3", ":3:"])
def test_how_a_place_is_written(suffix: str, chat: Path, llmaz: Llmaz) -> None:
    number = line_of(chat, "replicas: 2")
    expected = llmaz("explain", "lws/demo/chat.spec.replicas")
    assert same(llmaz("explain", f"rendered/demo/chat.yaml:{number}{suffix}"), expected)
    assert same(llmaz("explain", f"./rendered/demo/chat.yaml:{number}{suffix}"), expected)
    assert same(llmaz("explain", f"{chat}:{number}{suffix}"), expected)


@pytest.mark.parametrize("config", [False, True])
def test_from_another_folder(
    config: bool, chat: Path, folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a `llmaz.yaml` also by the path from the top, as a review has it."""
    number = line_of(chat, "replicas: 2")
    (folder / "sub").mkdir()
    if config:
        (folder / "llmaz.yaml").write_text(CONFIG + "{}\n")
    monkeypatch.chdir(folder / "sub")
    for place in ("../rendered/demo/chat.yaml", str(chat), *(["rendered/demo/chat.yaml"] if config else [])):
        done = llmaz("explain", f"{place}:{number}")
        assert (done.code, done.err) == (0, ""), place
        assert "spec.replicas: 2" in done.out
    monkeypatch.chdir("/")
    assert "spec.replicas: 2" in llmaz("explain", f"{chat}:{number}").out


def test_a_file_is_its_objects(chat: Path, llmaz: Llmaz) -> None:
    assert same(llmaz("explain", "rendered/demo/chat.yaml"), llmaz("explain", "chat"))
    assert same(
        llmaz("explain", "rendered/demo/chat.yaml", "--format", "json"), llmaz("explain", "chat", "--format=json")
    )


@pytest.mark.parametrize("layout", ["file", "app", "object"])
def test_layouts(layout: str, folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(APP)
    (folder / "llmaz.yaml").write_text(CONFIG + f"{{output: {{layout: {layout}}}}}\n")
    assert llmaz("render").code == 0
    files = sorted((folder / "rendered").rglob("*.yaml"))
    assert len(files) == (7 if layout == "object" else 1)
    for file in files:
        done = llmaz("explain", str(file.relative_to(folder)))
        assert (done.code, done.err) == (0, "")
        assert done.out.count("made for Playground demo/chat") == file.read_text().count("\napiVersion: ")


@pytest.mark.parametrize(
    ("case", "file", "heading"),
    [
        ("routes-packed", "_routes-0.yaml", "AIGatewayRoute/"),
        ("example-gateway-auth", "_cluster.yaml", "GatewayClass/"),
        ("example-gateway-auth", "_shared.yaml", "EnvoyProxy/"),
        ("example-fallback-external", ".route.yaml", "Backend/"),
    ],
)
def test_files_of_several_apps(case: str, file: str, heading: str, folder: Path, llmaz: Llmaz) -> None:
    shutil.copytree(INPUTS[case], folder, dirs_exist_ok=True)
    assert llmaz("render").code == 0
    path = next(path for path in sorted((folder / "rendered").rglob("*.yaml")) if path.name.endswith(file))
    for place in (path, f"{path}:2", f"{path}:{len(path.read_text().splitlines())}"):
        done = llmaz("explain", str(place))
        assert (done.code, done.err) == (0, "")
    assert llmaz("explain", f"{path}:2").out.startswith(heading)


def test_the_environment_stands_in_the_path(folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(APP)
    patch = "{playgrounds: {chat: {replicas: 5}}}"
    (folder / "llmaz.yaml").write_text(CONFIG + f"{{environments: {{dev: {{}}, prod: {patch}}}}}\n")
    assert llmaz("render").code == 0
    for env, count in (("dev", 2), ("prod", 5)):
        number = line_of(folder / f"rendered/{env}/demo/chat.yaml", f"replicas: {count}")
        done = llmaz("explain", f"rendered/{env}/demo/chat.yaml:{number}")
        assert (done.code, done.err) == (0, "")
        assert f"spec.replicas: {count}" in done.out
    done = llmaz("explain", f"rendered/prod/demo/chat.yaml:{number}", "--env", "dev")
    assert "[W223]" in done.err, "what is named counts"


def test_a_text_of_several_lines(folder: Path, llmaz: Llmaz) -> None:
    """A line inside of it is part of its field."""
    shutil.copytree(INPUTS["engine-parts"], folder, dirs_exist_ok=True)
    assert llmaz("render").code == 0
    count = 0
    for file in sorted((folder / "rendered").rglob("*.yaml")):
        texts = file.read_text().splitlines()
        for number, text in enumerate(texts, 1):
            if text.endswith((": |", ": |-")):
                count += 1
                done = llmaz("explain", f"{file}:{number + 1}")
                assert done == llmaz("explain", f"{file}:{number}")
                assert done.code == 0
    assert count


def test_a_line_of_a_file_of_models(folder: Path, llmaz: Llmaz) -> None:
    """It is of the option that stands in it."""
    shutil.copytree(INPUTS["example-several-models"], folder, dirs_exist_ok=True)
    assert llmaz("render").code == 0
    file = folder / "rendered" / "llm" / "router.yaml"
    done = llmaz("explain", f"{file}:{line_of(file, 'parallel = 8')}")
    assert "data[models.ini]: parallel = 8\n\nmade of router.yaml:14:16: spec.modelClaims.models[1].args[0]" in done.out
    done = llmaz("explain", f"{file}:{line_of(file, 'load-on-startup = true')}")
    assert "router.yaml:12:18: spec.modelClaims.models[0].preload" in done.out


def test_a_stale_file(chat: Path, folder: Path, llmaz: Llmaz) -> None:
    """The answer is about the same field as it is now; lists go by the names of their items."""
    number = line_of(chat, "- name: model-runner")
    (folder / "chat.yaml").write_text(APP.replace("replicas: 2", "replicas: 3"))
    for place in ("rendered/demo/chat.yaml", f"rendered/demo/chat.yaml:{number}"):
        done = llmaz("explain", place)
        assert (done.code, "[W223]" in done.err) == (0, True)
    done = llmaz("explain", f"rendered/demo/chat.yaml:{line_of(chat, 'replicas: 2')}")
    assert (done.code, "spec.replicas: 3" in done.out) == (0, True)
    after = line_of(chat, "kind: Service") - 1
    assert llmaz("explain", f"rendered/demo/chat.yaml:{after}").err == "", "that object is as it was"


def test_a_stale_argument(folder: Path, llmaz: Llmaz) -> None:
    """An argument is found where it stands now, and refused where it is no longer there."""
    text = APP + "  backendRuntimeConfig: {args: [--seed, '7']}\n"
    (folder / "chat.yaml").write_text(text)
    assert llmaz("render").code == 0
    number = line_of(folder / "rendered/demo/chat.yaml", "- --seed")
    (folder / "chat.yaml").write_text(text.replace("[--seed", "[--enable-lora, --seed"))
    done = llmaz("explain", f"rendered/demo/chat.yaml:{number}")
    assert done.out.splitlines()[1].endswith(": --seed")
    (folder / "chat.yaml").write_text(APP)
    done = llmaz("explain", f"rendered/demo/chat.yaml:{number}")
    assert (done.code, done.out, "[E229]" in done.err) == (2, "", True)


def test_an_object_that_lacks_in_the_file(chat: Path, llmaz: Llmaz) -> None:
    head, _, _ = chat.read_text().rpartition("\n---\n")
    chat.write_text(head + "\n")
    assert "[W223]" in llmaz("explain", "rendered/demo/chat.yaml").err


def test_broken_input(chat: Path, folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(APP.replace("qwen3-8b", "qwen3-8"))
    done = llmaz("explain", "rendered/demo/chat.yaml:5")
    assert (done.code, done.out, "[E203]" in done.err) == (2, "", True)


def test_an_object_is_no_file(chat: Path, llmaz: Llmaz) -> None:
    """A field may end as a file does."""
    assert "[E773]" in llmaz("explain", "lws/chat.yaml").err


def test_a_note_about_the_settings_is_no_reason_to_refuse(chat: Path, folder: Path, llmaz: Llmaz) -> None:
    """By name and by a line of a file."""
    (folder / "llmaz.yaml").write_text(f"{CONFIG}\n  gateway: {{replicas: 3}}\n")
    rendered = llmaz("render")
    assert (rendered.code, "[N589]" in rendered.err) == (0, True)
    for what in ("lws/chat.spec.replicas", f"{chat.relative_to(folder)}:3"):
        done = llmaz("explain", what)
        assert (done.code, done.err) == (0, ""), what
        assert done.out
