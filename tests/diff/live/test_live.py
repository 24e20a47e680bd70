"""`llmaz diff --live` as a command: what it prints, how it ends, and what it never prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.inputs import playground

if TYPE_CHECKING:
    from tests.conftest import Llmaz

HIDDEN = "k7Qw93nLx0Zt5Rb2Vs8Yd4Ha"
BESIDE = f"""\
---
apiVersion: v1
kind: Secret
metadata: {{name: token, namespace: default}}
stringData: {{token: {HIDDEN}}}
---
apiVersion: v1
kind: Pod
metadata:
  name: chat-0
  ownerReferences: [{{apiVersion: apps/v1, kind: StatefulSet, name: chat, uid: u}}]
spec: {{containers: [{{name: model-runner, image: x}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template: {{metadata: {{labels: {{app: web}}}}, spec: {{containers: [{{name: web, image: "nginx:1"}}]}}}}
"""
OTHER = """\
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: other}
spec:
  selector: {matchLabels: {app: other}}
  template:
    metadata: {labels: {app: other}}
    spec: {containers: [{name: x, image: "vllm/vllm-openai:v0.30.0", args: [--model, org/m]}]}
---
apiVersion: v1
kind: Service
metadata: {name: other}
spec: {selector: {app: other}, ports: [{port: 80, targetPort: 8000}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: other}
spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: other}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: other}
spec: {rules: [{backendRefs: [{name: other, port: 80}]}]}
"""


@pytest.fixture
def dump(folder: Path, llmaz: Llmaz) -> Path:
    """A tree, and what it renders as a cluster gives it back, as one List."""
    (folder / "chat.yaml").write_text(playground("chat", backend="llamacpp"))
    done = llmaz("render", "--stdout")
    assert done.code == 0, done.err
    items = [body for body in yaml.safe_load_all(done.out) if body]
    for item in items:
        item["metadata"] |= {"uid": "1", "resourceVersion": "2", "managedFields": [{"manager": "x"}]}
        item["status"] = {"replicas": 1}
    file = folder / "dump.yaml"
    file.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items}))
    return file


def append(dump: Path, text: str) -> None:
    dump.write_text(dump.read_text() + text)


def test_a_dump_of_what_is_rendered_is_the_same(dump: Path, llmaz: Llmaz) -> None:
    done = llmaz("diff", "--strict", "--live", dump.name)
    assert (done.code, done.err) == (0, "")
    assert "0 lost, 0 unexplained, 0 immutable, 0 equal in effect, 0 added" in done.out


def test_lists_of_one_kind(dump: Path, llmaz: Llmaz) -> None:
    """As the API server answers: the list says which kind its items have."""
    items = yaml.safe_load(dump.read_text())["items"]
    lists: dict[tuple[str, str], list[object]] = {}
    for item in items:
        lists.setdefault((item.pop("apiVersion"), item.pop("kind")), []).append(item)
    bodies = [
        {"apiVersion": version, "kind": f"{kind}List", "metadata": {"resourceVersion": "9"}, "items": parts}
        for (version, kind), parts in lists.items()
    ]
    dump.write_text(yaml.safe_dump_all(bodies))
    done = llmaz("diff", "--strict", "--live", dump.name)
    assert (done.code, done.err) == (0, "")
    assert "0 lost, 0 unexplained, 0 immutable, 0 equal in effect, 0 added" in done.out


def test_a_folder_and_several_dumps(dump: Path, llmaz: Llmaz, tmp_path: Path) -> None:
    Path("dumps").mkdir()
    dump.rename("dumps/live.yaml")
    Path("more.yaml").write_text(OTHER.removeprefix("---\n"))
    done = llmaz("diff", "--live", "dumps", "--live", "more.yaml", "--", "chat.yaml")
    assert done.code == 0, done.err
    assert "Deployment default/other: not rendered" in done.out


def test_what_is_not_about_serving_is_counted(dump: Path, llmaz: Llmaz) -> None:
    append(dump, BESIDE)
    done = llmaz("diff", "--strict", "--live", dump.name)
    assert done.code == 0
    assert "not compared: Deployment 1, Pod 1, Secret 1\n" in done.out
    assert HIDDEN not in done.out + done.err


def test_what_serves_and_is_not_rendered_is_lost(dump: Path, llmaz: Llmaz) -> None:
    append(dump, OTHER)
    done = llmaz("diff", "--live", dump.name)
    assert done.code == 0
    for kind in ("Deployment", "Service", "HorizontalPodAutoscaler", "HTTPRoute"):
        assert f"{kind} default/other: not rendered" in done.out
    assert ": 4 lost, 0 unexplained," in done.out
    assert llmaz("diff", "--strict", "--live", dump.name).code == 1


def test_owners_are_told(dump: Path, llmaz: Llmaz) -> None:
    body = yaml.safe_load(dump.read_text())
    owner = {"apiVersion": "inference.llmaz.io/v1alpha1", "kind": "Service", "name": "chat", "uid": "3"}
    body["items"][0]["metadata"]["ownerReferences"] = [owner]
    dump.write_text(yaml.safe_dump(body))
    done = llmaz("diff", "--live", dump.name)
    assert "  owned by Service chat\n" in done.out


def test_secrets_are_hidden(dump: Path, llmaz: Llmaz) -> None:
    body = yaml.safe_load(dump.read_text())
    workload = next(item for item in body["items"] if item["kind"] == "LeaderWorkerSet")
    runner = workload["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]
    runner["env"] = [{"name": "MY_PHRASE", "value": "swordfish"}, {"name": "LATE_TOKEN", "value": HIDDEN}]
    runner["args"] += ["--api-key", "hunter2", "--client-secret=$(MY_PHRASE)"]
    dump.write_text(yaml.safe_dump(body))
    for form in ("text", "json"):
        done = llmaz("diff", "--live", dump.name, "--format", form)
        assert "MY_PHRASE" in done.out
        assert "--api-key" in done.out
        assert "<hidden>" in done.out
        for secret in ("swordfish", HIDDEN, "hunter2"):
            assert secret not in done.out + done.err
    shown = llmaz("diff", "--live", dump.name, "--show-values").out
    assert "swordfish" in shown
    assert "hunter2" in shown


def test_json_has_the_same_counts(dump: Path, llmaz: Llmaz) -> None:
    append(dump, OTHER)
    document = json.loads(llmaz("diff", "--live", dump.name, "--format", "json").out)
    assert (document["lost"], document["unexplained"]) == (4, 0)
    states = [entry["state"] for entry in document["objects"]]
    assert states.count("not rendered") == 4
    assert states.count("compared") == len(states) - 4


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["HEAD"], "--live compares a dump with the work tree, so it cannot be used with BASE"),
        (["--base", "inputs"], "--live compares a dump with the work tree, so it cannot be used with --base"),
        (
            ["--env-a", "a", "--env-b", "b"],
            "--live compares a dump with the work tree, so it cannot be used with --env-a",
        ),
        (["--exit-code"], "--live compares a dump with the work tree, so it cannot be used with --exit-code"),
        (["--format", "markdown"], "--live has no markdown"),
        (["--live", ""], "--live has no value"),
    ],
)
def test_what_does_not_go_with_it(dump: Path, llmaz: Llmaz, args: list[str], message: str) -> None:
    done = llmaz("diff", "--live", dump.name, *args)
    assert done.code == 2
    assert message in done.err


def test_a_dump_twice_as_large_is_no_harm(dump: Path, llmaz: Llmaz) -> None:
    pods = "".join(
        f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{i}}}\ndata: {{a: '{'x' * 900}'}}\n"
        for i in range(5000)
    )
    append(dump, pods)
    assert dump.stat().st_size > 4_500_000
    done = llmaz("diff", "--live", dump.name)
    assert done.code == 0, done.err
    assert "not compared: ConfigMap 5,000\n" in done.out
