"""What pods may do to the node and the cluster, and did not before: privileges, service accounts, priority, Secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from msgspec import Struct

from renderer.diagnostics import Path
from renderer.diff.fields import format_path
from renderer.diff.objects import Body, Items, ObjectKey
from renderer.diff.risks.kinds import ObjectPair, Risk, marked
from renderer.kubernetes.json_values import as_map, list_at, map_at, maps_at, text_at, texts_at, value_at
from renderer.kubernetes.workloads import CONTAINERS, WORKER, WORKLOADS, containers, kind_of, maps_in, pod_templates

_PARTS = frozenset((*CONTAINERS, "securityContext"))  # of pods, in which there are no other pods
_NODE_NAMESPACES = {"hostPID": "processes", "hostNetwork": "network", "hostIPC": "shared memory"}
_ACCOUNTS = ("serviceAccountName", "serviceAccount")  # the second one is the older name
_TOKEN = "automountServiceAccountToken"  # noqa: S105 a field
_SYSTEM = "system-"
_UNCONFINED = {"seccompProfile": "type", "appArmorProfile": "type", "procMount": ""}
_CONFINED = ("RuntimeDefault", "Localhost", "Default")


class _Pod(Struct, frozen=True):
    """A pod template, or a part of one."""

    spec: Body
    containers: Mapping[str, Body]  # by name
    # The security contexts of the containers, by name, each with what it has from the pod; where the part has no
    # container, the pod's own, by ''.
    contexts: Mapping[str, Body]
    role: str  # of its template, '' where all are alike


class _Finding(Struct, frozen=True):
    """A privilege: the kind of the risk, and a message that also tells whether two are the same."""

    kind: str
    text: str


def privilege_risks(pairs: Sequence[ObjectPair], before: Items, after: Items) -> Iterator[Risk]:
    """The privileges of pods that the change brings, in every kind that has pod templates. A template that is new in
    its object is compared with all that the object had.
    """
    new_accounts = {(key.namespace, key.name) for key in after if _is_account(key) and key not in before}
    for pair in pairs:
        new_pods = dict(_pods(pair.after))
        if not new_pods:
            continue
        old_pods = dict(_pods(pair.before))
        accounts = {name for namespace, name in new_accounts if namespace == pair.key.namespace}
        for path, pod in new_pods.items():
            compared = [old_pods[path]] if path in old_pods else [*old_pods.values()]
            known = {finding for old in compared for finding in _privileges(old, set())}
            findings = [finding for finding in _privileges(pod, accounts) if finding not in known]
            findings += _lost_limits(compared[0], pod, accounts) if compared else ()
            for finding in dict.fromkeys(findings):
                yield Risk(finding.kind, pair.key, _label(path, new_pods) + finding.text)


def _is_account(key: ObjectKey) -> bool:
    return key.kind == "ServiceAccount" and not key.group


def _pods(body: Body) -> Iterator[tuple[Path, _Pod]]:
    """The pod templates in a body, at any depth, by their paths; also parts of them, as a patch has."""
    workload = WORKLOADS.get(kind_of(body))
    # Only in a group there is one leader and one worker: a Ray job's head and submitter both are leaders.
    templates = [*pod_templates(body)] if workload and workload.has_groups else []
    roles = {(*template.path, "spec"): template.role for template in templates}
    has_workers = WORKER in roles.values()
    for path, value in maps_in(body):
        if _PARTS.isdisjoint(path) and _is_pod(value):
            yield _named_path(body, path), _read_pod(value, roles.get(path, "") if has_workers else "")


def _named_path(body: Body, path: Path) -> Path:
    """A path with the names of the items of lists in place of their numbers, where they have names."""
    named: list[str | int] = []
    value: object = body
    for part in path:
        value = value_at(value, part)
        name = text_at(value, "name") if isinstance(part, int) else ""
        named.append(f"[{name}]" if name else part)
    return tuple(named)


def _is_pod(value: Mapping[str, object]) -> bool:
    """Whether a map is a pod's spec, or a part of one that gives privileges."""
    return (
        any(maps_at(value, key) for key in CONTAINERS)
        or any(value.get(key) is True for key in _NODE_NAMESPACES)
        or isinstance(value.get("securityContext"), dict)
        or any(isinstance(value.get(key), str) for key in (*_ACCOUNTS, "priorityClassName"))
    )


def _read_pod(spec: Body, role: str) -> _Pod:
    by_name = {text_at(container, "name"): container for _, container in containers(spec)}
    context = map_at(spec, "securityContext")
    contexts = {name: {**context, **map_at(container, "securityContext")} for name, container in by_name.items()}
    return _Pod(spec, by_name, contexts or {"": context}, role)


def _label(path: Path, pods: Mapping[Path, _Pod]) -> str:
    """The words that tell a pod template from the others of its object."""
    if len(pods) == 1:
        return ""
    words = []
    if "roles" in path[:-1]:
        words.append(str(path[path.index("roles") + 1]).strip("[]"))
    words += [pods[path].role] if pods[path].role else []
    return f"{marked(' '.join(words) or format_path(path))}: "


def _privileges(pod: _Pod, new_accounts: Set[str]) -> Iterator[_Finding]:
    """All privileges of a pod; `new_accounts`: the service accounts that come with it, whose rights show beside it."""
    for field, what in _NODE_NAMESPACES.items():
        if pod.spec.get(field) is True:
            yield _Finding("privileges", f"pods share the {what} of the node ({marked(field)})")
    for name, context in pod.contexts.items():
        subject = f"container {marked(name)}" if name else "a container"
        yield from (_Finding("privileges", f"{subject} {what}") for what in _container_privileges(context))
        for port in maps_at(pod.containers.get(name), "ports"):
            if port.get("hostPort"):
                yield _Finding("privileges", f"{subject} takes port {marked(port['hostPort'])} of the node (hostPort)")
    account = _account(pod.spec)
    if account not in ("", "default", *new_accounts):
        yield _Finding("service-account", f"pods run as {marked(account)}")
    if pod.spec.get(_TOKEN) is True and account not in new_accounts:
        yield _Finding("service-account", "pods mount the token of their service account")
    for volume in maps_at(pod.spec, "volumes"):
        if any(map_at(source, "serviceAccountToken") for source in maps_at(volume, "projected", "sources")):
            yield _Finding("service-account", f"volume {marked(volume.get('name'))} is a token of the service account")
    priority = text_at(pod.spec, "priorityClassName")
    if priority.startswith(_SYSTEM):
        yield _Finding("priority", f"pods of {marked(priority)} preempt other pods")
    yield from _whole_secrets(pod)


def _container_privileges(context: Body) -> Iterator[str]:
    """Words for what a security context gives."""
    if context.get("privileged") is True or map_at(context, "windowsOptions").get("hostProcess") is True:
        yield "is privileged"
    if context.get("allowPrivilegeEscalation") is True:
        yield f"may gain privileges ({marked('allowPrivilegeEscalation')})"
    user = context.get("runAsUser")
    if user == 0 and user is not False:
        yield f"runs as root ({marked('runAsUser: 0')})"
    for capability in texts_at(context, "capabilities", "add"):
        yield f"has the capability {marked(capability)}"
    for field, key in _UNCONFINED.items():
        value = map_at(context, field).get(key) if key else context.get(field)
        if isinstance(value, str) and value not in _CONFINED:
            yield f"has {marked(f'{field}: {value}')}"


def _whole_secrets(pod: _Pod) -> Iterator[_Finding]:
    """The Secrets of which containers get all keys, as variables or as files."""
    volumes = dict(_secret_volumes(pod.spec))
    for name, container in pod.containers.items():
        for source in maps_at(container, "envFrom"):
            if secret := text_at(source, "secretRef", "name"):
                what = f"container {marked(name)} gets all keys of {marked(secret)} as variables (envFrom)"
                yield _Finding("whole-secret", what)
        for mount in maps_at(container, "volumeMounts"):
            for secret in () if "subPath" in mount else volumes.get(text_at(mount, "name"), ()):
                yield _Finding("whole-secret", f"container {marked(name)} gets all keys of {marked(secret)} as files")


def _secret_volumes(spec: Body) -> Iterator[tuple[str, list[str]]]:
    """By name of a volume, the Secrets of which it has all keys."""
    for volume in maps_at(spec, "volumes"):
        sources = [
            (text_at(volume, "secret", "secretName"), map_at(volume, "secret")),
            *(
                (text_at(source, "secret", "name"), map_at(source, "secret"))
                for source in maps_at(volume, "projected", "sources")
            ),
        ]
        yield text_at(volume, "name"), [name for name, source in sources if name and "items" not in source]


def _lost_limits(before: _Pod, after: _Pod, new_accounts: Set[str]) -> Iterator[_Finding]:
    """The limits that a pod's containers had before and have no longer."""
    for name, context in after.contexts.items():
        if (old := before.contexts.get(name)) is None:
            continue
        subject = f"container {marked(name)}" if name else "a container"
        for field, limit in (("allowPrivilegeEscalation", False), ("runAsNonRoot", True)):
            if old.get(field) is limit and field not in context:
                yield _Finding("privileges", f"{subject} is no longer limited by {marked(field)}")
        if old.get("runAsNonRoot") is True and context.get("runAsNonRoot") is False:
            yield _Finding("privileges", f"{subject} is no longer limited by {marked('runAsNonRoot')}")
        if text_at(old, "seccompProfile", "type") in _CONFINED and "seccompProfile" not in context:
            yield _Finding("privileges", f"{subject} is no longer limited by {marked('seccompProfile')}")
        dropped = list_at(context, "capabilities", "drop")
        for capability in texts_at(old, "capabilities", "drop"):
            if capability not in dropped and "ALL" not in dropped:
                yield _Finding("privileges", f"{subject} no longer drops the capability {marked(capability)}")
    mounts = before.spec.get(_TOKEN) is False and value_at(after.spec, _TOKEN) is None
    if mounts and _account(after.spec) not in new_accounts:
        yield _Finding("service-account", "pods mount the token of their service account")


def _account(spec: Body) -> str:
    return next((name for key in _ACCOUNTS if (name := text_at(as_map(spec), key))), "")
