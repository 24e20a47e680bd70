"""Whether a real API server gives objects back as `llmaz diff --live` sees them: `python -m tests.apiserver.live`.

Each workload, Service and autoscaler of the adopted deployments, the examples and the operator's outputs is created in
a dry run, and the answer compared with what was sent, both ways: nothing may differ. So what is filled in by
renderer/kubernetes/server_defaults.py, and left out by renderer/diff/live/server_fields.py, is what the server does.
"""

from __future__ import annotations

import json
import sys

from renderer.diff.live.report import live_text
from tests.apiserver.server import CannotJudge, Client, running
from tests.diff.live.dumps import Body, read, report_of
from tests.paths import ROOT, TESTS

KINDS = ("Deployment", "StatefulSet", "LeaderWorkerSet", "Service", "HorizontalPodAutoscaler", "PodDisruptionBudget")
FILES = ("adopted/*/expected/**/*.yaml", "cases/example-*/expected/**/*.yaml", "conformance/cases/*/expected.yaml")


def bodies() -> list[Body]:
    """The objects that are asked about."""
    objects = read(path for pattern in FILES for path in TESTS.glob(pattern))
    return [body for body in objects if body.get("kind") in KINDS]


def answer(client: Client, body: Body) -> Body | None:
    """The object as the server would store it; None where it refuses it."""
    resource = client.resource(body["apiVersion"], body["kind"])
    assert resource is not None
    namespace = body["metadata"].get("namespace", "default")
    client("POST", "/api/v1/namespaces", json.dumps({"metadata": {"name": namespace}}))
    group = "/api/v1" if body["apiVersion"] == "v1" else f"/apis/{body['apiVersion']}"
    reply = client("POST", f"{group}/namespaces/{namespace}/{resource.plural}", json.dumps(body), dryRun="All")
    return None if reply.message else reply.body


def main() -> int:
    """Prints each object that comes back otherwise, and the counts."""
    count, refused, differ = 0, 0, 0
    try:
        with running(ROOT / ".tools") as client:
            for body in bodies():
                stored = answer(client, body)
                count += 1
                if stored is None:
                    refused += 1
                    continue
                for theirs, ours in ((stored, body), (body, stored)):
                    report = report_of([theirs], [ours])
                    if list(report.differences()):
                        differ += 1
                        sys.stdout.write(live_text(report))
    except CannotJudge as fault:
        sys.stdout.write(f"{fault}\n")
        return 2
    sys.stdout.write(f"{count} objects, {refused} refused, {differ} come back otherwise\n")
    return 1 if differ or refused > 1 else 0  # the server refuses one of the operator's, as the operator's note says


if __name__ == "__main__":
    sys.exit(main())
