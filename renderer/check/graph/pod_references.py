"""Names that pods and Services say, and that no object or port of the set has, though a similar one is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from renderer.check.finding import Body
from renderer.check.graph.pods import KINDS, selected_pods
from renderer.check.graph.rules import check_rules
from renderer.check.graph.view import ObjectView, kind_in
from renderer.check.kinds.pod_nodes import idle_toleration
from renderer.diagnostics import Finding, Path
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import as_map, as_text, list_at, map_at, maps_at
from renderer.kubernetes.workloads import containers, is_rendered, pod_templates
from renderer.text.suggestions import closest

ACCOUNT = "ServiceAccount"
_PRIORITY = "PriorityClass"
_RUNTIME = "RuntimeClass"
_QUEUE, _WORKLOAD_PRIORITY = "LocalQueue", "WorkloadPriorityClass"
_RBAC, _SCHEDULING = "rbac.authorization.k8s.io", "scheduling.k8s.io"
_RESOURCES = "resource.k8s.io"
_CLAIMS = (("resourceClaimName", "ResourceClaim"), ("resourceClaimTemplateName", "ResourceClaimTemplate"))
# Of kinds outside of the core group:
_GROUPS: Mapping[str, str] = {
    "Role": _RBAC,
    _PRIORITY: _SCHEDULING,
    _RUNTIME: "node.k8s.io",
    **dict.fromkeys((_QUEUE, _WORKLOAD_PRIORITY), wellknown.KUEUE),
    **{kind: _RESOURCES for _, kind in _CLAIMS},
}
RUNTIME_CLASSES = kind_in(_GROUPS[_RUNTIME], _RUNTIME)
"""The kind of runtime classes, as in Keys."""
_CLUSTER_SCOPED = (_PRIORITY, _RUNTIME, _WORKLOAD_PRIORITY)
_CLAIM = "PersistentVolumeClaim"
_TOLD = (
    ACCOUNT,
    _PRIORITY,
    _RUNTIME,
    _CLAIM,
    _QUEUE,
    _WORKLOAD_PRIORITY,
)  # that a set with others of the kind has whole
_BUILT_IN = ("default", "system-")  # names of what each cluster has
_SIMILAR = 0.85  # from which on a name is taken for a misspelt one


# What labels of a workload name, by which Kueue lets it wait.
_QUEUE_LABELS = {wellknown.QUEUE_NAME: _QUEUE, wellknown.QUEUE_PRIORITY: _WORKLOAD_PRIORITY}


class Reference(NamedTuple):
    """An object that something names in its own namespace."""

    kind: str
    name: str
    path: Path  # where it is named
    optional: bool = False
    key: str = ""  # of a ConfigMap or Secret, that has to be in it
    key_path: Path = ()


@check_rules.about(*KINDS)
def validate_pod_references(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for each name of a workload's pods that no object of the set has while one is called nearly so, and for
    each key that the ConfigMap or Secret of the set does not have.
    """
    labels = map_at(body, "metadata", "labels")
    for label, kind in _QUEUE_LABELS.items():
        if label in labels:
            place: Path = ("metadata", "labels", label)
            yield from _judged(view, namespace, Reference(kind, as_text(labels[label]), place))
    rendered = is_rendered(body)
    for template in pod_templates(body):
        for reference in named_objects(template.spec, (*template.path, "spec")):
            if rendered and reference.kind == "Secret":
                reference = reference._replace(key="")  # told at the Secret, by validate_secret_keys
            yield from _judged(view, namespace, reference)
        for i, toleration in enumerate(maps_at(template.spec, "tolerations")):
            values = view.once("taints", _taint_values).get(as_text(toleration.get("key")), set())
            if values and toleration.get("operator", "Equal") == "Equal" and not toleration.get("value"):
                yield from idle_toleration(toleration, values, (*template.path, "spec", "tolerations", i))


@check_rules.about("RoleBinding.rbac.authorization.k8s.io")
def validate_binding(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Likewise for the Role and the ServiceAccounts of a RoleBinding."""
    role = map_at(body, "roleRef")
    if role.get("kind") == "Role":
        yield from _judged(view, namespace, Reference("Role", as_text(role.get("name")), ("roleRef", "name")))
    for i, subject in enumerate(maps_at(body, "subjects")):
        if subject.get("kind") == ACCOUNT and subject.get("namespace", namespace) == namespace:
            path: Path = ("subjects", i, "name")
            yield from _judged(view, namespace, Reference(ACCOUNT, as_text(subject.get("name")), path))


@check_rules.about("Service")
def validate_target_ports(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for each target port of a Service that is a name which none of its pods' ports has."""
    selector = map_at(body, "spec", "selector")
    named = [
        (i, port) for i, port in enumerate(maps_at(body, "spec", "ports")) if isinstance(port.get("targetPort"), str)
    ]
    if not named or not selector:
        return
    selected = selected_pods(view, namespace, {"matchLabels": selector})
    for i, port in named if selected else ():
        target = as_text(port["targetPort"])
        if not target.isdigit() and all(target not in entry.ports for entry in selected):
            known = sorted({str(known) for entry in selected for known in entry.ports if isinstance(known, str)})
            words = {"port": target, "workload": selected[0].workload, "known": ", ".join(known) or "no name"}
            yield Finding("W507", ("spec", "ports", i, "targetPort"), words)


def _judged(view: ObjectView, namespace: str, reference: Reference) -> Iterator[Finding]:
    kind, space = reference.kind, "" if reference.kind in _CLUSTER_SCOPED else namespace
    by_namespace = view.once(("names", kind), lambda view: _names_of_kind(view, kind))
    names = {**by_namespace.get("", {}), **by_namespace.get(space, {})}
    is_declared = view.external.declared(kind, space, reference.name)
    spaces = [other for other, claims in by_namespace.items() if kind == _CLAIM and reference.name in claims]
    if space and spaces and not is_declared and not {"", space}.intersection(spaces):
        yield from view.unseen(kind, space, reference.name, reference.path)  # one of another namespace is of no use
        return
    if not names or not reference.name or reference.optional:
        return
    if reference.name in names:
        body = names[reference.name]
        keys = {**as_map(body.get("data")), **as_map(body.get("stringData")), **as_map(body.get("binaryData"))}
        if reference.key and keys and reference.key not in keys:
            words = {"kind": kind, "name": reference.name, "key": reference.key}
            yield Finding(
                "W506", reference.key_path, {**words, "known": ", ".join(f"'{key}'" for key in sorted(keys)[:5])}
            )
    elif not is_declared:
        near = closest(reference.name, tuple(names), _SIMILAR)
        if near and _letters(near) != _letters(reference.name):
            yield Finding("W505", reference.path, {"kind": kind, "name": reference.name, "near": near})
        elif kind in _TOLD and not reference.name.startswith(_BUILT_IN) and not view.external.may_be_made(space):
            yield from view.unseen(kind, space, reference.name, reference.path)


def _taint_values(view: ObjectView) -> dict[str, set[str]]:
    """The values of the taints of the set's node pools, by their keys."""
    values: dict[str, set[str]] = {}
    for _, _, pool in view.all(kind_in("karpenter.sh", "NodePool")):
        for taint in maps_at(pool, "spec", "template", "spec", "taints"):
            values.setdefault(as_text(taint.get("key")), set()).add(as_text(taint.get("value")))
    return values


def _names_of_kind(view: ObjectView, kind: str) -> dict[str, dict[str, Body]]:
    """The objects of a kind by namespace and name."""
    names: dict[str, dict[str, Body]] = {}
    keyed = kind_in(_GROUPS.get(kind, ""), kind)
    for (other, namespace, name), body in view.objects.items():
        if other == keyed:
            names.setdefault(namespace, {})[name] = body
    return names


def _letters(name: str) -> str:
    """The name without its digits: what differs in these alone is a number of a series."""
    return "".join(char for char in name if not char.isdigit())


_FIELDS = (("serviceAccountName", ACCOUNT), ("priorityClassName", _PRIORITY), ("runtimeClassName", _RUNTIME))


def named_objects(pod: Body, path: Path) -> Iterator[Reference]:
    """What a pod names in its namespace, and classes of the cluster. `path`: of its spec."""
    for field, kind in _FIELDS:
        if field in pod:
            yield Reference(kind, as_text(pod[field]), (*path, field))
    for i, secret in enumerate(maps_at(pod, "imagePullSecrets")):
        yield Reference("Secret", as_text(secret.get("name")), (*path, "imagePullSecrets", i, "name"))
    for i, claim in enumerate(maps_at(pod, "resourceClaims")):
        for field, kind in _CLAIMS:
            if field in claim:
                yield Reference(kind, as_text(claim[field]), (*path, "resourceClaims", i, field))
    for i, volume in enumerate(maps_at(pod, "volumes")):
        place = (*path, "volumes", i)
        for field, kind, key in _SOURCES:
            source = map_at(volume, field)
            if source:
                optional = bool(source.get("optional"))
                named = Reference(kind, as_text(source.get(key)), (*place, field, key), optional)
                yield named
                for n, item in enumerate(maps_at(source, "items")):
                    key_path = (*place, field, "items", n, "key")
                    yield named._replace(key=as_text(item.get("key")), key_path=key_path)
    for place, container in containers(pod):
        yield from _environment(container, (*path, *place))


_SOURCES = (
    ("persistentVolumeClaim", _CLAIM, "claimName"),
    ("configMap", "ConfigMap", "name"),
    ("secret", "Secret", "secretName"),
)
_KEYS: Mapping[str, str] = {"secretKeyRef": "Secret", "configMapKeyRef": "ConfigMap"}
_WHOLE: Mapping[str, str] = {"secretRef": "Secret", "configMapRef": "ConfigMap"}


def _environment(container: Body, path: Path) -> Iterator[Reference]:
    """What the variables of a container name."""
    for i, entry in enumerate(maps_at(container, "env")):
        for field, source in map_at(entry, "valueFrom").items() if "valueFrom" in entry else ():
            if field in _KEYS:
                place, source = (*path, "env", i, "valueFrom", field), as_map(source)
                name, key = as_text(source.get("name")), as_text(source.get("key"))
                optional = bool(source.get("optional"))
                yield Reference(_KEYS[field], name, (*place, "name"), optional, key, (*place, "key"))
    for i, entry in enumerate(maps_at(container, "envFrom")):
        for field, kind in _WHOLE.items():
            source = map_at(entry, field)
            if source:
                place = (*path, "envFrom", i, field, "name")
                yield Reference(kind, as_text(source.get("name")), place, bool(source.get("optional")))


@check_rules.about("Role.rbac.authorization.k8s.io", "ClusterRole.rbac.authorization.k8s.io")
def validate_picker_role(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for each rule of a picker's Role that lets it read and not watch: a picker keeps what it reads up to
    date by watching alone. A Role over InferencePools is one of a picker.
    """
    rules = maps_at(body, "rules")
    if not any("inferencepools" in list_at(rule, "resources") for rule in rules):
        return
    for i, rule in enumerate(rules):
        verbs, resources = list_at(rule, "verbs"), [str(resource) for resource in list_at(rule, "resources")]
        watched = [resource for resource in resources if resource in _WATCHED]
        if (
            watched
            and {"get", "list"}.intersection(map(str, verbs))
            and not {"watch", "*"}.intersection(map(str, verbs))
        ):
            yield Finding("W508", ("rules", i, "verbs"), {"resources": ", ".join(watched)})


_WATCHED = ("inferencepools", "inferenceobjectives", "inferencemodelrewrites", "inferencemodels", "pods")
