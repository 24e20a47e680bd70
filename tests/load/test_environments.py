"""Environments: how patches merge, where what they say stands, and which folders a run answers for.

What is refused, with its place, stands in errors/environment-*; how patched input renders in cases/environments-*.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from renderer import load, yamlio
from renderer.api import RenderOptions
from renderer.load.environments import PatchMerge
from renderer.pipeline import render
from renderer.source.commit import commit_tree
from tests.inputs import CONFIG, playground
from tests.paths import ROOT

if TYPE_CHECKING:
    from tests.conftest import Llmaz

EXAMPLE = ROOT / "examples" / "environments"
HEAD = f"{CONFIG}\n"
QUIET = HEAD + "  backend: llamacpp\n  gateway: {mode: off}\n"


def lay(config: str, *names: str) -> None:
    """Writes llmaz.yaml, and a file with a Playground for each name."""
    Path("llmaz.yaml").write_text(config)
    for name in names or ("chat",):
        Path(f"{name}.yaml").write_text(playground(name, "llm"))


def files(folder: str = "rendered") -> dict[str, str]:
    """Every file below the folder, with its text."""
    root = Path(folder)
    return {path.relative_to(root).as_posix(): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()}


def replicas(env: str, app: str = "chat") -> Any:
    """What the rendered LeaderWorkerSet of an environment has."""
    documents, problems = yamlio.parse("", Path(f"rendered/{env}/llm/{app}.yaml").read_bytes())
    assert not problems
    (workload,) = [document.value for document in documents if document.value["kind"] == "LeaderWorkerSet"]
    return workload["spec"]["replicas"]


# Merging


@pytest.mark.parametrize(
    ("base", "patch", "expected"),
    [
        ({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"c": 4}, "e": 5}, {"a": 1, "b": {"c": 4, "d": 3}, "e": 5}),
        ({"a": 1, "b": 2}, {"a": None}, {"b": 2}),
        ({"a": {"b": 1}}, {"a": {"b": None}}, {"a": {}}),
        ({"a": None}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": 1}, {"a": {"b": {"c": None, "d": 2}}}, {"a": {"b": {"d": 2}}}),
        ({"a": {"b": 1}}, {"a": 2}, {"a": 2}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": [1]}, {"a": []}, {"a": []}),
        ({"a": [{"name": "x"}]}, {"a": []}, {"a": []}),
        ({"a": [{"name": "x", "v": 1}, {"name": "y"}]}, {"a": [{"name": "y", "v": 2}, {"name": "z"}]},
         {"a": [{"name": "x", "v": 1}, {"name": "y", "v": 2}, {"name": "z"}]}),
        ({"a": [{"name": "x", "v": 1, "w": 2}]}, {"a": [{"name": "x", "v": None}]}, {"a": [{"name": "x", "w": 2}]}),
        ({"a": [{"name": "x"}, {"key": "y"}]}, {"a": [{"name": "x"}]}, {"a": [{"name": "x"}]}),
        ({"a": [{"name": "x", "v": 1}]}, {"a": [{"name": "x"}, {"key": "y"}]}, {"a": [{"name": "x"}, {"key": "y"}]}),
        ({"a": [{"name": "x", "v": 1}]}, {"a": [{"name": 1}]}, {"a": [{"name": 1}]}),
        ({"a": [{"name": "x", "b": [{"name": "y", "v": 1}]}]}, {"a": [{"name": "x", "b": [{"name": "y", "w": 2}]}]},
         {"a": [{"name": "x", "b": [{"name": "y", "v": 1, "w": 2}]}]}),
        ({"a": [{"name": "x", "v": 1}, {"name": "x", "v": 2}]}, {"a": [{"name": "x", "w": 3}]},
         {"a": [{"name": "x", "v": 1, "w": 3}, {"name": "x", "v": 2}]}),
        ({}, {"a": [{"name": "n", "v": 1}, {"name": "n"}]}, {"a": [{"name": "n", "v": 1}, {"name": "n"}]}),
    ],
)  # fmt: skip
def test_merge(base: Any, patch: Any, expected: Any) -> None:
    before = copy.deepcopy((base, patch))
    assert PatchMerge().merge(base, patch, (), ("at",)) == expected
    assert (base, patch) == before


def test_whose_a_field_is() -> None:
    merge = PatchMerge()
    base = {"kept": 1, "map": {"a": 1, "b": 2}, "list": [{"name": "x"}, {"name": "y", "v": 1}], "gone": 1, "args": [1]}
    once = merge.merge(
        base,
        {"map": {"b": 3}, "list": [{"name": "z"}, {"name": "y", "v": 2}], "gone": None, "args": [5, 6], "never": None},
        ("spec",),
        ("one",),
    )
    assert merge.sources == {
        ("spec", "map", "b"): ("one", "map", "b"),
        ("spec", "list", 2): ("one", "list", 0),
        ("spec", "list", 1, "name"): ("one", "list", 1, "name"),
        ("spec", "list", 1, "v"): ("one", "list", 1, "v"),
        ("spec", "gone"): ("one", "gone"),
        ("spec", "args"): ("one", "args"),
        ("spec", "never"): ("one", "never"),
    }
    assert merge.unused_deletions == [("one", "never")]
    merge.merge(once, {"list": [1], "args": [7], "map": {"b": {"c": 1}}}, ("spec",), ("two",))
    assert {there for path, there in merge.sources.items() if path[1] in ("list", "args", "map")} == {
        ("two", "list"),
        ("two", "args"),
        ("two", "map", "b"),
    }


# What reaches the input


def test_places_of_what_is_merged(folder: Path) -> None:
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    lines = (folder / "llmaz.yaml").read_text().splitlines()
    inputs, problems = load.inputs(load.scope(RenderOptions(env="staging")))
    assert problems == []
    chat = next(app for app in inputs.apps if app.name == "chat")

    def place(*path: str | int, key: bool = False) -> tuple[str, str]:
        file, line, _ = chat.origin(*path, key=key).place
        return file, (lines if file == "llmaz.yaml" else (folder / file).read_text().splitlines())[line - 1].strip()

    assert chat.spec["elasticConfig"] == {"minReplicas": 1, "maxReplicas": 2}
    assert place("spec", "elasticConfig", "maxReplicas") == (
        "llmaz.yaml", "elasticConfig: {minReplicas: 1, maxReplicas: 2}"
    )  # fmt: skip
    assert place("spec", "elasticConfig") == ("llmaz.yaml", "elasticConfig: {minReplicas: 2, maxReplicas: 6}")
    assert place("spec", "replicas", key=True)[1].startswith("replicas: null")
    assert place("spec", "servedModelName") == ("playgrounds.yaml", "servedModelName: chat")
    file, line, _ = inputs.config.origin("gateway", "hostnames", 0).place
    assert (file, "llm.staging.example.com" in lines[line - 1]) == ("llmaz.yaml", True)
    file, line, _ = inputs.config.origin("gateway", "create").place
    assert lines[line - 1].strip() == "create: true"
    flavor = inputs.models["qwen3-8b"].document.origin("spec", "inferenceConfig", "flavors", 0)
    assert flavor.at("nodeSelector").place[0] == "llmaz.yaml"
    assert flavor.at("limits").place[0] == "presets/models/qwen3-8b.yaml"


def test_words_as_they_are_written(folder: Path, llmaz: Llmaz) -> None:
    """`off` is that word where it belongs, in patches too, and a number in quotes is none."""
    lay(
        QUIET + "  environments:\n    dev:\n      config: {hardening: off, targets: {kubernetes: 1.35}}\n"
        "      playgrounds:\n        chat: {hardening: off, gateway: {mode: off}, replicas: '2'}\n"
    )
    done = llmaz("render")
    assert done.code == 2
    assert done.err.splitlines()[0] == (
        "llmaz.yaml:9:54: spec.environments.dev.config.targets.kubernetes: a string is needed, this is the number 1.35 "
        "[E303]"
    )
    assert "replicas: a whole number is needed, this is the string '2' [E303]" in done.err
    assert done.err.endswith("2 errors; nothing was written\n")


def test_a_patch_said_once_by_an_anchor(folder: Path, llmaz: Llmaz) -> None:
    lay(
        QUIET + "  environments:\n    dev:\n      playgrounds: &small\n        chat: {replicas: 2}\n"
        "    test:\n      playgrounds: *small\n    prod:\n      playgrounds:\n        chat: {replicas: 3}\n"
    )
    assert llmaz("render").code == 0
    assert [replicas(env) for env in ("dev", "test", "prod")] == [2, 2, 3]


def test_the_base_need_not_be_whole(folder: Path, llmaz: Llmaz) -> None:
    """Only what is merged is judged."""
    lay(
        QUIET + "  autoscaling: {metricSource: {labels: {}}}\n  environments:\n    prod:\n      config:\n"
        "        autoscaling: {metricSource: {type: none, labels: null}}\n      playgrounds:\n"
        "        chat: {replicas: 2, modelClaim: {modelName: qwen3-0--6b-gguf}}\n"
    )
    text = Path("chat.yaml").read_text()
    Path("chat.yaml").write_text(
        text.replace("qwen3-0--6b-gguf", "'{not a name}'").replace("spec:", "spec:\n  replicas: x")
    )
    assert llmaz("render").err == "1 app, 3 objects → rendered/: 1 new, 0 changed, 0 unchanged\n"
    assert llmaz("render", "--set", "namespace=llm").code == 0


def test_set_wins_over_everything(folder: Path, llmaz: Llmaz) -> None:
    lay(
        HEAD + "  backend: llamacpp\n  gateway: {create: true, hostnames: [base.example.com]}\n  environments:\n"
        "    dev: {config: {gateway: {hostnames: [dev.example.com]}, targets: {kubernetes: '1.31'}}}\n"
        "    prod: {from: dev, config: {gateway: {hostnames: [prod.example.com]}}}\n"
    )
    assert llmaz("render", "--set", "gateway.hostnames=[set.example.com]", "--set", "targets.kubernetes=1.35").code == 0
    text = "".join(files().values())
    assert "set.example.com" in text
    assert not [name for name in ("base", "dev", "prod") if f"{name}.example.com" in text]
    wrong = llmaz("render", "--env", "dev", "--set", "gateway.hostnames=[A_]")
    assert (wrong.code, wrong.err.splitlines()[0].partition(": ")[0]) == (2, "--set 'gateway.hostnames=[A_]'")


def test_a_file_that_cannot_be_read_may_hold_the_name(folder: Path, llmaz: Llmaz) -> None:
    lay(QUIET + "  environments:\n    dev:\n      playgrounds:\n        coder: {replicas: 2}\n")
    Path("coder.yaml").write_text(playground("coder", "llm") + "  - wrong\n")
    assert "[E753]" not in llmaz("render").err
    Path("coder.yaml").write_text(
        playground("coder", "llm").replace("inference.llmaz.io/v1alpha1", "llmaz.io/v1alpha1")
    )
    done = llmaz("render")
    assert ("[E212]" in done.err, "[E753]" in done.err) == (True, False)


def test_a_second_configuration(folder: Path, llmaz: Llmaz) -> None:
    lay(QUIET + "  environments: {dev: {}}\n")
    Path("other.yaml").write_text(HEAD.replace("{name: config}", "twice") + "  backends: x\n")
    done = llmaz("render")
    assert done.code == 2
    assert "other.yaml:3:11: metadata: a map is needed" in done.err
    assert "other.yaml:5:3: spec.backends: there is no field 'backends' [E301]" in done.err
    Path("other.yaml").write_text(HEAD + "  backend: vllm\n")
    assert "other.yaml:2:7: kind: a RenderConfig is already in llmaz.yaml [E204]" in llmaz("render").err
    lay(HEAD.replace("{name: config}", "odd") + "  environments: {dev: {}, prod: {config: {backend: 1}}}\n")
    assert "llmaz.yaml:3:11: metadata: a map is needed" in llmaz("render", "--env", "prod").err


def test_a_list_of_objects_is_no_fault(folder: Path, llmaz: Llmaz) -> None:
    lay(QUIET + "  environments: {dev: {}}\n")
    Path("list.yaml").write_text("- apiVersion: inference.llmaz.io/v1alpha1\n  kind: Playground\n")
    done = llmaz("render")
    assert (done.code, "[E218]" in done.err) == (2, True)


# Which environments


def test_every_environment_or_one(folder: Path, llmaz: Llmaz) -> None:
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    one = llmaz("render", "--env", "prod")
    assert (one.code, one.folder) == (0, os.path.join("rendered", "prod"))
    alone = files()
    assert {path.partition("/")[0] for path in alone} == {"prod"}
    every = llmaz("render")
    assert every.counts == {"apps": 5, "objects": 39, "new": 8, "changed": 0, "unchanged": 5, "gone": 0}
    assert {path: text for path, text in files().items() if path.startswith("prod/")} == alone
    assert files()["dev/llm/chat.yaml"].startswith("# Rendered by llmaz from playgrounds.yaml. Do not edit.\n")
    assert "dev/llm/batch.yaml" not in files()
    assert llmaz("render", "--check").err == "5 apps, 39 objects: rendered/ is up to date\n"
    assert llmaz("validate").err == "5 apps, 39 objects: valid\n"
    assert llmaz("validate", "--env", "dev").err == "1 app, 10 objects: valid\n"


def test_check_in_the_environment_of_a_folder(folder: Path, llmaz: Llmaz) -> None:
    """What exists elsewhere is said for each environment."""
    lay(
        HEAD + "  backend: llamacpp\n  environments:\n    dev: {}\n    prod:\n      config:\n"
        "        external: [Backend/llm/chat]\n"
    )
    assert llmaz("render").code == 0
    for env in ("dev", "prod"):
        file = Path(f"rendered/{env}/llm/chat.yaml")
        documents = file.read_text().split("---\n")
        file.write_text("---\n".join(document for document in documents if "\nkind: Backend\n" not in document))
    outcomes = {env: llmaz("check", f"rendered/{env}") for env in ("dev", "prod")}
    assert {env: (done.code, "Backend/llm/chat" in done.err) for env, done in outcomes.items()} == {
        "dev": (2, True),
        "prod": (0, False),
    }


def test_check_takes_environments_for_a_cluster_each(folder: Path, llmaz: Llmaz) -> None:
    """With `external` and `targets` of each, and what lies beside them in all."""
    targets = "{config: {targets: {gatewayAPI: '1.4'}}}"
    lay(f"{HEAD}  backend: llamacpp\n  gateway: {{create: true}}\n  environments: {{dev: {{}}, prod: {targets}}}\n")
    Path("beside").mkdir()
    kind = "apiVersion: {}\nkind: {}\nmetadata: {{name: x, namespace: llm}}\n"
    Path("beside/grant.yaml").write_text(
        kind.format("gateway.networking.k8s.io/v1", "ReferenceGrant")
        + "spec:\n  from: [{group: g, kind: K, namespace: a}]\n  to: [{group: '', kind: Secret}]\n"
    )
    Path("beside/other.yaml").write_text(kind.format("example.com/v1", "Strange"))
    assert llmaz("render").code == 0
    for paths in (["rendered"], ["rendered/dev", "rendered/prod"], ["rendered/dev"], ["rendered/dev", "beside"]):
        done = llmaz("check", *paths)
        assert (done.code, "0 errors" in done.err) == (0, True), done.err
    done = llmaz("check", "rendered", "beside")
    assert (done.code, done.err.count("[E700]"), done.err.count("Strange (1 object)")) == (2, 1, 1), done.err


def test_commands_that_are_about_one(folder: Path, llmaz: Llmaz) -> None:
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    for command in (["render", "--stdout"], ["routes"], ["render", "--to", "helm"]):
        done = llmaz(*command)
        assert (done.code, done.out) == (2, "")
        assert "there are 'dev', 'prod' and 'staging' [E756]" in done.err
        assert llmaz(*command, "--env", "prud").err.startswith("--env prud: there is no environment 'prud' [E750]")
    assert "llm.dev.example.com" in llmaz("routes", "--env", "dev").out
    assert "llm.staging.example.com" in llmaz("routes", "--env", "staging").out
    stream = llmaz("render", "--stdout", "--env", "staging")
    assert stream.code == 0
    assert not Path("rendered").exists()
    llmaz("render", "--env", "staging")
    assert stream.out == "---\n".join(files("rendered/staging").values())


def test_the_only_one_need_not_be_named(folder: Path, llmaz: Llmaz) -> None:
    lay(QUIET + "  environments: {dev: {playgrounds: {chat: {replicas: 4}}}}\n")
    assert "replicas: 4" in llmaz("render", "--stdout").out
    lay(QUIET + "  environments: {}\n")
    assert llmaz("render").folder == "rendered"
    lay(QUIET + "  environments: {dev: }\n")
    assert llmaz("render").folder == "rendered"
    assert list(files()) == ["dev/llm/chat.yaml"]


def test_nothing_is_written_unless_all_are_well(folder: Path, llmaz: Llmaz) -> None:
    lay(QUIET + "  environments:\n    dev: {}\n    prod: {playgrounds: {chat: {modelClaim: {modelName: none}}}}\n")
    done = llmaz("render")
    assert done.code == 2
    assert done.err.startswith(
        "llmaz.yaml:9:57: spec.environments.prod.playgrounds.chat.modelClaim.modelName: no OpenModel"
    )
    assert not Path("rendered").exists()
    assert llmaz("render", "--env", "dev").code == 0


def test_where_a_problem_is(folder: Path, llmaz: Llmaz) -> None:
    """An error of the input says in which environments it is, unless it is in all, or one was asked for."""
    lay(QUIET + "  environments:\n    a: {}\n    b: {}\n    c: {playgrounds: {chat: null}}\n")
    Path("chat.yaml").write_text(playground("chat", "llm").replace("qwen3-0--6b-gguf", "nobody"))
    assert "no OpenModel is named 'nobody' (in a and b) [E203]" in llmaz("render").err
    assert "no OpenModel is named 'nobody' [E203]" in llmaz("render", "--env", "b").err
    lay(QUIET + "  environments:\n    a: {}\n    b: {}\n")
    Path("chat.yaml").write_text(playground("chat", "llm").replace("qwen3-0--6b-gguf", "nobody"))
    done = llmaz("validate")
    assert "no OpenModel is named 'nobody' [E203]" in done.err
    assert done.err.endswith("\n1 error\n")


def test_what_leads_to_a_deleted_app(folder: Path, llmaz: Llmaz) -> None:
    lay(
        HEAD + "  backend: llamacpp\n  environments:\n    dev: {playgrounds: {coder: null}}\n    prod: {}\n",
        "chat",
        "coder",
    )
    Path("coder.yaml").write_text(playground("coder", "llm") + "  servedModelName: coder\n")
    Path("route.yaml").write_text(
        "apiVersion: renderer.llmaz.io/v1alpha1\nkind: ModelRoute\nmetadata: {name: both, namespace: llm}\n"
        "spec:\n  modelName: both\n  backends: [{playground: chat, weight: 1}, {playground: coder, weight: 1}]\n"
    )
    done = llmaz("render")
    assert done.code == 2
    assert "route.yaml:6:" in done.err
    assert "'coder'" in done.err
    assert "(in dev)" in done.err
    text = Path("llmaz.yaml").read_text()
    Path("llmaz.yaml").write_text(
        text.replace("coder: null}", "coder: null}, routes: {both: {backends: [{playground: chat}]}}")
    )
    assert llmaz("render").code == 0
    assert ("dev/llm/coder.yaml" in files(), "prod/llm/coder.yaml" in files()) == (False, True)


# Which files


def test_folders_of_environments_that_are_gone(folder: Path, llmaz: Llmaz) -> None:
    text = QUIET + "  environments:\n    dev: {}\n    old: {playgrounds: {chat: {replicas: 3}}}\n"
    lay(text)
    assert llmaz("render").counts["new"] == 2
    Path("rendered/old/llm/mine.md").write_text("mine\n")
    lay(text[: text.index("    old:")])
    # One environment, or a part of the tree, is only about itself.
    assert llmaz("render", "--env", "dev").counts["gone"] == 0
    assert llmaz("render", "chat.yaml").counts["gone"] == 0
    check = llmaz("render", "--check")
    assert (check.code, check.err) == (
        1,
        "rendered/old/llm/chat.yaml: to be deleted\nrendered/ is stale; run llmaz render\n",
    )
    machine = llmaz("render", "--check", "--format", "json")
    assert [(diagnostic["file"], diagnostic["code"]) for diagnostic in json.loads(machine.out)] == [
        ("rendered/old/llm/chat.yaml", "E128")
    ]
    assert llmaz("render").counts["gone"] == 1
    assert list(files()) == ["dev/llm/chat.yaml", "old/llm/mine.md"]
    Path("rendered/old/llm/mine.md").unlink()
    lay(QUIET)
    assert llmaz("render").counts == {"apps": 1, "objects": 2, "new": 1, "changed": 0, "unchanged": 0, "gone": 1}
    assert list(files()) == ["llm/chat.yaml"]
    # And the other way: what stands there from before there were environments.
    lay(QUIET + "  environments: {llm: {}}\n")
    assert llmaz("render").counts["gone"] == 1
    assert list(files()) == ["llm/llm/chat.yaml"]


def test_an_app_that_an_environment_turns_off(folder: Path, llmaz: Llmaz) -> None:
    text = QUIET + "  environments:\n    dev: {}\n    prod: {}\n"
    lay(text, "chat", "coder")
    llmaz("render")
    lay(text.replace("dev: {}", "dev: {playgrounds: {llm/coder: null}}"), "chat", "coder")
    assert llmaz("render", "chat.yaml").counts["gone"] == 0
    assert llmaz("render", "--env", "prod").counts["gone"] == 0
    assert llmaz("render", "coder.yaml").counts["gone"] == 1
    assert list(files()) == ["dev/llm/chat.yaml", "prod/llm/chat.yaml", "prod/llm/coder.yaml"]


def test_paths_within_each(folder: Path, llmaz: Llmaz) -> None:
    lay(QUIET + "  environments:\n    dev: {playgrounds: {coder: {replicas: 2}}}\n    prod: {}\n", "chat", "coder")
    done = llmaz("render", "coder.yaml")
    assert done.counts == {"apps": 2, "objects": 5, "new": 2, "changed": 0, "unchanged": 0, "gone": 0}
    assert replicas("dev", "coder") == 2
    Path("sub").mkdir()
    os.rename("coder.yaml", "sub/coder.yaml")
    assert llmaz("render", "sub", "--env", "dev").counts["changed"] == 1
    os.chdir("sub")
    assert llmaz("render", "coder.yaml").folder == os.path.join("..", "rendered")


def test_a_file_in_the_way(folder: Path, llmaz: Llmaz) -> None:
    lay(QUIET + "  environments:\n    dev: {}\n    prod: {}\n")
    Path("rendered").mkdir()
    Path("rendered/prod").write_text("mine")
    done = llmaz("render")
    assert (done.code, done.err.splitlines()[0]) == (
        2,
        "rendered/prod: already exists, and was not written by llmaz (in prod) [E141]",
    )
    assert list(files()) == ["prod"]
    assert llmaz("render", "--env", "dev").code == 0


def test_many_apps_in_many_processes(folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the number of apps at which work is shared out, every environment has processes of its own."""
    monkeypatch.setattr("renderer.workers.process_count", lambda items: 3 if items >= 100 else 1)
    names = [f"app-{i}" for i in range(120)]
    patches = "".join(f"        {name}: {{replicas: {i % 3 + 1}}}\n" for i, name in enumerate(names))
    lay(
        QUIET + f"  environments:\n    dev: {{}}\n    prod:\n      playgrounds:\n{patches}    test: {{from: prod}}\n",
        *names,
    )
    assert llmaz("render").counts["new"] == 360
    shared_out = files()
    assert [replicas("test", name) for name in names[:4]] == [1, 2, 3, 1]
    monkeypatch.setattr("renderer.workers.process_count", lambda items: 1)
    assert llmaz("render").counts["unchanged"] == 360
    assert files() == shared_out


# For callers


def test_texts_of_one_and_of_all(folder: Path) -> None:
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    assert load.rendered_environments(RenderOptions()) == ("dev", "prod", "staging")
    assert load.rendered_environments(RenderOptions(env="dev")) == ("dev",)
    every = render(RenderOptions(texts=True))
    apart = {
        f"{name}/{text.path}": text.text
        for name in load.rendered_environments(RenderOptions())
        for text in render(RenderOptions(texts=True, env=name)).texts
    }
    assert {text.path: text.text for text in every.texts} == apart
    assert len(every.inputs.apps) == 5


def test_environments_of_a_commit(folder: Path) -> None:
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.com"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], check=True)
    there = render(RenderOptions(texts=True))
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    for path in folder.glob("*.yaml"):
        path.unlink()
    file_system = commit_tree(str(folder), commit)
    assert load.rendered_environments(RenderOptions(file_system=file_system)) == ("dev", "prod", "staging")
    assert render(RenderOptions(texts=True, file_system=file_system)).texts == there.texts


@pytest.mark.parametrize(
    ("claim", "hint"),
    [
        ("modelClaim: {modelName: qwen3-8b}", "write modelClaim: {inferenceFlavors: …}"),
        ("modelClaims: {models: [{name: qwen3-8b}]}", "write modelClaims: {inferenceFlavors: …}"),
    ],
)
def test_a_misplaced_field_of_a_patch_belongs_to_the_map_that_is_there(
    claim: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("llmaz.yaml").write_text(
        "apiVersion: renderer.llmaz.io/v1alpha1\nkind: RenderConfig\nmetadata: {name: config}\nspec:\n"
        "  environments: {dev: {playgrounds: {chat: {inferenceFlavors: [nvidia-gpu]}}}}\n",
        "utf-8",
    )
    Path("chat.yaml").write_text(
        f"apiVersion: inference.llmaz.io/v1alpha1\nkind: Playground\nmetadata: {{name: chat}}\nspec: {{{claim}}}\n",
        "utf-8",
    )
    error = llmaz("validate").err
    assert "[E301]" in error
    assert f"    hint: {hint}\n" in error
