"""Applies every example to a small cluster, and asks Argo CD's diff about it: `python -m tests.cluster [NAME...]`.

Among them are `init`, which `llmaz init --cpu-demo` makes, and `platform`, the own objects of our chart. For each, one
after the other, in a cluster with real controllers and pretended nodes:

    it is applied, server-side; namespaces, Secrets, claims that it counts on are made up
    every LeaderWorkerSet becomes Available, those of a DisaggregatedSet and every Deployment too; every Job completes,
        every claim is bound; every Service gets endpoints on each of its ports; every autoscaler reads the scale of its
        target; every PodDisruptionBudget and InferencePool selects pods
    drift: no field is OutOfSync by Argo CD's own diff, in each of its modes
    every LeaderWorkerSet and Deployment is scaled as an autoscaler does it, and drift asked again: nothing but replicas
        that Git says

A line for each example, lines for what is wrong, a table, and what is only applied, since nobody acts on it here. Exit
status 1 when anything is wrong, 2 when nothing could be judged. The name `cutover`, or none at all, also asks
`tests/cluster/cutover.py`, in a cluster of its own.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.apiserver.manifests import manifests
from tests.apiserver.server import CannotJudge
from tests.cluster.control import Cluster, standing
from tests.cluster.cutover import judge_cutover
from tests.cluster.examples import Example, devices, examples, nodes
from tests.cluster.takeover import judge_takeover
from tests.cluster.trial import MODES, Row, differences, inactive, prepare, removed, trial

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = {
    "objects": "objects",
    "LeaderWorkerSet": "LWS",
    "DisaggregatedSet": "sets",
    "Deployment": "Deployments",
    "Job": "Jobs",
    "pods": "pods",
    "Service": "Services",
    "HorizontalPodAutoscaler": "HPAs",
    "drift": "drift",
    "scaled": "scaled",
    "seconds": "s",
}
CUTOVER = "cutover"
FEW = 4  # examples that are named rather than counted
# Its CPU is written as no webhook leaves it: the diff has to say so in every mode.
PROOF = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata:
  name: proof
  namespace: proof
spec:
  leaderWorkerTemplate:
    workerTemplate:
      spec:
        containers:
          - name: a
            image: a
            resources:
              requests:
                cpu: 1000m
"""


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="examples, say hpa or environments/prod [all]")
    parser.add_argument("--tools", type=Path, default=ROOT / ".tools", help="folder of the programs [.tools]")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    start, drift = time.monotonic(), options.tools.absolute() / "drift"
    names = [name for name in options.names if name != CUTOVER]
    try:
        wrong_claims = 0
        if names != options.names or not names:
            wrong_claims = judge_cutover(options.tools) + judge_takeover(options.tools)
        if options.names and not names:
            say(f"cutover: {wrong_claims} claims do not hold")
            return 1 if wrong_claims else 0
        selected = examples(names)
        bodies = [manifest.body for example in selected for manifest in example.manifests]
        pretended = nodes(bodies)
        with standing(options.tools, [*pretended, *devices(bodies, pretended)]) as cluster:
            say(f"cluster: ready after {time.monotonic() - start:.0f} s")
            prove(cluster, drift)
            rows = [report(trial(cluster, drift, example)) for example in selected]
    except CannotJudge as error:
        sys.stderr.write(f"cannot judge: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; the cluster is gone\n")
        return 130
    say("")
    for line in table(rows):
        say(line)
    for line in applied_only(selected):
        say(line)
    wrong = [row.name for row in rows if row.faults]
    say("")
    say(f"{len(rows)} examples, {len(wrong)} wrong{': ' if wrong else ''}{', '.join(wrong)}")
    return 1 if wrong or wrong_claims else 0


def prove(cluster: Cluster, drift: Path) -> None:
    """Raises CannotJudge unless the diff sees in each mode what is known to differ."""
    example = Example("proof", tuple(manifests("proof", PROOF)))
    bodies = [manifest.body for manifest in example.manifests]
    messages = [*prepare(cluster, bodies)]
    messages += [cluster.applied(manifest.body, manifest.text).message for manifest in example.manifests]
    if any(messages):
        raise CannotJudge(f"the proof is not applied: {' '.join(messages)}")
    drifts = differences(drift, cluster.kubeconfig, example)
    blind = [
        mode
        for mode in MODES
        if not any(difference.mode == mode and difference.path.endswith(".cpu") for difference in drifts)
    ]
    if blind:
        raise CannotJudge(f"the diff is not to be trusted: {', '.join(blind)} sees no drift where there is some")
    if messages := removed(cluster, bodies):
        raise CannotJudge(" ".join(messages))


def report(row: Row) -> Row:
    """The row, once it has been said in a line, and what is wrong in others."""
    figures = row.figures
    if row.faults:
        say(f"{row.name}: {len(row.faults)} WRONG ({figures['seconds']} s)")
        for fault in row.faults:
            say(f"  {' '.join(fault.split())}")
    else:
        pods = "1 pod" if figures["pods"] == "1" else f"{figures['pods']} pods"
        say(f"{row.name}: {figures['objects']} objects, {pods}, no drift ({figures['seconds']} s)")
    return row


def table(rows: Sequence[Row]) -> list[str]:
    """All rows in columns; a dash for what an example has none of, or did not get to."""
    lines = [("example", *COLUMNS.values(), "")]
    for row in rows:
        figures = (row.figures.get(key, "-") for key in COLUMNS)
        lines.append((row.name, *figures, "WRONG" if row.faults else ""))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    written = [
        "  ".join([first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))])
        for first, *rest in lines
    ]
    return [*(line.rstrip() for line in written), f"drift, scaled: fields OutOfSync, {'/'.join(MODES)}"]


def applied_only(selected: Sequence[Example]) -> list[str]:
    """What is there and compared, and no more, with the examples that have it."""
    example_names: dict[str, list[str]] = {}
    for example in selected:
        for what in inactive([manifest.body for manifest in example.manifests]):
            example_names.setdefault(what, []).append(example.name)
    lines = [
        f"  {what}: {', '.join(names) if len(names) <= FEW else f'{len(names)} examples'}"
        for what, names in sorted(example_names.items())
    ]
    return ["", "only applied and compared, their controllers are not there:", *lines] if lines else []


if __name__ == "__main__":
    sys.exit(main())
