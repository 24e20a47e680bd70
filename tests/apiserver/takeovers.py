"""Whether the API server takes what `llmaz adopt` writes over what runs, and refuses what is called immutable.

The inputs of tests/adopt are applied as their owner's tool applies them; what is rendered of each, by either way, is
then applied over them by the same tool in a dry run.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from renderer.adopt.adoption import adopt
from renderer.adopt.takeover_choice import SAME
from renderer.diagnostics import RenderError
from renderer.kubernetes.immutable_fields import IMMUTABLE_FIELDS
from tests.apiserver.server import Body, CannotJudge, Client
from tests.diff.live.dumps import read
from tests.paths import TESTS

APPLY: Final = "application/apply-patch+yaml"
TOOL: Final = "gitops"
LEAST: Final = 40  # takeovers of each way, else the inputs are the wrong ones
POD: Final = {"metadata": {"labels": {"a": "a", "b": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
CLAIM: Final = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
DEVICES: Final = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}}
OTHER_DEVICES: Final = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "other.example.com"}}]}}
SPECS: Final[dict[tuple[str, str], tuple[str, Body, dict[tuple[str, ...], Any]]]] = {
    ("apps", "Deployment"): (
        "apps/v1",
        {"selector": {"matchLabels": {"a": "a"}}, "template": POD},
        {("spec", "selector"): {"matchLabels": {"b": "b"}}},
    ),
    ("apps", "StatefulSet"): (
        "apps/v1",
        {"serviceName": "a", "selector": {"matchLabels": {"a": "a"}}, "template": POD},
        {
            ("spec", "selector"): {"matchLabels": {"b": "b"}},
            ("spec", "serviceName"): "b",
            ("spec", "podManagementPolicy"): "Parallel",
            ("spec", "volumeClaimTemplates"): [{"metadata": {"name": "a"}, "spec": CLAIM}],
        },
    ),
    ("", "Service"): ("v1", {"ports": [{"port": 80}]}, {("spec", "clusterIP"): "None"}),
    ("resource.k8s.io", "ResourceClaim"): ("resource.k8s.io/v1", DEVICES, {("spec",): OTHER_DEVICES}),
    ("resource.k8s.io", "ResourceClaimTemplate"): (
        "resource.k8s.io/v1",
        {"spec": DEVICES},
        {("spec",): {"spec": OTHER_DEVICES}},
    ),
}
"""Of each kind whose fields the server itself keeps: its version, a spec, and another value of each field. A
LeaderWorkerSet's are its webhook's and its StatefulSets'.
"""


def about_takeovers(client: Client, say: Callable[[str], None]) -> tuple[int, int, int]:
    """The objects that were applied, those that are refused, and the fields that are immutable to us alone."""
    start, faults, counts = time.monotonic(), [*_changeable(client)], {"": 0, SAME: 0}
    count, refused = 0, 0
    for number, folder in enumerate(sorted(path.parent for path in TESTS.glob("adopt/*/*/input"))):
        for name in counts:
            objects = [*_written(folder / "input", name)]
            namespace = f"takeover-{number}-{name or 'other'}"
            if not objects or not _applied(client, read((folder / "input").rglob("*.yaml")), namespace):
                continue
            counts[name] += 1
            for body in objects:
                count += 1
                message = _apply(client, body, namespace, dryRun="All", fieldValidation="Strict")
                refused += bool(message)
                if message:
                    say(f"  {folder.name}, --as '{name}': {body['kind']} {body['metadata']['name']}: {message}")
    for fault in faults:
        say(f"  {fault}")
    if min(counts.values()) < LEAST:
        raise CannotJudge(f"too few inputs can be taken over: {counts}")
    say(
        f"takeovers: {counts['']} inputs by other names, {counts[SAME]} by the same; {count} objects applied over what"
        f" runs, {refused} refused; {len(faults)} fields judged unlike the server ({time.monotonic() - start:.0f} s)"
    )
    return count, refused, len(faults)


def _written(folder: Path, name: str) -> Iterator[Body]:
    """The objects that an input becomes, with the Services that move; none where it is refused."""
    try:
        adoption = adopt([str(folder)], "out", name=name)
    except RenderError:
        return
    if adoption.workloads:
        yield from (dict(body) for body in adoption.rendered)


def _applied(client: Client, bodies: Sequence[Body], namespace: str) -> bool:
    """Whether the server takes all workloads and Services of an input, as their owner's tool applies them."""
    client("POST", "/api/v1/namespaces", json.dumps({"metadata": {"name": namespace}}))
    kinds = ("Deployment", "StatefulSet", "LeaderWorkerSet", "Service", "HorizontalPodAutoscaler")
    known = [body for body in bodies if body.get("kind") in kinds]
    known = [body for body in known if "llmaz.io" not in str(body.get("apiVersion"))]
    return bool(known) and not any(_apply(client, _plain(body), namespace) for body in known)


def _plain(body: Body) -> Body:
    """An object as a tool applies it: without what a server wrote."""
    metadata = {key: body["metadata"][key] for key in ("name", "labels", "annotations") if key in body["metadata"]}
    return {**{key: value for key, value in body.items() if key != "status"}, "metadata": metadata}


def _apply(client: Client, body: Body, namespace: str, **query: str) -> str:
    """What the server says against an object in a namespace; '' where it takes it."""
    resource = client.resource(body["apiVersion"], body["kind"])
    if resource is None:
        return f"the server knows no {body['kind']}"
    group = "/api/v1" if body["apiVersion"] == "v1" else f"/apis/{body['apiVersion']}"
    place = f"namespaces/{namespace}/{resource.plural}" if resource.namespaced else resource.plural
    metadata = {**body["metadata"], **({"namespace": namespace} if resource.namespaced else {})}
    text = json.dumps({**body, "metadata": metadata})
    path = f"{group}/{place}/{metadata['name']}"
    return client("PATCH", path, text, APPLY, fieldManager=TOOL, force="true", **query).message


def _changeable(client: Client) -> Iterator[str]:
    """The fields of IMMUTABLE_FIELDS that the server lets somebody change, and those that nothing here changes."""
    namespace = "immutable"
    client("POST", "/api/v1/namespaces", json.dumps({"metadata": {"name": namespace}}))
    for (group, kind), (version, spec, changes) in SPECS.items():
        body = {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, "spec": spec}
        if message := _apply(client, body, namespace):
            raise CannotJudge(f"the {kind} to be changed is refused: {message}")
        yield from (f"{kind}: no change of {path}" for path in IMMUTABLE_FIELDS[group, kind].keys() - changes.keys())
        for path, value in changes.items():
            changed = {**body, "spec": value if len(path) == 1 else {**spec, path[1]: value}}
            if not _apply(client, changed, namespace, dryRun="All"):
                yield f"{kind}: the server takes another {'.'.join(path)}"
