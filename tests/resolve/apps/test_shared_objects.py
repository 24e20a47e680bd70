"""What apps share: one file a namespace and one for the cluster, by whole runs only."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from renderer import resolve, workers
from renderer.api import Inputs, RenderConfig
from renderer.diagnostics import NamedSource
from renderer.load.index import InputIndex
from renderer.load.parsing import ParsedDocument, ParsedFile
from renderer.output import manifest_files
from renderer.output.file_header import header
from renderer.output.manifest_files import OutputFile
from renderer.plan import Manifest, ModelNeed, MonitorNeed, NameClaim, SharedNeed, SharedPlan
from renderer.source.tree import InputFile
from renderer.yamlio import parse
from tests.inputs import CONFIG, gguf_model, playground

if TYPE_CHECKING:
    from tests.conftest import Llmaz

FED = "autoscaling: {metricSource: {type: prometheusAdapter}}"
SHARED = {"_cluster.yaml", "team-a/_shared.yaml", "team-b/_shared.yaml"}


def configured(spec: str) -> str:
    """A RenderConfig with these keys."""
    return f"{CONFIG}{{{spec}}}\n"


def tree(folder: Path, spec: str = f"{FED}, flavorPolicy: inftyai") -> None:
    """Two teams with an app and a model each."""
    (folder / "llmaz.yaml").write_text(configured(spec))
    for team in ("team-a", "team-b"):
        (folder / team).mkdir()
        text = gguf_model(f"m-{team}") + "---\n"
        text += playground(f"chat-{team}", team, f"m-{team}", "llamacpp")
        (folder / team / "chat.yaml").write_text(text)


def texts(folder: Path) -> dict[str, tuple[str, int]]:
    """Every file below the folder, with its time of change."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): (path.read_text(), path.stat().st_mtime_ns) for path in files}


def models(text: str) -> list[str]:
    return [body["metadata"]["name"] for body in yaml.safe_load_all(text)]


# --- whole runs


def test_a_whole_run_writes_and_prunes_them(folder: Path, llmaz: Llmaz) -> None:
    tree(folder)
    done = llmaz("render")
    assert (done.counts["new"], done.counts["objects"]) == (5, 16)
    files = texts(folder / "rendered")
    assert files.keys() == {"team-a/chat-team-a.yaml", "team-b/chat-team-b.yaml", *SHARED}
    for path in SHARED:
        assert files[path][0].startswith(header("llmaz.yaml"))
    assert models(files["_cluster.yaml"][0]) == ["m-team-a", "m-team-b"]
    assert llmaz("render").counts["unchanged"] == 5
    # The last app of a namespace takes its file along; the cluster's loses one model.
    (folder / "team-b" / "chat.yaml").unlink()
    done = llmaz("render")
    assert (done.counts["changed"], done.counts["gone"]) == (1, 2)
    left = texts(folder / "rendered")
    assert left.keys() == {"_cluster.yaml", "team-a/_shared.yaml", "team-a/chat-team-a.yaml"}
    assert models(left["_cluster.yaml"][0]) == ["m-team-a"]
    assert left["team-a/_shared.yaml"] == files["team-a/_shared.yaml"]
    assert (
        llmaz("render", "--set", "autoscaling.metricSource.type=none", "--set", "flavorPolicy=auto").counts["gone"] == 2
    )


def test_another_model_leaves_the_namespace_alone(folder: Path, llmaz: Llmaz) -> None:
    """The PodMonitor's text does not depend on which models are there."""
    tree(folder, FED)
    assert llmaz("render").code == 0
    before = texts(folder / "rendered")
    more = playground("more", "team-a", "m-team-b", "llamacpp") + "  servedModelName: more\n"
    (folder / "more.yaml").write_text(more)
    assert (llmaz("render").counts["new"], llmaz("render").counts["changed"]) == (1, 0)
    assert texts(folder / "rendered")["team-a/_shared.yaml"] == before["team-a/_shared.yaml"]


@pytest.mark.parametrize("paths", [["team-a"], ["team-a", "llmaz.yaml"], ["llmaz.yaml", "team-a/chat.yaml"]])
def test_a_part_of_the_tree_leaves_them_alone(paths: list[str], folder: Path, llmaz: Llmaz) -> None:
    """Neither written nor deleted, even where `llmaz.yaml` itself is among the PATHS."""
    tree(folder, f"{FED}, flavorPolicy: inftyai, output: {{kustomization: true}}")
    assert llmaz("render", *paths).counts["new"] == 1
    assert texts(folder / "rendered").keys() == {"team-a/chat-team-a.yaml"}
    assert llmaz("render").code == 0
    whole = texts(folder / "rendered")
    assert whole.keys() > SHARED
    (folder / "team-a" / "chat.yaml").rename(folder / "team-a" / "talk.yaml")
    (folder / "llmaz.yaml").write_text(configured("namespace: x"))
    part = [path.replace("chat", "talk") for path in paths]
    done = llmaz("render", *part)
    assert (done.code, done.counts["changed"], done.counts["gone"]) == (0, 1, 0)
    after = texts(folder / "rendered")
    assert after.keys() == whole.keys()
    for path in (*SHARED, "kustomization.yaml"):
        assert after[path] == whole[path]
    assert llmaz("render", "--check", *part).code == 0
    stale = llmaz("render", "--check")
    assert stale.code == 1
    assert "rendered/_cluster.yaml: to be deleted\n" in stale.err


def test_an_app_of_the_configurations_own_file_is_pruned_with_it(folder: Path, llmaz: Llmaz) -> None:
    """Its header names `llmaz.yaml` as the shared files' do: only the path tells them apart."""
    app = playground("chat", "llm", "qwen3-0--6b-gguf", "llamacpp")
    (folder / "llmaz.yaml").write_text(configured(FED) + "---\n" + app)
    assert llmaz("render").counts["new"] == 2
    (folder / "llmaz.yaml").write_text(configured(FED))
    assert llmaz("render", "llmaz.yaml", "--allow-empty").counts["gone"] == 1
    assert texts(folder / "rendered").keys() == {"llm/_shared.yaml"}


def test_check_and_stdout(folder: Path, llmaz: Llmaz) -> None:
    tree(folder)
    printed = llmaz("render", "--stdout").out
    kinds = [body["kind"] for body in yaml.safe_load_all(printed)]
    assert kinds[:3] == ["OpenModel", "OpenModel", "PodMonitor"]
    assert kinds.count("PodMonitor") == 2
    assert "OpenModel" not in llmaz("render", "--stdout", "team-a").out
    assert llmaz("render", "--check").err.count(": missing\n") == 5
    assert llmaz("render").code == 0
    assert llmaz("render", "--check").code == 0
    file = folder / "rendered" / "team-a" / "_shared.yaml"
    file.write_text(file.read_text() + "# a hand edit\n")
    stale = llmaz("render", "--check")
    assert (stale.code, stale.err.splitlines()[0]) == (1, "rendered/team-a/_shared.yaml: stale")


def test_nothing_is_written_when_only_a_shared_file_is_wrong(folder: Path, llmaz: Llmaz) -> None:
    tree(folder, "autoscaling: {metricSource: {type: prometheusAdapter, podMonitor: {labels: "
        "{app.kubernetes.io/name: x}}}}")  # fmt: skip
    done = llmaz("render")
    assert (done.code, "[E277]" in done.err) == (2, True)
    assert not (folder / "rendered").exists()


def test_every_layout_keeps_their_names(folder: Path, llmaz: Llmaz) -> None:
    tree(folder)
    for layout in ("file", "app", "object"):
        assert llmaz("render", "--set", f"output.layout={layout}").code == 0
        assert {path for path in texts(folder / "rendered") if "_" in path} == SHARED


def test_as_many_processes_as_may_be(folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "llmaz.yaml").write_text(configured(f"{FED}, flavorPolicy: inftyai"))
    for i in range(40):
        app = playground(f"p-{i}", f"ns-{i % 3}", f"m-{i % 9}", "llamacpp")
        app += f"  servedModelName: p-{i}\n"
        (folder / f"app-{i}.yaml").write_text(app + ("---\n" + gguf_model(f"m-{i}") if i < 9 else ""))
    outputs = set()
    for count in (1, 2, 5):
        monkeypatch.setattr(workers, "process_count", lambda items, count=count: max(1, min(count, items)))
        outputs.add(llmaz("render", "--stdout").out)
    assert len(outputs) == 1
    shared = [body for body in yaml.safe_load_all(outputs.pop()) if body["kind"] in ("OpenModel", "PodMonitor")]
    assert [body["metadata"]["name"] for body in shared[:9]] == [f"m-{i}" for i in range(9)]
    assert [body["metadata"]["namespace"] for body in shared[9:]] == ["ns-0", "ns-1", "ns-2"]


FAKE = """\
#!{python}
import json, pathlib, sys
for file in pathlib.Path(sys.argv[-1]).rglob("_shared.yaml"):
    found = dict(filename=str(file), kind="PodMonitor", name="llmaz-engines", msg="",
                 validationErrors=[dict(path="/spec/podMetricsEndpoints/0/interval", msg="too often")])
    print(json.dumps(dict(resources=[found])))
    sys.exit(1)
print(json.dumps(dict(resources=[])))
"""


def test_kubeconform_sees_them(folder: Path, llmaz: Llmaz) -> None:
    tree(folder, "autoscaling: {metricSource: {type: prometheusAdapter, podMonitor: {interval: 1s}}}")
    shutil.rmtree(folder / "team-b")
    program = folder / "judge"
    program.write_text(FAKE.format(python=sys.executable))
    program.chmod(0o755)
    done = llmaz("render", f"--kubeconform={program}", "--format", "json")
    (diagnostic,) = json.loads(done.out)
    assert (done.code, diagnostic["code"], diagnostic["file"], diagnostic["line"]) == (2, "E560", "llmaz.yaml", 4)
    assert diagnostic["field"] == "spec.autoscaling.metricSource.podMonitor.interval"


# --- their text


def manifest(name: str) -> Manifest:
    return Manifest({"kind": "Thing", "metadata": {"name": name}}, dict)


def test_texts() -> None:
    line = header("llmaz.yaml")
    one, two = manifest("a"), manifest("b")
    first, second = (f"kind: Thing\nmetadata:\n  name: {name}\n" for name in "ab")
    assert manifest_files.shared_files(SharedPlan(""), [one, two]) == [
        OutputFile("_cluster.yaml", f"{line}{first}---\n{second}")
    ]
    assert manifest_files.shared_files(SharedPlan("llm"), [one]) == [OutputFile("llm/_shared.yaml", line + first)]
    assert manifest_files.shared_files(SharedPlan("llm"), []) == []


# --- what is decided


def inputs(spec: str, *documents: str) -> Inputs:
    """Inputs of these documents, under a RenderConfig with this spec."""
    (config,), _ = parse("llmaz.yaml", configured(spec).encode())
    gathering = InputIndex(RenderConfig(config.value["spec"], config), "llmaz.yaml")
    for i, text in enumerate(documents):
        read, _ = parse(f"{i}.yaml", text.encode())
        parsed = [ParsedDocument(document.index, document.value, document.value["kind"], True) for document in read]
        file = InputFile(f"{i}.yaml", f"{i}.yaml", f"{i}.yaml")
        gathering.add(file, ParsedFile(text.encode(), 0, parsed, [], False))
    return gathering.inputs()


def test_joints_come_in_order_each_object_once() -> None:
    read = inputs(FED, gguf_model("b"), gguf_model("a"))
    needs: set[SharedNeed] = {
        MonitorNeed("z", "llmaz-engines"),
        ModelNeed("b"),
        MonitorNeed("y", "llmaz-engines"),
        ModelNeed("a"),
    }
    joints, problems = resolve.shared_plans(resolve.run_context(read), needs)
    assert problems == []
    assert [joint.namespace for joint in joints] == ["", "y", "z"]
    assert [model.name for model in joints[0].models] == ["a", "b"]
    assert joints[0].monitor is None
    assert [joint.models for joint in joints[1:]] == [(), ()]
    assert all(joint.monitor and joint.monitor.interval == "15s" for joint in joints[1:])


def test_settings_are_looked_at_even_by_a_part_of_the_tree() -> None:
    joints, problems = resolve.shared_plans(
        resolve.run_context(inputs("autoscaling: {metricSource: {type: none, podMonitor: {}}}")), set()
    )
    assert joints == []
    assert [problem.code for problem in problems] == ["W220"]


def test_a_plan_names_what_it_shares() -> None:
    app = playground("chat", "llm", "m", "llamacpp")
    for spec, expected in {
        FED: {MonitorNeed("llm", "llmaz-engines")},
        "flavorPolicy: inftyai": {ModelNeed("m")},
        "namespace: x": set(),
    }.items():
        read = inputs(spec, gguf_model("m"), app)
        (plan,), problems = resolve.plan(resolve.run_context(read), read.apps[0])
        assert problems == []
        assert plan is not None
        assert {need for need in plan.shared if not isinstance(need, NameClaim)} == expected


def test_a_rule_has_no_place() -> None:
    """Settings of `--set` alone are placed at the flag."""
    config = RenderConfig(
        {"autoscaling": {"metricSource": {"type": "none", "podMonitor": {}}}}, NamedSource("llmaz.yaml")
    )
    run_inputs = InputIndex(config, None).inputs()
    (problem,) = resolve.shared_plans(resolve.run_context(run_inputs), ())[1]
    assert (problem.file, problem.line) == ("llmaz.yaml", 0)


def test_what_we_wrote_is_never_input(folder: Path, llmaz: Llmaz) -> None:
    tree(folder, f"{FED}, flavorPolicy: inftyai, passThrough: ['out/**']")
    assert llmaz("render", "-o", "out/prod").code == 0
    first = {path: text for path, (text, _) in texts(folder / "out/prod").items()}
    done = llmaz("render", "-o", "out/stage", "-v")
    assert done.code == 0, done.err
    assert {path: text for path, (text, _) in texts(folder / "out/stage").items()} == first
    assert done.err.endswith(f"ignored: {len(first)} documents of other kinds\n")


@pytest.mark.parametrize("how", [(), ("--check",)])
def test_a_part_of_the_tree_says_what_it_left_alone(how: tuple[str, ...], folder: Path, llmaz: Llmaz) -> None:
    tree(folder)
    assert llmaz("render").code == 0
    line = "left alone, since other apps share them: rendered/_cluster.yaml, rendered/team-a/_shared.yaml; "
    done = llmaz("render", *how, "team-a")
    assert (done.code, done.err.splitlines()[0]) == (0, line + "run llmaz render without PATHS")
    assert "left alone" not in llmaz("render", *how).err


def test_a_part_of_the_tree_is_rendered_as_the_whole_would(folder: Path, llmaz: Llmaz) -> None:
    tree(folder)
    (folder / "models").mkdir()
    for team in ("team-a", "team-b"):
        model, _, app = (folder / team / "chat.yaml").read_text().partition("---\n")
        (folder / "models" / f"{team}.yaml").write_text(model)
        (folder / team / "chat.yaml").write_text(app)
    assert llmaz("render").code == 0
    for paths in (["team-a"], ["team-a/chat.yaml", "team-b"], ["models"]):
        done = llmaz("render", "--check", *paths)
        assert done.code == 0, done.err
    (folder / "llmaz.yaml").unlink()
    done = llmaz("render", "-o", "out", "team-a")
    assert (done.code, done.err.count("[E203]")) == (2, 1)  # without a tree of ours, PATHS are all there is
