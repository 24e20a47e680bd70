"""Asks a real API server, and real webhooks, about our manifests: `python -m tests.apiserver`.

The webhooks are those of LeaderWorkerSet, of KEDA about ScaledObjects, of Kueue about workloads with a queue.

Without more words it asks about ten things, and prints a line for each:

    goldens     every object of every golden and example must be accepted
    generated   everything that `llmaz render` makes of thousands of made-up inputs must be accepted
    combined    everything rendered of tests/combinations, whose rows have every pair of keys, must be accepted
    mutated     of hundreds of spoilt manifests `llmaz check` and the server must think alike, differences.yaml aside
    admission   each ValidatingAdmissionPolicy of tests/admission must say the same offline and on the server
    defaults    the server must fill in what renderer/kubernetes/server_defaults.py says, entry by entry
    lists       what kubectl applies of a list, however it is spelt, must be what llmaz judges
    spellings   a RenderPolicy must say the same of made-up objects as they are written and as the server stores them
    merges      KServe's layers must merge as the server merges made-up pods and strategic merge patches of them
    takeovers   what `llmaz adopt` writes must be taken over what runs, and what it calls immutable be refused

Files and folders as arguments are asked about instead. A line for each object that is refused has the server's own
words. The last line is `N objects, M refused`. Exit status 1 when M is above 0 or the two do not think alike, 2 when
nothing could be judged.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.admission import policies
from tests.admission.objects import objects
from tests.apiserver import lists
from tests.apiserver.admission import Trial
from tests.apiserver.defaults import about_defaults
from tests.apiserver.generated import UNMEASURED, Batch, batches
from tests.apiserver.judge import Judge
from tests.apiserver.manifests import Manifest, Refusal, manifests
from tests.apiserver.merges import about_merges
from tests.apiserver.mutated import differences, verdicts
from tests.apiserver.policy_spellings import about_spellings
from tests.apiserver.server import CannotJudge, Client, running
from tests.apiserver.takeovers import about_takeovers
from tests.apiserver.webhooks import EXAMPLES, WEBHOOKS, misjudged
from tests.combinations import rows
from tests.combinations.covering import USUAL, cover

ROOT = Path(__file__).resolve().parents[2]
GOLDENS = (
    "tests/cases/*/expected",
    "tests/adopted/*/expected",
    "examples/*/expected",
    "examples/*/rendered",
    "tests/data/nodepools/*/expected.yaml",
    "tests/platform/*/expected.yaml",
    "tests/apiserver/bases.yaml",  # by hand, with what we do not write: Base64 of lines, claims, NodeClaims
)
QUESTIONS = (
    *("goldens", "generated", "combined", "mutated", "admission", "defaults", "lists", "spellings", "merges"),
    "takeovers",
)
INPUTS = 2200  # of which at least two thousand render
ROWS = 1000  # of combined keys
SPOILT = 2000
JUDGED = 300  # objects by each policy
MOST = 0.9  # of the made-up inputs must render
KUSTOMIZATION = "kustomization.yaml"  # kustomize reads it, no cluster does


class Score(NamedTuple):
    """What came of one question. `disagreements`: where the server and we think differently, without a reason."""

    objects: int
    refused: int
    disagreements: int = 0


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.apiserver", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="files and folders to ask about")
    parser.add_argument("--only", choices=sorted(QUESTIONS), help="one of the questions")
    parser.add_argument("--made-up", type=int, metavar="COUNT", help="so many inputs and spoilt manifests, not all")
    parser.add_argument("--record", action="store_true", help="write what the server says of policies or merges")
    parser.add_argument("--tools", type=Path, default=ROOT / ".tools", help="folder of the programs [.tools]")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    start = time.monotonic()
    try:
        with running(options.tools) as client:
            say(f"API server with our CRDs: ready after {time.monotonic() - start:.0f} s")
            judge = Judge(client, options.tools)
            prove(judge)
            prove_webhooks(options.tools)
            if options.paths:
                scores = [about_files(judge, "files", options.paths)]
            else:
                questions = [options.only] if options.only else QUESTIONS
                scores = [about(name, client, judge, options.made_up, record=options.record) for name in questions]
    except CannotJudge as error:
        sys.stderr.write(f"cannot judge: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; the servers are stopped\n")
        return 130
    objects, refused, disagreements = (sum(column) for column in zip(*scores, strict=True))
    if disagreements:
        say(f"{disagreements} manifests on which `llmaz check` and the server disagree without a reason")
    say(f"{objects} objects, {refused} refused")
    return 1 if refused or disagreements else 0


def prove(judge: Judge) -> None:
    """Raises CannotJudge unless each judge says no to what is wrong, and yes to what is right."""
    pod = {"containers": [{"name": "a", "image": "a", "args": ["--port", "80"]}]}
    doubled = {"containers": [*pod["containers"], *pod["containers"]]}

    def lws(spec: object, size: int = 1) -> Manifest:
        template = {"size": size, "workerTemplate": {"spec": spec}, "leaderTemplate": {"spec": spec}}
        rollout = {"maxUnavailable": 0, "maxSurge": 0} if size > 1 else {"maxUnavailable": 1, "maxSurge": 0}
        spec = {
            "leaderWorkerTemplate": {**template, "restartPolicy": "RecreateGroupOnPodRestart"},
            "networkConfig": {"subdomainPolicy": "Shared"},
            "rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": rollout},
        }
        return Manifest("proof", {**LWS_HEAD, "metadata": {"name": "proof", "namespace": "default"}, "spec": spec})

    for manifest, who in (
        (lws(pod), ""),
        (lws({**pod, "nodeNmae": "a"}), "API server"),
        (lws(doubled), "API server, of spec.leaderWorkerTemplate.leaderTemplate"),
        (lws(pod, size=2), "LeaderWorkerSet webhook"),
    ):
        refusals = judge.refusals([manifest])
        if who not in ([refusal.who for refusal in refusals] or [""]) or (refusals and not who):
            raise CannotJudge(f"the judges are not to be trusted: {who or 'nobody'} should refuse, but {refusals}")


def prove_webhooks(tools: Path) -> None:
    """Raises CannotJudge unless the webhooks judge as the examples of testdata state; lwscheck has tests for that."""
    wrong = [fault for webhook in WEBHOOKS if webhook.program in EXAMPLES for fault in misjudged(tools, webhook)]
    if wrong:
        raise CannotJudge("\n".join(wrong))


LWS_HEAD = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet"}


def about(question: str, client: Client, judge: Judge, made_up: int | None, *, record: bool = False) -> Score:
    """One of them; `made_up` where not all that can be made up is to be asked about."""
    if question == "goldens":
        return about_goldens(judge)
    if question == "admission":
        return about_admission(client, made_up, record=record)
    if question == "defaults":
        return Score(*about_defaults(client, say))
    if question == "lists":
        return about_lists(client, judge.tools)
    if question == "spellings":
        return Score(*about_spellings(client, made_up, say))
    if question == "merges":
        return Score(*about_merges(client, made_up, say, record=record))
    if question == "takeovers":
        return Score(*about_takeovers(client, say))
    if question == "generated":
        return about_generated(judge, made_up or INPUTS)
    if question == "combined":
        return about_combined(judge, made_up or ROWS)
    return about_mutated(judge, made_up or SPOILT)


def about_goldens(judge: Judge) -> Score:
    """All goldens and all examples."""
    folders = [folder for pattern in GOLDENS for folder in sorted(ROOT.glob(pattern))]
    if not folders:
        raise CannotJudge("there are no goldens")
    return about_files(judge, "goldens", folders)


def about_files(judge: Judge, what: str, paths: Sequence[Path]) -> Score:
    """Each object of the files."""
    start = time.monotonic()
    files = list(yaml_files(paths))
    whole = [
        manifest for path in files if path.name != KUSTOMIZATION for manifest in manifests(shown(path), read(path))
    ]
    supported = [manifest for manifest in whole if not is_too_new(manifest)]
    if not supported:
        raise CannotJudge("there is no object in any file")
    refused = report(judge.refusals(supported))
    skipped = sum(path.name == KUSTOMIZATION for path in files)
    say(
        f"{what}: {len(supported)} objects in {len(files) - skipped} files, {refused} refused;"
        f" {skipped} {KUSTOMIZATION} and {len(whole) - len(supported)} objects for LeaderWorkerSet 0.10 skipped"
        f" ({time.monotonic() - start:.0f} s)"
    )
    return Score(len(supported), refused)


def is_too_new(manifest: Manifest) -> bool:
    """Whether LeaderWorkerSet 0.9, the newest whose module is served, lacks a field or a kind: roles that scale apart,
    and their targets, which KEDA's webhook looks up.
    """
    kind, spec = manifest.body["kind"], manifest.body.get("spec") or {}
    if kind == "ScaledObject":
        return bool(spec.get("scaleTargetRef", {}).get("kind") == "DisaggregatedSetRoleScaler")
    return kind == "DisaggregatedSet" and any("scaling" in role for role in spec.get("roles", ()))


def yaml_files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.exists():
            raise CannotJudge(f"{path} is not there")
        yield from [path] if path.is_file() else sorted(path.rglob("*.yaml"))


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def report(refusals: Sequence[Refusal]) -> int:
    """Prints them; how many objects they are."""
    for refusal in refusals:
        say(f"  {refusal}")
    return len({id(refusal.manifest) for refusal in refusals})


def about_generated(judge: Judge, count: int) -> Score:
    """Whatever is rendered of made-up inputs. Inputs that are refused are no fault, as long as they are few."""
    start = time.monotonic()
    inputs = rendered = objects = refused = 0
    codes: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for batch in batches(count):
        batch_manifests = [
            manifest for text in batch.texts for manifest in manifests(f"batch {batch.number}, {text.path}", text.text)
        ]
        refusals = judge.refusals(batch_manifests)
        refused += report(refusals)
        if refusals:
            say(f"  batch {batch.number} is kept in {keep(batch)}")
        inputs, rendered, objects = inputs + batch.inputs, rendered + batch.rendered, objects + len(batch_manifests)
        codes += batch.codes
        kinds.update(manifest.body["kind"] for manifest in batch_manifests)
    say(
        f"generated: {inputs} inputs, {rendered} rendered"
        f" (the others: {', '.join(f'{code} {count}' for code, count in codes.most_common()) or 'none'});"
        f" {objects} objects, {refused} refused ({time.monotonic() - start:.0f} s)"
    )
    say(f"  {', '.join(f'{kind} {count}' for kind, count in kinds.most_common())}")
    if rendered < inputs * MOST:
        raise CannotJudge(
            f"only {rendered} of {inputs} made-up inputs are valid: the generator fell behind the renderer"
        )
    return Score(objects, refused)


def about_combined(judge: Judge, count: int) -> Score:
    """Whatever is rendered of rows that have every pair of keys which llmaz takes together."""
    start = time.monotonic()
    rendered: list[tuple[rows.Row, list[Manifest]]] = []
    with tempfile.TemporaryDirectory() as name:

        def renders(row: rows.Row) -> bool:
            answer = rows.render(row, Path(name))
            place = f"row {len(rendered)}"
            row_manifests = [
                entry for path, text in answer.texts.items() for entry in manifests(f"{place}, {path}", text)
            ]
            if any(problem.code == UNMEASURED for problem in answer.problems):
                row_manifests = [entry for entry in row_manifests if entry.body["kind"] != "ScaledObject"]
            if row_manifests:
                rendered.append((row, [manifest for manifest in row_manifests if not is_too_new(manifest)]))
            return bool(row_manifests)

        covering = cover(renders, count)
    refusals = judge.refusals([manifest for _, row_manifests in rendered for manifest in row_manifests])
    refused = report(refusals)
    for number, (row, row_manifests) in enumerate(rendered):
        if any(refusal.manifest is manifest for refusal in refusals for manifest in row_manifests):
            say(f"  row {number}: { {key: value for key, value in row.items() if value != USUAL[key]} }")
    objects = sum(len(row_manifests) for _, row_manifests in rendered)
    say(
        f"combined: {len(rendered)} rows, {len(covering.refused)} pairs of values refused;"
        f" {objects} objects, {refused} refused ({time.monotonic() - start:.0f} s)"
    )
    return Score(objects, refused)


def keep(batch: Batch) -> str:
    """A folder with the batch's input, for whoever looks into a refusal."""
    folder = Path(tempfile.mkdtemp(prefix=f"llmaz-batch-{batch.number}-"))
    for name, text in batch.files.items():
        (folder / name).write_text(text, "utf-8")
    return str(folder)


def about_mutated(judge: Judge, count: int) -> Score:
    """Whether we and the server think alike of spoilt manifests; what is refused here is meant to be."""
    start = time.monotonic()
    reasons = differences()
    compared = verdicts(judge, count)
    different = [verdict for verdict in compared if not verdict.alike]
    unexplained = [verdict for verdict in different if not any(reason.explains(verdict) for reason in reasons)]
    for verdict in unexplained:
        say(f"  {verdict}")
    explained, alike = len(different) - len(unexplained), len(compared) - len(different)
    fine = sum(verdict.alike and not verdict.ours for verdict in compared)
    say(
        f"mutated: {len(compared)} spoilt manifests; alike on {alike} ({fine} accepted by both), different for a reason"
        f" of differences.yaml on {explained}, without one on {len(unexplained)} ({time.monotonic() - start:.0f} s)"
    )
    return Score(0, 0, len(unexplained))


def about_admission(client: Client, made_up: int | None, *, record: bool) -> Score:
    """Whether policies say the same offline and on the server, of so many objects each."""
    start = time.monotonic()
    with Trial(client) as trial:
        bodies = [body for body in objects() if trial.accepted(body)][: max(20, made_up // 10) if made_up else JUDGED]
        answers = {name: trial.verdicts(name, bodies) for name in policies.policies()}
    reasons, alike, unexplained = policies.differences(), 0, 0
    used: set[policies.Difference] = set()
    for name, answered in answers.items():
        for body, server, ours in zip(bodies, answered, policies.ours(name, bodies), strict=True):
            fitting = [reason for reason in reasons if reason.explains(name, ours, server)]
            used.update(fitting)
            alike += ours == server
            if ours != server and not fitting:
                unexplained += 1
                say(f"  {name}: {body['kind']} {body['metadata']['name']}: ours: {ours}; server: {server}")
    if record:
        policies.record(bodies, answers)
    total = len(bodies) * len(answers)
    denied = sum(bool(verdict.message) for answered in answers.values() for verdict in answered)
    say(
        f"admission: {len(answers)} policies about {len(bodies)} objects each: alike on {alike} of {total}"
        f" ({denied} denied), different for a reason of differences.yaml on {total - alike - unexplained},"
        f" without one on {unexplained} ({time.monotonic() - start:.0f} s)"
    )
    for reason in reasons if not made_up else ():
        if reason not in used:
            say(f"  no longer different: {reason.policy}: {reason.reason}")
    return Score(0, 0, unexplained)


def about_lists(client: Client, tools: Path) -> Score:
    """Whether we judge what kubectl applies of lists."""
    start = time.monotonic()
    faults = lists.faults(client, tools)
    for fault in faults:
        say(f"  {fault}")
    say(
        f"lists: {len(lists.SPELLINGS)} spellings, {len(faults)} judged unlike kubectl applies them"
        f" ({time.monotonic() - start:.0f} s)"
    )
    return Score(0, 0, len(faults))


if __name__ == "__main__":
    sys.exit(main())
