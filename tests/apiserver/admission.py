"""Whether ValidatingAdmissionPolicies say the same offline and on the real API server: tests/admission has both sides.

Each policy judges the objects that carry a label with its name, so that all are in force at once.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

from renderer import yamlio
from tests.admission import policies
from tests.admission.objects import LABEL, Body, labelled
from tests.admission.policies import Verdict
from tests.apiserver.judge import STRICT
from tests.apiserver.server import LANES, PATIENCE, CannotJudge, Client

GROUP = "/apis/admissionregistration.k8s.io/v1"
DENIED = re.compile(r"ValidatingAdmissionPolicy '[^']*'(?: with binding '([^']*)')? denied request: (.*)", re.DOTALL)
PROBE = "probe"
REFUSED = "refused by the server for another reason"


class Trial:
    """The policies on a server. A context: they are gone when it is left."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._made: list[str] = []
        self._refused: list[str] = []

    def __enter__(self) -> Trial:
        for body in policies.world():
            self._make(body, keep=True)
        for parts in policies.policies().values():
            for document in parts:
                self._make(selecting(document.value))
        for body in probe():
            self._make(body)
        if self._refused:
            raise CannotJudge("\n".join(self._refused))
        self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        for path in self._made:
            self._client("DELETE", path)

    def verdicts(self, name: str, bodies: Sequence[Body]) -> list[Verdict]:
        """What the server says of each object by one policy."""
        with ThreadPoolExecutor(LANES) as lanes:
            return list(lanes.map(lambda body: self._verdict(labelled(body, name)), bodies))

    def accepted(self, body: Body) -> bool:
        """Whether the server takes the object where no policy judges it."""
        return self._verdict(labelled(body, "none")) == Verdict()

    def _verdict(self, body: Body) -> Verdict:
        answer = self._client("POST", self._path(body), yamlio.dump(body), "application/yaml", **STRICT)
        if not answer.message or answer.body.get("reason") == "AlreadyExists":
            return Verdict()
        denied = DENIED.search(answer.message)
        return Verdict(denied[1] or "", denied[2]) if denied else Verdict("", answer.message, REFUSED)

    def _make(self, body: Body, *, keep: bool = False) -> None:
        path = self._path(body)
        answer = self._client("POST", path, json.dumps(body))
        if answer.message and not (keep and answer.body.get("reason") == "AlreadyExists"):
            self._refused.append(f"{body['kind']} {body['metadata']['name']}: {answer.message}")
        elif not keep:
            self._made.append(f"{path}/{body['metadata']['name']}")

    def _path(self, body: Body) -> str:
        version, namespace = body["apiVersion"], body["metadata"].get("namespace")
        resource = self._client.resource(version, body["kind"])
        if resource is None:
            raise CannotJudge(f"no kind {body['kind']} in {version}")
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        return f"{root}{f'/namespaces/{quote(namespace)}' if resource.namespaced else ''}/{resource.plural}"

    def _wait(self) -> None:
        """Until the policy that was made last denies."""
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": PROBE, "namespace": "default", "labels": {}},
        }
        end = time.monotonic() + PATIENCE
        while self._verdict(labelled(body, PROBE)).message != "in force":
            if time.monotonic() > end:
                raise CannotJudge("the policies are not in force")
            time.sleep(0.2)


def selecting(body: Body) -> Body:
    """A binding that is for the objects with its policy's label alone; policies stay as they are."""
    if body["kind"] != "ValidatingAdmissionPolicyBinding":
        return body
    spec = body["spec"]
    match = spec.get("matchResources", {})
    selector = {"matchLabels": {LABEL: spec["policyName"]}}
    return {**body, "spec": {**spec, "matchResources": {**match, "objectSelector": selector}}}


def probe() -> Iterator[dict[str, Any]]:
    """A policy that denies whatever has its label."""
    head = {"apiVersion": GROUP.removeprefix("/apis/"), "metadata": {"name": PROBE}}
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    validation = {"expression": "false", "message": "in force"}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [validation]}
    yield {**head, "kind": "ValidatingAdmissionPolicy", "spec": spec}
    bound = {"policyName": PROBE, "validationActions": ["Deny"]}
    yield selecting({**head, "kind": "ValidatingAdmissionPolicyBinding", "spec": bound})
