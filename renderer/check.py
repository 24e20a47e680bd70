"""5: objects against the rules of the cluster that takes them: schemas, LWS's webhook, HPA, and each other.

For objects of ours a finding points back at the input field that caused it; `llmaz check` runs the same rules over any
manifests, and points at their own lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from renderer import quantity, schema
from renderer.api import Scope
from renderer.plan import Manifest
from renderer.problems import Origin, Path, Problem, RenderError, dotted, problem
from renderer.tree import File
from renderer.yamlio import Document

Body = Mapping[str, Any]
Finding = tuple[str, Path, dict[str, Any]]
_LWS, _HPA = "leaderworkerset.x-k8s.io/v1/LeaderWorkerSet", "autoscaling/v2/HorizontalPodAutoscaler"
_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_NAME = "leaderworkerset.sigs.k8s.io/name"
_INDEX = "leaderworkerset.sigs.k8s.io/worker-index"
_MAX_INT32 = 2**31 - 1


class Made(NamedTuple):
    """Manifests with the files that hold them."""

    manifests: Sequence[Manifest]
    texts: Sequence[tuple[str, str]]


def manifests(made: Sequence[Manifest]) -> list[Problem]:
    """Everything that is wrong with one app's objects, at the input's places."""
    problems = []
    for manifest in made:
        for code, path, words in one(manifest.body):
            problems.append(_placed(manifest, code, path, words))
    for index, code, path, words in together([manifest.body for manifest in made]):
        problems.append(_placed(made[index], code, path, words))
    return problems


def _placed(manifest: Manifest, code: str, path: Path, words: Mapping[str, Any]) -> Problem:
    found = problem(code, manifest.origin(path), **words)
    return found._replace(message=f"in {manifest.body['kind']} {dotted(path)}: {found.message}")


def documents(read: Sequence[Document]) -> tuple[list[Problem], list[str]]:
    """Everything that is wrong with hand-written manifests, at their own places; and the kinds that no schema of ours knows."""
    problems: list[Problem] = []
    bodies: list[Body] = []
    whole: list[Document] = []
    unknown = []
    for document in read:
        value = document.value
        if (
            not isinstance(value, dict)
            or not isinstance(value.get("kind"), str)
            or not isinstance(value.get("apiVersion"), str)
        ):
            problems.append(problem("E501", document.origin()))
            continue
        if not schema.exists(_schema(value)):
            unknown.append(f"{value['apiVersion']}/{value['kind']}")
            continue
        found = [
            problem(code, document.origin(*path, key=bool(words.get("key"))), **words)
            for code, path, words in one(value)
        ]
        problems += found
        if not found:
            bodies.append(value)
            whole.append(document)
    seen: dict[tuple[str, str, str, str], Document] = {}
    for document, body in zip(whole, bodies, strict=True):
        metadata = body["metadata"]
        key = (
            body["apiVersion"].rpartition("/")[0],
            body["kind"],
            metadata.get("namespace", ""),
            metadata.get("name", ""),
        )
        if (first := seen.setdefault(key, document)) is not document:
            file, line, _ = first.origin("metadata", "name").place
            problems.append(
                problem("E201", document.origin("metadata", "name"), kind=key[1], name=key[3], file=file, line=line)
            )
    problems += [problem(code, whole[index].origin(*path), **words) for index, code, path, words in together(bodies)]
    return problems, unknown


def _schema(body: Body) -> str:
    group, _, version = body["apiVersion"].rpartition("/")
    return f"output/{group or 'core'}/{body['kind'].lower()}_{version}"


def one(body: Body) -> Iterator[Finding]:
    """What is wrong with one object of a kind that we know: its schema, then the rules that no schema holds."""
    name = _schema(body)
    if not schema.valid(name, body):
        for found in schema.findings(name, body):
            words: dict[str, Any] = {"hint": "", **found.words}
            yield found.code, found.path, {**words, "key": found.key}
        return
    for rule in RULES.get(f"{body['apiVersion']}/{body['kind']}", ()):
        yield from rule(body)


def lws_webhook(body: Body) -> Iterator[Finding]:
    """What LeaderWorkerSet's validating webhook refuses, and what its mutating one would rewrite (apis.md, section 1)."""
    metadata, spec = body["metadata"], body["spec"]
    template = spec["leaderWorkerTemplate"]
    size, replicas = template.get("size", 1), spec.get("replicas", 1)
    name = metadata.get("name", "")
    if not _LABEL.fullmatch(name) or len(name) > 63:
        yield "E510", ("metadata", "name"), {"name": name}
    if size < 1:
        yield "E511", ("spec", "leaderWorkerTemplate", "size"), {"what": f"size {size} is below 1"}
    if replicas < 0:
        yield "E511", ("spec", "replicas"), {"what": f"replicas {replicas} is below 0"}
    if replicas * size > _MAX_INT32:
        yield "E511", ("spec", "replicas"), {"what": f"replicas × size is {replicas * size}, above {_MAX_INT32}"}
    update: Path = ("spec", "rolloutStrategy", "rollingUpdateConfiguration")
    rollout = (spec.get("rolloutStrategy") or {}).get("rollingUpdateConfiguration") or {}
    values = {}
    for key, default in (("maxUnavailable", 1), ("maxSurge", 0)):
        value = rollout.get(key, default)
        values[key] = _share(value)
        if values[key] is None:
            yield "E512", (*update, key), {"field": key, "value": value}
    if values == {"maxUnavailable": 0, "maxSurge": 0} and replicas:
        yield "E513", update, {}
    if rollout.get("partition", 0) < 0:
        yield "E511", (*update, "partition"), {"what": f"partition {rollout['partition']} is below 0"}
    yield from _subgroups(metadata, template, size)
    if template.get("restartPolicy") == "Default":
        yield "E515", ("spec", "leaderWorkerTemplate", "restartPolicy"), {}


def _subgroups(metadata: Body, template: Body, size: int) -> Iterator[Finding]:
    path: Path = ("spec", "leaderWorkerTemplate", "subGroupPolicy")
    policy = template.get("subGroupPolicy")
    key = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"
    if policy is None:
        if key in (metadata.get("annotations") or {}):
            yield "E516", ("metadata", "annotations", key), {}
        return
    part = policy.get("subGroupSize")
    if part is None:
        yield "E514", path, {"what": "subGroupSize is missing; LWS's webhook fails without it"}
    elif not 1 <= part <= size:
        yield "E514", (*path, "subGroupSize"), {"what": f"subGroupSize {part} is not between 1 and the size {size}"}
    elif policy.get("subGroupPolicyType") == "LeaderExcluded" and (size - 1) % part:
        yield (
            "E514",
            (*path, "subGroupSize"),
            {"what": f"the size less the leader, {size - 1}, is no multiple of subGroupSize {part}"},
        )
    elif size % part and (size - 1) % part:
        yield (
            "E514",
            (*path, "subGroupSize"),
            {"what": f"neither the size {size} nor {size - 1} is a multiple of subGroupSize {part}"},
        )


def _share(value: int | str) -> int | None:
    """A number of groups, or a percentage up to 100 %, as a number; None when it is neither."""
    if isinstance(value, int):
        return value if value >= 0 else None
    digits = value.removesuffix("%")
    return int(digits) if value.endswith("%") and digits.isascii() and digits.isdigit() and int(digits) <= 100 else None


def lws_pods(body: Body) -> Iterator[Finding]:
    """What only a StatefulSet or the kubelet would find in the pod templates: a CRD checks no more than the schema."""
    template = body["spec"]["leaderWorkerTemplate"]
    for part in ("leaderTemplate", "workerTemplate"):
        if part in template:
            for code, path, words in pod(template[part]["spec"]):
                yield code, ("spec", "leaderWorkerTemplate", part, "spec", *path), words


def pod(spec: Body) -> Iterator[Finding]:
    """Unique names, mounts with a volume, probes on a port that is there, requests within limits."""
    volumes = _unique(spec.get("volumes") or (), "name")
    if isinstance(volumes, int):
        yield "E520", ("volumes", volumes, "name"), {"what": "volume", "name": spec["volumes"][volumes]["name"]}
        return
    names: set[str] = set()
    for group in ("initContainers", "containers"):
        for i, container in enumerate(spec.get(group) or ()):
            path: Path = (group, i)
            if container["name"] in names:
                yield "E520", (*path, "name"), {"what": "container", "name": container["name"]}
            names.add(container["name"])
            for code, below, words in _container(container, volumes):
                yield code, (*path, *below), words


def _container(container: Body, volumes: set[str]) -> Iterator[Finding]:
    ports: set[Any] = set()
    for i, port in enumerate(container.get("ports") or ()):
        if port.get("name") in ports:
            yield "E520", ("ports", i, "name"), {"what": "port", "name": port["name"]}
        ports |= {port["name"]} if "name" in port else set()
    if isinstance(twice := _unique(container.get("env") or (), "name"), int):
        yield "E520", ("env", twice, "name"), {"what": "environment variable", "name": container["env"][twice]["name"]}
    mounts = container.get("volumeMounts") or ()
    if isinstance(twice := _unique(mounts, "mountPath"), int):
        yield "E520", ("volumeMounts", twice, "mountPath"), {"what": "mount", "name": mounts[twice]["mountPath"]}
    for i, mount in enumerate(mounts):
        if mount["name"] not in volumes:
            yield "E521", ("volumeMounts", i, "name"), {"name": mount["name"]}
    for key in ("startupProbe", "readinessProbe", "livenessProbe"):
        for action in ("httpGet", "tcpSocket"):
            port = ((container.get(key) or {}).get(action) or {}).get("port")
            if isinstance(port, str) and port not in ports:
                yield "E522", (key, action, "port"), {"name": port}
    sides = container.get("resources") or {}
    limits = sides.get("limits") or {}
    for name, request in (sides.get("requests") or {}).items():
        limit = limits.get(name, request)
        if request != limit and quantity.amount(request) > quantity.amount(limit):
            yield "E523", ("resources", "requests", name), {"name": name, "request": request, "limit": limit}


def _unique(items: Iterable[Body], key: str) -> set[str] | int:
    """All values of the key, or the index of the first that came before."""
    seen: set[str] = set()
    for i, item in enumerate(items):
        if (value := item[key]) in seen:
            return i
        seen.add(value)
    return seen


def hpa_rules(body: Body) -> Iterator[Finding]:
    """What the API server checks of an HPA beside the schema (apis.md, section 4)."""
    spec = body["spec"]
    low, high = spec.get("minReplicas", 1), spec["maxReplicas"]
    if high < 1:
        yield "E530", ("spec", "maxReplicas"), {"what": f"maxReplicas {high} is below 1"}
    if low < 1:
        yield "E530", ("spec", "minReplicas"), {"what": f"minReplicas {low} is below 1"}
    if low > high:
        yield "E530", ("spec", "minReplicas"), {"what": f"minReplicas {low} is above maxReplicas {high}"}
    for i, metric in enumerate(spec.get("metrics") or ()):
        for what, below in _metric(metric):
            yield "E531", ("spec", "metrics", i, *below), {"what": what}
    for direction, rules in (spec.get("behavior") or {}).items():
        path: Path = ("spec", "behavior", direction)
        if not 0 <= rules.get("stabilizationWindowSeconds", 0) <= 3600:
            yield (
                "E530",
                (*path, "stabilizationWindowSeconds"),
                {"what": "stabilizationWindowSeconds must be between 0 and 3600"},
            )
        if "policies" in rules and not rules["policies"]:
            yield "E530", (*path, "policies"), {"what": "policies must not be empty"}
        for i, policy in enumerate(rules.get("policies") or ()):
            if policy["value"] < 1:
                yield "E530", (*path, "policies", i, "value"), {"what": "a policy's value must be at least 1"}
            if not 1 <= policy["periodSeconds"] <= 1800:
                yield (
                    "E530",
                    (*path, "policies", i, "periodSeconds"),
                    {"what": "periodSeconds must be between 1 and 1800"},
                )


_SOURCES = {
    "Resource": "resource",
    "Pods": "pods",
    "Object": "object",
    "External": "external",
    "ContainerResource": "containerResource",
}
_TARGETS = {
    "Resource": ("Utilization", "AverageValue"), "ContainerResource": ("Utilization", "AverageValue"), "Pods": ("AverageValue",),
    "Object": ("Value", "AverageValue"), "External": ("Value", "AverageValue"),
}  # fmt: skip
_FIELDS = {"Utilization": "averageUtilization", "AverageValue": "averageValue", "Value": "value"}


def _metric(metric: Body) -> Iterator[tuple[str, Path]]:
    kind = metric.get("type", "")
    source = _SOURCES.get(kind)
    given = [key for key in _SOURCES.values() if key in metric]
    if source is None:
        yield f"type '{kind}' is none of {', '.join(_SOURCES)}", ("type",)
        return
    if given != [source]:
        yield (
            (
                f"type {kind} needs the field {source}"
                + (f" and no {', '.join(k for k in given if k != source)}" if set(given) - {source} else "")
            ),
            ("type",),
        )
        return
    target = metric[source].get("target") or {}
    path: Path = (source, "target")
    values = {key: target[key] for key in _FIELDS.values() if key in target}
    allowed = _TARGETS[kind]
    if target.get("type") not in allowed:
        yield f"the target of a {kind} metric has type {' or '.join(allowed)}", (*path, "type")
    elif set(values) != {_FIELDS[target["type"]]}:
        yield f"a target of type {target['type']} has exactly the field {_FIELDS[target['type']]}", path
    else:
        ((key, value),) = values.items()
        if quantity.amount(value) <= 0:
            yield f"{key} must be above 0", (*path, key)


def service_rules(body: Body) -> Iterator[Finding]:
    """Ports have unique names and numbers; several ports all have names; a headless Service's port is its target."""
    spec = body["spec"]
    ports = spec.get("ports") or ()
    for i, port in enumerate(ports):
        if len(ports) > 1 and not port.get("name"):
            yield "E540", ("spec", "ports", i), {"what": "every port of several needs a name"}
        if any(
            port.get("name") == other.get("name")
            and port.get("name")
            or (port["port"], port.get("protocol")) == (other["port"], other.get("protocol"))
            for other in ports[:i]
        ):
            yield "E540", ("spec", "ports", i), {"what": "the port's name or number is already there"}
        target = port.get("targetPort", port["port"])
        if spec.get("clusterIP") == "None" and isinstance(target, int) and target != port["port"]:
            yield (
                "E540",
                ("spec", "ports", i, "targetPort"),
                {"what": f"a headless Service does not translate ports: {port['port']} is not {target}"},
            )
    if not _LABEL.fullmatch(name := body["metadata"].get("name", "")) or len(name) > 63:
        yield "E510", ("metadata", "name"), {"name": name}
    if spec.get("clusterIP") == "":
        yield "E540", ("spec", "clusterIP"), {"what": "clusterIP '' drifts for ever; leave it out"}


def pdb_rules(body: Body) -> Iterator[Finding]:
    """Exactly one of minAvailable and maxUnavailable."""
    spec = body["spec"]
    if ("minAvailable" in spec) == ("maxUnavailable" in spec):
        yield "E541", ("spec",), {}


def workload_rules(body: Body) -> Iterator[Finding]:
    """A workload's selector matches its own pods, and its pods hold together."""
    spec = body["spec"]
    labels = (spec["template"].get("metadata") or {}).get("labels") or {}
    wanted = (spec.get("selector") or {}).get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        yield "E542", ("spec", "selector", "matchLabels"), {}
    for code, path, words in pod(spec["template"]["spec"]):
        yield code, ("spec", "template", "spec", *path), words


RULES: dict[str, tuple[Callable[[Body], Iterator[Finding]], ...]] = {
    _LWS: (lws_webhook, lws_pods),
    _HPA: (hpa_rules,),
    "v1/Service": (service_rules,),
    "policy/v1/PodDisruptionBudget": (pdb_rules,),
    "apps/v1/Deployment": (workload_rules,),
    "apps/v1/StatefulSet": (workload_rules,),
    "apps/v1/DaemonSet": (workload_rules,),
}


def together(bodies: Sequence[Body]) -> Iterator[tuple[int, str, Path, dict[str, Any]]]:
    """What is wrong between objects: one scaler a workload and no replicas beside it, Services that reach the leaders' port.

    Yields the index of the object that has to change, a code, where, and the wording's words.
    """
    sets: dict[tuple[str, str], int] = {}
    for i, body in enumerate(bodies):
        if body["kind"] == "LeaderWorkerSet":
            sets[_key(body)] = i
    scalers: dict[tuple[str, str, str], int] = {}
    for i, body in enumerate(bodies):
        kind, (namespace, name) = body["kind"], _key(body)
        if kind in ("HorizontalPodAutoscaler", "ScaledObject"):
            target = body["spec"]["scaleTargetRef"]
            key = (namespace, target.get("kind", "Deployment"), target["name"])
            if (first := scalers.setdefault(key, i)) != i:
                yield (
                    i,
                    "E550",
                    ("spec", "scaleTargetRef", "name"),
                    {"name": target["name"], "other": f"{bodies[first]['kind']} {_key(bodies[first])[1]}"},
                )
            scaled = sets.get((namespace, target["name"])) if key[1] == "LeaderWorkerSet" else None
            if scaled is not None and "replicas" in bodies[scaled]["spec"]:
                yield scaled, "E551", ("spec", "replicas"), {"name": name, "kind": kind}
        elif kind == "Service" and body["apiVersion"] == "v1" and sets:
            if (namespace, name) in sets:
                yield i, "E552", ("metadata", "name"), {"name": name}
            selector = body["spec"].get("selector") or {}
            leader = sets.get((namespace, selector.get(_NAME, "")))
            if leader is not None and selector.get(_INDEX) == "0":
                listened = _leader_ports(bodies[leader])
                for j, port in enumerate(body["spec"].get("ports") or ()):
                    target = port.get("targetPort", port["port"])
                    if listened and target not in listened:
                        yield (
                            i,
                            "E553",
                            ("spec", "ports", j),
                            {"port": target, "ports": ", ".join(sorted(map(str, listened)))},
                        )


def _key(body: Body) -> tuple[str, str]:
    metadata = body["metadata"]
    return metadata.get("namespace", ""), metadata.get("name", "")


def _leader_ports(body: Body) -> set[int | str]:
    template = body["spec"]["leaderWorkerTemplate"]
    spec = (template.get("leaderTemplate") or template["workerTemplate"])["spec"]
    return {
        port[field]
        for container in spec["containers"]
        for port in container.get("ports") or ()
        for field in ("containerPort", "name")
        if field in port
    }


def folder(scope: Scope, states: Mapping[str, str]) -> list[Problem]:
    """An error for each file in the way that is not ours."""
    origin = [Origin(File(f"{scope.folder}/{path}", "", "")) for path, state in states.items() if state == "foreign"]
    return [problem("E141", each) for each in origin]


@contextmanager
def writable(scope: Scope) -> Iterator[None]:
    """Turns what the file system refuses into a Problem. Raises RenderError."""
    try:
        yield
    except OSError as error:
        raise RenderError(
            [problem("E140", Origin(File(error.filename or scope.folder, "", "")), what=error.strerror or error)]
        ) from None


def kubeconform(program: str | None, made: Sequence[Made]) -> list[Problem]:
    """What kubeconform says of our files against our schemas, at the input's places. No network is used.

    Raises FileNotFoundError when there is no such program.
    """
    import json
    import subprocess
    import tempfile

    if not made or not program:
        return []
    by_path: dict[str, list[Manifest]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for each in made:
            rest = list(each.manifests)
            for path, text in each.texts:
                count = len(rest) if len(each.texts) == 1 else 1
                by_path[path], rest = rest[:count], rest[count:]
                os.makedirs(os.path.dirname(f"{scratch}/{path}"), exist_ok=True)
                with open(f"{scratch}/{path}", "w", encoding="utf-8") as file:
                    file.write(text)
        where = '{{if eq .Group "v1"}}core{{else}}{{.Group}}{{end}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json'
        command = [program, "-strict", "-output", "json", "-schema-location", f"{schema.FOLDER}/output/{where}", scratch]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        try:
            resources = json.loads(run.stdout)["resources"]
        except (ValueError, KeyError):
            return [problem("E561", Origin(File(program, "", "")), what=(run.stderr or run.stdout).strip()[:300])]
        problems = []
        for resource in resources or ():
            path = os.path.relpath(resource["filename"], scratch)
            manifest = next(
                (
                    m
                    for m in by_path.get(path, ())
                    if (m.body["kind"], m.body["metadata"]["name"]) == (resource["kind"], resource["name"])
                ),
                None,
            )
            if manifest is None:
                problems.append(problem("E560", Origin(File(path, "", "")), what=resource["msg"]))
                continue
            errors = resource.get("validationErrors") or [{"path": "", "msg": resource["msg"]}]
            for error in errors:
                steps: Path = tuple(
                    int(step) if step.isdigit() else step for step in error["path"].strip("/").split("/") if step
                )
                problems.append(_placed(manifest, "E560", steps, {"what": error["msg"]}))
        return problems
