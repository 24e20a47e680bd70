"""Whether a RenderPolicy says the same of an object as it is written and as the API server stores it, and whether
ValidatingAdmissionPolicies see its pods as they are stored.

Made-up objects, each in one of the spellings below that its number draws: old names, empty values, text for booleans
and numbers, another order. What the server refuses may have either verdict.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import quote

from renderer import yamlio
from renderer.admission.server_view import server_view
from renderer.api import RenderPolicy
from renderer.kubernetes.workloads import pod_templates
from renderer.policy.objects import judged_object
from renderer.policy.public_names import judge_routes
from renderer.policy.rules import judge_objects
from tests.apiserver.server import LANES, Body, CannotJudge, Client

COUNT: Final = 3000
ACCEPTED: Final = 0.6  # of the objects, else the generator makes the wrong ones
Chance: TypeAlias = random.Random
Node: TypeAlias = dict[str, Any]
RAW: Final = re.compile(r'"@raw:([^"@]*)@"')

POLICY: Final = """
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderPolicy
metadata: {name: policy}
spec:
  publicNames: [{namespaces: [default], names: ["a-*"]}]
  images: {registries: [ghcr.io/org, docker.io/inftyai, "localhost:5000"]}
  providers: {hosts: ["*.example.com"]}
  weights: {hostPaths: [/data/models]}
  pods:
    serviceAccounts: [default, "team-*"]
    priorityClasses: [system-cluster-critical]
    hostNetwork: false
    hostPID: false
    privileged: false
    runAsRoot: false
"""
ACCOUNTS: Final = ("admin", "team-a", "default", "", None)
IMAGES: Final = (
    "ghcr.io/org/app:v1", "ghcr.io/organisation/app", "busybox", "docker.io/inftyai/a", "inftyai/a:v1", "library/a",
    "index.docker.io/inftyai/a", "GHCR.IO/org/a", "localhost:5000/a", "localhost/a", "quay.io/x/y@sha256:" + "0" * 64,
)  # fmt: skip
FOLDERS: Final = ("/data/models", "/data/models/x", "/data/models/../x", "/data//models/", "/", "/etc", "/data/modelsx")
HOSTS: Final = ("api.example.com", "example.com", "api.example.com.evil.org", "a.svc.cluster.local", "evil.org")
NAMES: Final = ("a-chat", "b-chat")
SEEN: Final = ("serviceAccountName", "serviceAccount", "priorityClassName", "hostNetwork", "hostPID", "volumes")


def raw(text: str) -> str:
    """A value that is written as this YAML."""
    return f"@raw:{text}@"


# ---- spellings: they change the spec of a pod, its first container, or its first security context ----


def _fields(**values: object) -> Callable[[Node, Chance], None]:
    return lambda spec, _: spec.update(values)


def _accounts(new: object, old: object) -> Callable[[Node, Chance], None]:
    def spell(spec: Node, _: Chance) -> None:
        spec.pop("serviceAccountName", None)
        spec.update(
            {key: value for key, value in (("serviceAccountName", new), ("serviceAccount", old)) if value != "-"}
        )

    return spell


def _context(**values: object) -> Callable[[Node, Chance], None]:
    def spell(spec: Node, chance: Chance) -> None:
        holder = chance.choice([spec["containers"][0], spec]) if "privileged" not in values else spec["containers"][0]
        holder.setdefault("securityContext", {}).update(values)

    return spell


def _container(**values: object) -> Callable[[Node, Chance], None]:
    return lambda spec, _: spec["containers"][0].update(values)


def _image(change: Callable[[str], str]) -> Callable[[Node, Chance], None]:
    def spell(spec: Node, chance: Chance) -> None:
        spec["containers"][0]["image"] = change(chance.choice(IMAGES))

    return spell


def _volume(**source: object) -> Callable[[Node, Chance], None]:
    return lambda spec, _: spec.setdefault("volumes", []).append({"name": "more", **source})


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


Spelling: TypeAlias = Callable[[Node, Chance], None]
SPELLINGS: Final[Mapping[str, Spelling]] = {
    "as it is": _fields(),
    "the old account alone": _accounts("-", "admin"),
    "the old account beside ''": _accounts("", "admin"),
    "the old account beside null": _accounts(None, "admin"),
    "'' as the old account": _accounts("admin", ""),
    "null as the old account": _accounts("team-a", None),
    "two accounts": _accounts("team-a", "admin"),
    "two accounts the other way": _accounts("admin", "team-a"),
    "the same account twice": _accounts("admin", "admin"),
    "two empty accounts": _accounts("", ""),
    "two accounts that are null": _accounts(None, None),
    "an empty account": _accounts("", "-"),
    "an empty class": _fields(priorityClassName=""),
    "a class that is null": _fields(priorityClassName=None),
    "hostNetwork null": _fields(hostNetwork=None),
    "hostNetwork as text": _fields(hostNetwork="true"),
    "hostNetwork yes": _fields(hostNetwork=raw("yes")),
    "hostNetwork on": _fields(hostNetwork=raw("ON")),
    "hostNetwork 1": _fields(hostNetwork=1),
    "hostPID null": _fields(hostPID=None),
    "hostPID True": _fields(hostPID=raw("True")),
    "hostPID as text": _fields(hostPID="true"),
    "host fields where the server has them": _fields(securityContext={"hostNetwork": True, "hostPID": True}),
    "names in small letters": _fields(hostnetwork=True, serviceaccountname="admin", HostPID=True),
    "user 0": _context(runAsUser=0),
    "user 0.0": _context(runAsUser=raw("0.0")),
    "user -0": _context(runAsUser=raw("-0")),
    "user 0x0": _context(runAsUser=raw("0x0")),
    "user 00": _context(runAsUser=raw("00")),
    "a user as text": _context(runAsUser="0"),
    "a user that is null": _context(runAsUser=None),
    "privileged null": _context(privileged=None),
    "privileged yes": _context(privileged=raw("yes")),
    "privileged as text": _context(privileged="true"),
    "an empty image": _container(image=""),
    "an image that is null": _container(image=None),
    "an image with a blank": _image(lambda image: f"{image} "),
    "an image with dots": _image(lambda image: image.replace("/", "/x/../", 1)),
    "hostPath null": _volume(hostPath=None),
    "an empty hostPath": _volume(hostPath={"path": ""}),
}
ORDERS: Final[tuple[Callable[[Any], Any], ...]] = (lambda value: value, _reversed)


# ---- objects ----


def _pod(chance: Chance) -> Node:
    """The spec of a pod, with some of the fields that a policy is about."""
    spec: Node = {"containers": [{"name": "a", "image": chance.choice(IMAGES)}]}
    if (account := chance.choice((*ACCOUNTS, "-"))) != "-":
        spec["serviceAccountName"] = account
    for field in ("hostNetwork", "hostPID"):
        if chance.random() < 0.3:
            spec[field] = chance.choice((True, False, None))
    if chance.random() < 0.3:
        spec["priorityClassName"] = chance.choice(("system-cluster-critical", "system-node-critical", "", None))
    if chance.random() < 0.4:
        context = {"runAsUser": chance.choice((0, 1000, None)), "privileged": chance.choice((True, False, None))}
        spec["containers"][0]["securityContext"] = context
    if chance.random() < 0.3:
        spec["initContainers"] = [{"name": "b", "image": chance.choice(IMAGES), "securityContext": {"runAsUser": 0}}]
    if chance.random() < 0.4:
        source = {"hostPath": {"path": chance.choice(FOLDERS)}} if chance.random() < 0.7 else {"emptyDir": None}
        spec["volumes"] = [{"name": "data", **source}]
    if chance.random() < 0.1:
        spec["volumes"] = [{"name": "image", "image": {"reference": chance.choice(IMAGES)}}]
    return spec


def _template(spec: Node, **more: object) -> Node:
    return {"metadata": {"labels": {"app": "a"}}, "spec": {**spec, **more}}


def _object(version: str, kind: str, **content: object) -> Node:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "made-up", "namespace": "default"}, **content}


_SELECTOR: Final = {"matchLabels": {"app": "a"}}
KINDS: Final[Mapping[str, Callable[[Node], Node]]] = {
    "Pod": lambda pod: _object("v1", "Pod", spec=pod),
    "PodTemplate": lambda pod: _object("v1", "PodTemplate", template=_template(pod)),
    "ReplicationController": lambda pod: _object("v1", "ReplicationController", spec={"template": _template(pod)}),
    "Deployment": lambda pod: _object(
        "apps/v1", "Deployment", spec={"selector": _SELECTOR, "template": _template(pod)}
    ),
    "StatefulSet": lambda pod: _object(
        "apps/v1", "StatefulSet", spec={"selector": _SELECTOR, "serviceName": "a", "template": _template(pod)}
    ),
    "DaemonSet": lambda pod: _object("apps/v1", "DaemonSet", spec={"selector": _SELECTOR, "template": _template(pod)}),
    "Job": lambda pod: _object("batch/v1", "Job", spec={"template": _template(pod, restartPolicy="Never")}),
    "CronJob": lambda pod: _object(
        "batch/v1",
        "CronJob",
        spec={"schedule": "@daily", "jobTemplate": {"spec": {"template": _template(pod, restartPolicy="Never")}}},
    ),
    "LeaderWorkerSet": lambda pod: _object(
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        spec={"leaderWorkerTemplate": {"workerTemplate": _template(pod), "leaderTemplate": _template(pod)}},
    ),
    "HelmRelease": lambda pod: _object(
        "helm.toolkit.fluxcd.io/v2",
        "HelmRelease",
        spec={"interval": "1m", "chartRef": {"kind": "OCIRepository", "name": "a"}, "values": {"pod": pod}},
    ),
}


def _others(chance: Chance) -> Node:
    """An object without a pod that a policy is about."""
    host, name, folder = chance.choice(HOSTS), chance.choice(NAMES), chance.choice(FOLDERS)
    header: Node = {"name": chance.choice(("x-ai-eg-model", "X-AI-EG-Model")), "value": name}
    if (how := chance.choice(("-", "Exact", None, "RegularExpression", ""))) != "-":
        header["type"] = how
    matches = chance.choice(([{"headers": [header]}], [], None))
    volume = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "local": None}
    parents, endpoint = [{"name": "a"}], {"fqdn": {"hostname": host, "port": 443}, "ip": None}
    to_service, to_model = [{"name": "a", "port": 80}], [{"name": "a"}]
    routes = "gateway.networking.k8s.io/v1", "aigateway.envoyproxy.io/v1beta1"
    service = {"type": chance.choice(("ExternalName", "ExternalName", None, "")), "externalName": host}
    http, model = ({"matches": matches, "backendRefs": refs} for refs in (to_service, to_model))
    return chance.choice(
        [
            _object("v1", "Service", spec={**service, "ports": [{"port": 80}]}),
            _object("v1", "PersistentVolume", spec={**volume, "hostPath": {"path": folder}}),
            _object(routes[0], "HTTPRoute", spec={"parentRefs": parents, "rules": [http]}),
            _object(routes[1], "AIGatewayRoute", spec={"parentRefs": parents, "rules": [model]}),
            _object("gateway.envoyproxy.io/v1alpha1", "Backend", spec={"type": None, "endpoints": [endpoint]}),
        ]
    )


class MadeUp(NamedTuple):
    """An object and how it is spelt."""

    number: int
    spelling: str
    text: str
    body: Body

    def __str__(self) -> str:
        return f"{self.number}, {self.spelling}: {self.text}"


def made_up(count: int) -> Iterator[MadeUp]:
    """So many objects, the same every time."""
    for number in range(count):
        chance = random.Random(number)
        spelling = chance.choice([*SPELLINGS])
        if chance.random() < 0.15:
            body = _others(chance)
        else:
            pod = _pod(chance)
            SPELLINGS[spelling](pod, chance)
            body = chance.choice([*KINDS.values()])(pod)
        text = RAW.sub(r"\1", json.dumps(chance.choice(ORDERS)(body)))
        yield MadeUp(number, spelling, text, body)


# ---- verdicts ----


Verdict: TypeAlias = Counter[tuple[str, str]]


def verdict(policy: RenderPolicy, data: str) -> Verdict:
    """What the policy denies of an object, wherever in it."""
    documents, problems = yamlio.parse("made-up.yaml", data.encode())
    if problems:
        raise CannotJudge(f"{problems[0].message}: {data}")
    denials = [*judge_objects(policy, documents, None, namespaces=False)]
    denials += judge_routes(policy, judged_object(documents[0], None))
    return Counter((denial.code, json.dumps(denial.words, sort_keys=True)) for denial in denials)


def _pods(body: Mapping[str, Any]) -> list[Node]:
    """The fields of its pods that a policy is about, as ValidatingAdmissionPolicies see them."""
    specs = [template.body.get("spec") for template in pod_templates(body)]
    return [{field: spec.get(field) for field in SEEN} for spec in specs if isinstance(spec, dict)]


def policy() -> RenderPolicy:
    """The policy that judges them all."""
    document = yamlio.parse("llmaz-policy.yaml", POLICY.encode())[0][0]
    return RenderPolicy(document.value["spec"], document, "", "")


def about_spellings(client: Client, count: int | None, say: Callable[[str], None]) -> tuple[int, int, int]:
    """The objects that were compared, 0, and the differences, each of which is said."""
    start = time.monotonic()
    compared = compare(client, count or COUNT)
    for difference in compared.differences:
        say(f"  {difference}")
    say(
        f"spellings: {count or COUNT} made-up objects, in {compared.spellings} of {len(SPELLINGS)} spellings that the"
        f" server takes; {compared.accepted} stored, {compared.denied} of them denied,"
        f" different on {len(compared.differences)} ({time.monotonic() - start:.0f} s)"
    )
    return compared.accepted, 0, len(compared.differences)


class Comparison(NamedTuple):
    """What came of all of them."""

    accepted: int
    denied: int  # of those that the server accepts
    spellings: int  # of which an object was accepted
    differences: list[str]


def compare(client: Client, count: int) -> Comparison:
    """The verdicts on so many objects, as they are written and as the server stores them."""
    judge, subjects = policy(), [*made_up(count)]
    with ThreadPoolExecutor(LANES) as lanes:
        stored = list(lanes.map(lambda subject: _stored(client, subject), subjects))
    accepted = denied = 0
    differences, spellings = [], set()
    for subject, body in zip(subjects, stored, strict=True):
        if body is None:
            continue
        written, stored_verdict = verdict(judge, subject.text), verdict(judge, json.dumps(body))
        accepted, denied = accepted + 1, denied + bool(stored_verdict)
        spellings.add(subject.spelling)
        if written != stored_verdict:
            differences.append(
                f"{subject.number}, {subject.spelling}: {written} as {subject.text}, {stored_verdict} as stored"
            )
        seen, there = _pods(server_view(yamlio.parse("made-up.yaml", subject.text.encode())[0][0].value)), _pods(body)
        if seen != there:
            differences.append(f"{subject.number}, {subject.spelling}: admission sees {seen}, stored is {there}")
    if accepted < count * ACCEPTED:
        raise CannotJudge(f"only {accepted} of {count} made-up objects are taken by the server")
    return Comparison(accepted, denied, len(spellings), differences)


def _stored(client: Client, subject: MadeUp) -> Body | None:
    """The object as the server would store it; None where it refuses."""
    version, kind = subject.body["apiVersion"], subject.body["kind"]
    resource = client.resource(version, kind)
    if resource is None:
        raise CannotJudge(f"no kind {kind} in {version}")
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    space = f"/namespaces/{quote('default')}" if resource.namespaced else ""
    text = subject.text if resource.namespaced else subject.text.replace(', "namespace": "default"', "", 1)
    text = text if resource.namespaced else text.replace('"namespace": "default", ', "", 1)
    path = f"{root}{space}/{resource.plural}"
    answer = client("POST", path, text, "application/yaml", dryRun="All", fieldManager="llmaz")
    return None if answer.message else answer.body
