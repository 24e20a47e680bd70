"""The parts of `make apiserver-test` that need no server: what it asks, and that it hears a no."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver import generated, judge, manifests, mutated, webhooks
from tests.apiserver.inputs import drawn, inputs
from tests.apiserver.server import LEASH, Answer, CannotJudge, Client, Resource
from tests.paths import ROOT
from tests.programs import TOOLS

POD = {"containers": [{"name": "a", "image": "a"}]}
GROUP = {
    "apiVersion": "leaderworkerset.x-k8s.io/v1",
    "kind": "LeaderWorkerSet",
    "metadata": {"name": "a", "namespace": "b"},
    "spec": {"leaderWorkerTemplate": {"leaderTemplate": {"spec": POD}, "workerTemplate": {"spec": POD}}},
}


class Server(Client):
    """Refuses what the test says, by plural, and notes what it was asked."""

    def __init__(self, **refused: str) -> None:
        self.refused = refused
        self.requests: list[str] = []

    def __call__(self, method: str, path: str, body: str = "", kind: str = "application/json", **query: str) -> Answer:
        self.requests.append(path)
        message = self.refused.get(path.rpartition("/")[2])
        if path.endswith("/namespaces"):
            return Answer(201, {})
        assert query["dryRun"] == "All"
        assert query["fieldValidation"] == "Strict"
        return Answer(422, {"message": message}) if message else Answer(201, {})

    def resource(self, version: str, kind: str) -> Resource | None:
        return Resource(f"{kind.lower()}s", namespaced=True) if kind != "Nothing" else None


def refused(server: Server, body: dict[str, Any]) -> list[str]:
    api_judge = judge.Judge(server, Path("/nowhere"))
    return [str(refusal) for refusal in api_judge.refusals([manifests.Manifest("a.yaml", body)])]


@pytest.fixture
def no_webhook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "refusals", lambda *_: iter(()))


@pytest.mark.usefixtures("no_webhook")
def test_what_the_server_accepts() -> None:
    server = Server()
    assert refused(server, GROUP) == []
    space = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/b/leaderworkersets"
    templates = ["/api/v1/namespaces/b/podtemplates"] * 2
    assert server.requests == ["/api/v1/namespaces", space, *templates]


@pytest.mark.usefixtures("no_webhook")
def test_a_refusal_says_which_object_and_who() -> None:
    assert refused(Server(leaderworkersets="no\n  such field"), GROUP) == [
        "a.yaml: LeaderWorkerSet b/a: API server: no such field"
    ]


@pytest.mark.usefixtures("no_webhook")
def test_pod_templates_inside_are_asked_about() -> None:
    assert refused(Server(podtemplates="bad"), GROUP) == [
        f"a.yaml: LeaderWorkerSet b/a: API server, of spec.leaderWorkerTemplate.{part}Template: bad"
        for part in ("leader", "worker")
    ]


def test_a_kind_that_the_server_does_not_have() -> None:
    body = {"apiVersion": "example.com/v1", "kind": "Nothing", "metadata": {"name": "a"}}
    assert refused(Server(), body) == ["a.yaml: Nothing a: API server: no kind Nothing in example.com/v1"]


# ---- webhooks ----


def workload(kind: tuple[str, str], labels: dict[str, Any] | None = None) -> dict[str, Any]:
    version, name = kind
    return {"apiVersion": version, "kind": name, "metadata": {"name": "a", **({"labels": labels} if labels else {})}}


QUEUED = {webhooks.QUEUE: "gpus"}


def test_who_is_asked_about_what() -> None:
    relevance = {
        webhook.program: [
            webhook.relevant(body)
            for body in (
                workload(webhooks.LWS),
                workload(webhooks.LWS, QUEUED),
                workload(webhooks.SCALED_OBJECT, QUEUED),
                workload(("apps/v1", "Deployment"), QUEUED),
                workload(("batch/v1", "Job"), QUEUED),
                workload(("v1", "Pod"), QUEUED),
                {"kind": "Deployment", "metadata": None},
            )
        ]
        for webhook in webhooks.WEBHOOKS
    }
    assert relevance == {
        "lwscheck": [True, True, False, False, False, False, False],
        "kedacheck": [False, False, True, False, False, False, False],
        "kueuecheck": [False, True, False, True, True, False, False],
    }


def program(folder: Path, lines: str) -> webhooks.Webhook:
    """A webhook that notes which files it is given, and says something of each of one name."""
    path = folder / "judge"
    path.write_text(f"#!/bin/sh\ncd $1; find . -name '*.yaml' | sort >{folder}/given\n{lines}\n")
    path.chmod(0o755)
    return webhooks.Webhook("judge", "a webhook", webhooks.is_scaled_object)


def scaled(where: str) -> manifests.Manifest:
    return manifests.Manifest(where, workload(webhooks.SCALED_OBJECT))


FOUND = """echo '{"file": "x/%s.yaml", "errors": [%s], "changed": [%s]}'"""


def test_files_of_one_folder_are_one_cluster(tmp_path: Path) -> None:
    beside = manifests.Manifest("dev/llm/b.yaml", workload(webhooks.LWS))
    elsewhere = manifests.Manifest("dev/other/b.yaml", workload(webhooks.LWS))
    cluster_manifests = [elsewhere, scaled("dev/llm/a.yaml"), beside, scaled("prod/llm/a.yaml")]
    lines = "; ".join([FOUND % (1, '"no"', '"a: b"'), FOUND % (3, "", "")])
    refusals = webhooks.refusals(tmp_path, program(tmp_path, lines), cluster_manifests)
    assert [str(refusal) for refusal in refusals] == [
        "dev/llm/a.yaml: ScaledObject a: a webhook: no",
        "dev/llm/a.yaml: ScaledObject a: a webhook, which would change it: a: b",
    ]
    assert (tmp_path / "given").read_text().split() == ["./1/1.yaml", "./1/2.yaml", "./2/3.yaml"]


def test_a_webhook_that_does_not_judge(tmp_path: Path) -> None:
    with pytest.raises(CannotJudge, match="judge did not see 1 of 2 objects"):
        list(webhooks.refusals(tmp_path, program(tmp_path, FOUND % (0, "", "")), [scaled("a"), scaled("b")]))
    with pytest.raises(CannotJudge, match="no such CRD"):
        list(webhooks.refusals(tmp_path, program(tmp_path, "echo no such CRD >&2; exit 2"), [scaled("a")]))
    assert list(webhooks.refusals(tmp_path, program(tmp_path, "exit 2"), [])) == []


def test_an_example_that_a_webhook_judges_wrongly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "TESTDATA", tmp_path)
    examples, tools = tmp_path / "judge", tmp_path / "tools"
    examples.mkdir()
    tools.mkdir()
    body = "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\n"
    (examples / "bad.yaml").write_text(f"# why\n# refused\n{body}")
    (examples / "good.yaml").write_text(f"# why\n#\n{body}")
    accepting = program(tools, FOUND % (0, "", ""))
    assert list(webhooks.misjudged(tools, accepting)) == ["bad.yaml: judge should say 'refused', not ''"]
    refusing = program(tools, FOUND % (0, '"it is refused"', ""))
    assert list(webhooks.misjudged(tools, refusing)) == ["good.yaml: judge should say 'nothing', not 'it is refused'"]


@pytest.mark.parametrize("webhook", webhooks.WEBHOOKS[1:], ids=lambda webhook: webhook.program)
def test_webhooks_judge_the_examples_as_these_state(webhook: webhooks.Webhook) -> None:
    """`make apiserver-test` builds the programs, and asks the same before anything else."""
    if not (TOOLS / webhook.program).exists():
        pytest.skip(f"{webhook.program} is not built: scripts/tools.sh {webhook.program}")
    assert list(webhooks.misjudged(TOOLS, webhook)) == []
    accepted = [path for path in (webhooks.TESTDATA / webhook.program).glob("*.yaml") if "\n#\n" in path.read_text()]
    assert accepted
    assert len(list((webhooks.TESTDATA / webhook.program).glob("*.yaml"))) > 2 * len(accepted)


def test_each_document_of_a_file_is_one_manifest() -> None:
    text = "# first\na: 1\n---\nb: |\n  ---\n--- # third\nc: 3\n---\n"
    documents = list(manifests.manifests("a.yaml", text))
    assert [document.body for document in documents] == [{"a": 1}, {"b": "---\n"}, {"c": 3}]
    assert [document.text.strip() for document in documents] == ["# first\na: 1", "b: |\n  ---", "c: 3"]


def test_without_the_servers_nothing_is_judged(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.apiserver", "--tools", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert run.stderr == "cannot judge: etcd and kube-apiserver not built: scripts/tools.sh etcd kube-apiserver\n"


def test_a_server_ends_with_whoever_started_it() -> None:
    program = "import time; print('there', flush=True); time.sleep(60)"
    leash = subprocess.Popen(
        [sys.executable, LEASH, sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert leash.stdin is not None
    assert leash.stdout is not None
    with leash.stdin, leash.stdout:
        assert leash.stdout.readline() == b"there\n"
        start = time.monotonic()
        leash.stdin.close()
        assert leash.stdout.read() == b""  # until nobody can write there any more
    assert leash.wait() == 0
    assert time.monotonic() - start < 30


def test_made_up_inputs_are_the_same_every_time_and_mostly_valid() -> None:
    assert drawn(inputs, 20) == drawn(inputs, 20)
    batches = list(generated.batches(60))
    assert sum(batch.inputs for batch in batches) > 60 + 6  # beside what leads to several of them
    assert sum(batch.rendered for batch in batches) > 54, [
        example for batch in batches for example in batch.examples.values()
    ]
    assert all(batch.texts for batch in batches if batch.rendered)


def test_spoilt_manifests_are_the_same_every_time_and_of_all_kinds() -> None:
    spoilt_manifests = mutated.spoilt(200)
    assert spoilt_manifests == mutated.spoilt(200)
    kinds = {str(spoilt.manifest.body.get("kind")) for spoilt in spoilt_manifests}
    assert {"LeaderWorkerSet", "Service", "HorizontalPodAutoscaler", "PodDisruptionBudget", "AIGatewayRoute"} <= kinds
    assert {"NodeClaim", "NodePool", "Secret", "ConfigMap", "StatefulSet", "ReplicaSet"} <= kinds  # of bases.yaml
    verdicts = [mutated.ours(spoilt.manifest.body) for spoilt in spoilt_manifests]
    assert 20 < sum(not verdict for verdict in verdicts) < 180  # some are fine all the same


def test_a_difference_needs_a_rule_that_fits_all_that_is_said() -> None:
    spoilt = mutated.Spoilt(manifests.Manifest("a.yaml", GROUP), "")
    rule = mutated.Difference("because", ours="^E1", kinds=["LeaderWorkerSet"])
    assert rule.explains(mutated.Verdict(spoilt, ["E1 a"], []))
    assert not rule.explains(mutated.Verdict(spoilt, ["E1 a", "E2 b"], []))
    assert not rule.explains(mutated.Verdict(spoilt, [], ["E1 a"]))
    assert not rule.explains(mutated.Verdict(spoilt, ["E1 a"], ["no"]))
    assert not rule._replace(kinds=["Service"]).explains(mutated.Verdict(spoilt, ["E1 a"], []))


@pytest.mark.parametrize("rule", mutated.differences(), ids=lambda rule: rule.reason[:40])
def test_every_difference_has_a_reason_and_one_side(rule: mutated.Difference) -> None:
    assert len(rule.reason) > 20
    assert bool(rule.ours) != bool(rule.server)
    pattern = rule.ours or rule.server
    assert pattern.startswith("^")
    assert not re.search(pattern, "")
