"""`llmaz cutover`: the steps that it prints for the dump of a real API server, and for what may be wrong in one.

`two-models/dump` is what `make cluster-test ARGS=cutover` dumped, with less of what nobody reads, and a Secret.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from renderer import pipeline, yamlio
from renderer.api import RenderOptions
from renderer.cutover.cluster_dump import read_dump
from renderer.cutover.field_managers import hand_over
from renderer.cutover.formats import FORMS
from renderer.cutover.gitops_tool import TOOLS
from renderer.cutover.steps import plan_cutover
from renderer.load.hand_written import Manifests
from tests.paths import TESTS

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz, Outcome

CASE = TESTS / "cutover" / "two-models"
HIDDEN = "aGZfdGhlLXRva2VuLW9mLXRoZS1odWI"

Body = dict[str, Any]
Change = Callable[[list[Body]], None]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with dump and tree."""
    shutil.copytree(CASE, tmp_path / "case")
    monkeypatch.chdir(tmp_path / "case" / "tree")
    return tmp_path / "case"


def read(folder: Path) -> list[Body]:
    return [item for path in sorted((folder / "dump").iterdir()) for item in yaml.safe_load(path.read_text())["items"]]


def write(folder: Path, items: list[Body]) -> None:
    """Puts one file into the place of the dump, in JSON, of which YAML holds all."""
    shutil.rmtree(folder / "dump")
    (folder / "dump").mkdir()
    (folder / "dump" / "all.yaml").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


@pytest.mark.parametrize("gitops", ["argocd", "flux"])
def test_lists_of_one_kind(gitops: str, folder: Path, llmaz: Llmaz) -> None:
    """As the API server answers: the list says which kind its items have."""
    expected = llmaz("cutover", "../dump", "--gitops", gitops)
    lists: dict[tuple[str, str], list[Body]] = {}
    for item in read(folder):
        lists.setdefault((item.pop("apiVersion"), item.pop("kind")), []).append(item)
    write(folder, [{"apiVersion": v, "kind": f"{kind}List", "items": parts} for (v, kind), parts in lists.items()])
    done = llmaz("cutover", "../dump", "--gitops", gitops)
    assert (done.code, done.err) == (0, "")
    assert commands(done) == commands(expected)


def commands(outcome: Outcome) -> list[list[str]]:
    """The commands of kubectl, as a shell reads them."""
    lines = [line for line in outcome.out.splitlines() if line.startswith("kubectl ")]
    return [shlex.split(line) for line in lines]


def patches(outcome: Outcome, name: str) -> list[list[Body]]:
    """The JSON patches of an object."""
    return [json.loads(words[-1]) for words in commands(outcome) if words[1] == "patch" and name in words[:4]]


@pytest.mark.parametrize("gitops", ["argocd", "flux"])
def test_the_steps(gitops: str, folder: Path, llmaz: Llmaz, golden: Golden) -> None:
    done = llmaz("cutover", "../dump", "--gitops", gitops)
    assert (done.code, done.err) == (0, "")
    golden(f"cutover/two-models/{gitops}.txt", done.out)
    assert subprocess.run(["sh", "-n", "-c", done.out], check=False).returncode == 0
    assert HIDDEN not in done.out
    assert not {path.name for path in folder.iterdir()} - {"dump", "tree", "argocd.txt", "flux.txt", "steps.json"}


def test_the_steps_for_programs(folder: Path, llmaz: Llmaz, golden: Golden) -> None:
    done = llmaz("cutover", "../dump/models.yaml", "../dump/operator.yaml", "../dump/webhooks.yaml", "--format", "json")
    assert (done.code, done.err) == (0, "")
    golden("cutover/two-models/steps.json", done.out)
    assert HIDDEN not in done.out


def test_an_autoscaler_keeps_its_replicas_and_a_number_in_git_is_handed_over(folder: Path, llmaz: Llmaz) -> None:
    done = llmaz("cutover", "../dump")
    scaled, scaler = patches(done, "qwen-elastic")
    (grouped,) = patches(done, "llama-405b")
    removed = {"op": "remove", "path": "/metadata/managedFields/0/fieldsV1/f:spec/f:replicas"}
    assert removed in scaled
    assert removed not in grouped
    assert removed not in scaler


def test_paths_behind_dashes_are_the_tree(folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    done = llmaz("cutover", "dump", "--", "tree")
    assert done.code == 0, done.err
    assert "\nllmaz diff --live ../after.yaml -- tree\n" in done.out


def change_dump(folder: Path, change: Change) -> None:
    items = read(folder)
    change(items)
    write(folder, items)


def named(items: list[Body], kind: str, name: str) -> Body:
    (item,) = [item for item in items if (item["kind"], item["metadata"]["name"]) == (kind, name)]
    return item


@pytest.mark.parametrize(
    ("labels", "annotations", "line"),
    [
        (
            {"helm.toolkit.fluxcd.io/name": "llmaz", "helm.toolkit.fluxcd.io/namespace": "infra"},
            {"meta.helm.sh/release-name": "llmaz", "meta.helm.sh/release-namespace": "llmaz-system"},
            "kubectl patch helmreleases.helm.toolkit.fluxcd.io llmaz -n infra --type=merge "
            """-p '{"spec":{"suspend":true}}'""",
        ),
        (
            {"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"},
            {},
            "kubectl patch kustomizations.kustomize.toolkit.fluxcd.io apps -n flux-system --type=merge "
            """-p '{"spec":{"suspend":true}}'""",
        ),
        (
            {},
            {"argocd.argoproj.io/tracking-id": "tools_llmaz:apps/Deployment:llmaz-system/llmaz-controller-manager"},
            "kubectl patch applications.argoproj.io llmaz -n tools --type=merge "
            """-p '{"spec":{"syncPolicy":{"automated":null}}}'""",
        ),
        (
            {},
            {"meta.helm.sh/release-name": "llmaz", "meta.helm.sh/release-namespace": "llmaz-system"},
            "# Helm installed it as llmaz-system/llmaz. From here on, do not run helm upgrade,",
        ),
        ({}, {}, "# The dump does not show what installed the operator. If it is an Application, a HelmRelease or a"),
        ({}, {"argocd.argoproj.io/tracking-id": "--all:x"}, "# The dump does not show what installed the operator."),
    ],
)
def test_what_installed_the_operator(labels: Body, annotations: Body, line: str, folder: Path, llmaz: Llmaz) -> None:
    def change(items: list[Body]) -> None:
        metadata = named(items, "Deployment", "llmaz-controller-manager")["metadata"]
        metadata["labels"] |= labels
        metadata["annotations"] = annotations

    change_dump(folder, change)
    done = llmaz("cutover", "../dump")
    assert done.code == 0, done.err
    assert f"\n{line}" in done.out
    syncs = [words for words in commands(done) if words[1] == "patch" and "--type=merge" in words]
    assert len(syncs) == line.startswith("kubectl")


def test_a_dump_without_the_operator_itself(folder: Path, llmaz: Llmaz) -> None:
    for name in ("operator", "webhooks"):
        (folder / "dump" / f"{name}.yaml").unlink()
    done = llmaz("cutover", "../dump")
    assert done.code == 0, done.err
    scale = "control-plane=controller-manager,app.kubernetes.io/created-by=llmaz"
    assert ["kubectl", "scale", "deployment", "-n", "llmaz-system", "-l", scale, "--replicas=0"] in commands(done)
    assert sum("--ignore-not-found" in words and words[1] == "delete" for words in commands(done)) == 5


def test_webhooks_of_others_stay(folder: Path, llmaz: Llmaz) -> None:
    name = "llmaz-validating-webhook-configuration"

    def change(items: list[Body]) -> None:
        webhooks = named(items, "ValidatingWebhookConfiguration", name)["webhooks"]
        webhooks.insert(0, {**webhooks[0], "name": "other.example", "rules": [{"apiGroups": ["apps"]}]})

    change_dump(folder, change)
    done = llmaz("cutover", "../dump")
    assert [words for words in commands(done) if words[1] == "delete" and name in words] == []
    (patch,) = patches(done, name)
    assert patch == [
        {"op": "test", "path": "/webhooks/1/name", "value": "validating.llmaz.io"},
        {"op": "remove", "path": "/webhooks/1"},
    ]
    assert not any("lws-system" in words or "mutating-webhook-configuration" in words for words in commands(done))


def test_a_model_that_is_handed_over_already(folder: Path, llmaz: Llmaz) -> None:
    def change(items: list[Body]) -> None:
        for kind in ("LeaderWorkerSet", "HorizontalPodAutoscaler"):
            metadata = named(items, kind, "qwen-elastic")["metadata"]
            del metadata["ownerReferences"]
            metadata["managedFields"][0]["manager"] = "argocd-controller"

    change_dump(folder, change)
    done = llmaz("cutover", "../dump")
    assert (done.code, done.err) == (0, "")
    assert patches(done, "qwen-elastic") == []
    assert "1 model." in done.out
    assert "kubectl delete playgrounds.inference.llmaz.io qwen-elastic -n shop --cascade=orphan" in done.out


def test_a_model_that_is_not_in_the_tree_stays_whole(folder: Path, llmaz: Llmaz) -> None:
    models = folder / "tree" / "models.yaml"
    bodies = [body for body in yaml.safe_load_all(models.read_text()) if body["metadata"]["name"] != "llama-405b"]
    models.write_text(yaml.safe_dump_all(bodies))
    done = llmaz("cutover", "../dump")
    assert (done.code, done.err.count("[W980]")) == (0, 1)
    assert patches(done, "llama-405b") == []
    assert not any(words[1] == "delete" and "llama-405b" in words for words in commands(done))
    assert "left=$(" not in done.out
    (mend,) = patches(done, "llama-405b-lb")
    assert not any("ownerReferences" in operation["path"] for operation in mend)
    assert any(operation["path"] == "/spec/selector" for operation in mend)


def test_a_dump_without_workloads_deletes_nothing(folder: Path, llmaz: Llmaz) -> None:
    change_dump(folder, lambda items: items.remove(named(items, "LeaderWorkerSet", "qwen-elastic")))
    done = llmaz("cutover", "../dump")
    assert (done.code, done.err.count("[W984]")) == (0, 2)  # its Playground, and the Service that this one owns
    assert not any(words[1] == "delete" and "qwen-elastic" in words for words in commands(done))
    assert "left=$(" not in done.out


def test_a_name_that_no_cluster_has_gets_into_no_command(folder: Path, llmaz: Llmaz) -> None:
    change_dump(folder, lambda items: named(items, "Playground", "qwen-elastic")["metadata"].update(name="--all"))
    done = llmaz("cutover", "../dump")
    assert (done.code, done.out) == (2, "")
    assert "[E984]" in done.err


def entry(manager: str, fields: Body, **more: str) -> Body:
    return {"manager": manager, "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": fields, **more}


def managed(*entries: Body) -> Body:
    return {"metadata": {"managedFields": [*entries]}}


def test_a_manager_that_has_applied_already_owns_what_both_own() -> None:
    """As where somebody has synced before the fields were handed over."""
    new = entry("argocd-controller", {"f:spec": {"f:size": {}, "f:replicas": {}}})
    old = entry("llmaz", {"f:metadata": {"f:ownerReferences": {}}, "f:spec": {"f:replicas": {}}})
    patch = hand_over(managed(new, old), "argocd-controller", keeps_replicas=False)
    fields: Body = {"f:spec": {"f:size": {}}, "f:metadata": {"f:ownerReferences": {}}}
    assert {"op": "replace", "path": "/metadata/managedFields/0/fieldsV1", "value": fields} in patch
    assert patch[-1] == {"op": "remove", "path": "/metadata/managedFields/1"}


@pytest.mark.parametrize("other", [{"operation": "Update"}, {"subresource": "status"}, {"manager": "llmaz-2"}])
def test_what_the_operator_did_not_apply_is_left_alone(other: Body) -> None:
    assert hand_over(managed({**entry("llmaz", {}), **other}), "argocd-controller") == []


WRONG: list[Any] = [None, 3, "x", [], {}, [None], {"a": None}]


def oddities(item: Body) -> Iterator[Body]:
    """The object with something else in the place of each of its values, two levels deep."""
    for key, value in item.items():
        yield from ({**item, key: wrong} for wrong in WRONG)
        for name in value if isinstance(value, dict) else ():
            yield from ({**item, key: {**value, name: wrong}} for wrong in WRONG)


def test_a_dump_that_is_odd_everywhere_is_no_fault_of_ours(folder: Path) -> None:
    options = RenderOptions(texts=True)
    result = pipeline.render(options)
    documents = [yamlio.parse("dump.yaml", json.dumps(item).encode())[0][0] for item in read(folder)]
    count = 0
    for index, document in enumerate(documents):
        for odd in oddities(document.value):
            (other,), problems = yamlio.parse("odd.yaml", json.dumps(odd).encode())
            assert problems == []
            dump, problems = read_dump(
                Manifests(documents=[*documents[:index], other, *documents[index + 1 :]]), ("dump.yaml",)
            )
            if not problems:
                text = FORMS["text"](plan_cutover(dump, result, TOOLS["argocd"], options))
                assert all(shlex.split(line) for line in text.splitlines() if line.startswith("kubectl "))
                count += 1
    assert count > 500


@pytest.mark.parametrize(
    ("replicas", "size", "pods"),
    [
        ("100000000", "1", "100,000,000 pods, qwen-elastic-0, qwen-elastic-1,"),
        ("3", "100000000", "300,000,000 pods, qwen-elastic-0, qwen-elastic-0-1,"),
        (str(2**70), str(2**70), f"{(2**31 - 1) ** 2:,} pods, qwen-elastic-0,"),
        ("1.5", "-1", "1 pod, qwen-elastic-0."),
    ],
    ids=["replicas", "size", "beyond a cluster", "below it"],
)
def test_pods_are_counted(replicas: str, size: str, pods: str, folder: Path, llmaz: Llmaz) -> None:
    """A dump may ask for any number of them, and a tree may hold some."""
    dump = folder / "dump" / "models.yaml"
    items = yaml.safe_load(dump.read_text())["items"]
    for body in items:
        if body["kind"] == "LeaderWorkerSet" and body["metadata"]["name"] == "qwen-elastic":
            body["spec"] |= {"replicas": "REPLICAS"}
            body["spec"]["leaderWorkerTemplate"]["size"] = "SIZE"
    text = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items})
    dump.write_text(text.replace("REPLICAS", replicas).replace("SIZE", size))
    done = llmaz("cutover", "../dump")
    assert done.code == 0, done.err
    assert f"RESTARTS as soon as it is synced: {pods}" in done.out
    done = llmaz("cutover", "../dump", "--format", "json")
    [model] = [model for model in json.loads(done.out)["models"] if model["name"] == "qwen-elastic"]
    assert len(model["restarts"]) == min(model["restartCount"], 1_000)
    assert model["heldCount"] == len(model["held"]) == 0


def test_held_pods_are_counted(folder: Path, llmaz: Llmaz) -> None:
    items = read(folder)
    [body] = [item for item in items if (item["kind"], item["metadata"]["name"]) == ("LeaderWorkerSet", "llama-405b")]
    body["spec"]["replicas"] = 1_000_000
    write(folder, items)
    done = llmaz("cutover", "../dump", "--format", "json")
    [model] = [model for model in json.loads(done.out)["models"] if model["name"] == "llama-405b"]
    assert (model["heldCount"], model["restartCount"]) == (4, 1_999_996)
    assert model["restarts"][:2] == ["llama-405b-2", "llama-405b-2-1"]
