"""Rules for a pod template of any workload."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import TypeVar

from renderer import schema_validation
from renderer.check.finding import Body
from renderer.check.kind_rules import object_rules
from renderer.check.kinds.pod_nodes import find_idle_tolerations, find_missing_nodes
from renderer.check.node_sizes import AboveAnyNode, amounts_above_any_node, is_above
from renderer.diagnostics import Finding, Path, ReplacingHint
from renderer.kubernetes import quantity
from renderer.kubernetes.json_values import as_map, as_maps, as_number, as_text, as_texts, text_at
from renderer.kubernetes.workloads import WORKLOADS, api_version, containers, pod_templates, stays
from renderer.yamlio import SharedMap

_NAME: Callable[[Body], object] = itemgetter("name")
_PATH: Callable[[Body], object] = itemgetter("mountPath")

_PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
_SHELL_SIGNS = re.compile(r"[;&|<>$`\"'*?\\]")
_BYTES = frozenset(("memory", "ephemeral-storage"))  # of containers
_LEAST_CPU = (
    10 * 10**6
)  # in billionths, as quantities are counted: a millisecond of every 100, below which the kubelet limits no container
_MAX_ENTRIES = 1_000
T = TypeVar("T")


def _cache_shared(compute: Callable[[Body], T]) -> Callable[[Body], T]:
    """The function with a cache for parts of pods that many pods share (SharedMap), which are never changed."""
    entries: dict[int, tuple[Body, T]] = {}  # by its id, which no other gets while it is in here

    def lookup(part: Body) -> T:
        if part.__class__ is not SharedMap:
            return compute(part)
        entry = entries.get(id(part))
        if entry is None:
            if len(entries) >= _MAX_ENTRIES:
                entries.clear()
            entry = entries[id(part)] = part, compute(part)
        return entry[1]

    return lookup


@object_rules.about(*(schema_validation.name_of(api_version(kind), kind[1]) for kind in WORKLOADS))
def validate_pod_templates(body: Body) -> Iterator[Finding]:
    """Findings about the pods of a workload."""
    for template in pod_templates(body):
        for finding in validate_pod(template.spec, template.claims):
            yield finding.below(*template.path, "spec")
        if "activeDeadlineSeconds" in template.spec and as_text(body.get("apiVersion")).startswith(_WITHOUT_DEADLINE):
            yield Finding("E545", (*template.path, "spec", "activeDeadlineSeconds"), {"kind": body.get("kind")})


def validate_pod(spec: Body, claims: Sequence[Body] = ()) -> Iterator[Finding]:
    """Findings about a pod: unique names, volumes for mounts, ports for probes, requests within limits, hooks within
    the grace period. `claims`: the volumeClaimTemplates of its workload, which are volumes of the pod too.
    """
    all_volumes = as_maps(spec.get("volumes"))
    volumes = _unique(all_volumes, _NAME)
    if isinstance(volumes, int):
        yield Finding("E520", ("volumes", volumes, "name"), {"what": "volume", "name": all_volumes[volumes]["name"]})
        return
    if claims:
        volumes = volumes | {text_at(claim, "metadata", "name") for claim in claims}
    constraints: list[tuple[str, str]] = []
    for i, constraint in enumerate(as_maps(spec.get("topologySpreadConstraints"))):
        key = as_text(constraint["topologyKey"]), as_text(constraint["whenUnsatisfiable"])
        if key in constraints:
            yield Finding(
                "E520",
                ("topologySpreadConstraints", i),
                {"what": "topology spread constraint", "name": ", ".join(key)},
            )
        constraints.append(key)
        if "minDomains" in constraint and key[1] != "DoNotSchedule":
            yield Finding("E846", ("topologySpreadConstraints", i, "minDomains"), {"value": key[1]})
        if key[1] == "DoNotSchedule" and (near := _NODE_LABELS.get(key[0])):
            path: Path = ("topologySpreadConstraints", i, "topologyKey")
            yield Finding("W549", path, {"key": key[0], "near": near})
    names: set[object] = set()
    root_places: set[Path] = set()
    staying: list[tuple[Path, Body]] = []
    for path, container in containers(spec):
        if container["name"] in names:
            yield Finding("E520", (*path, "name"), {"what": "container", "name": container["name"]})
        names.add(container["name"])
        for finding in _container(container, volumes):
            yield finding.below(*path)
        if "resources" in container:
            for finding in _above_any_node(as_map(container["resources"])):
                yield finding.below(*path)
        root = _refused_root(as_map(spec.get("securityContext")), as_map(container.get("securityContext")), path)
        if root and root not in root_places:
            root_places.add(root)
            yield Finding("E848", root, {})
        if "lifecycle" in container:
            yield from _validate_sleep(spec, as_map(container["lifecycle"]), path)
        if stays(path, container):
            staying.append((path, container))
    if len(staying) > 1:
        yield from _validate_shared_ports(staying)
    if "tolerations" in spec:
        yield from find_idle_tolerations(spec)
    if "nodeSelector" in spec or "affinity" in spec:
        yield from find_missing_nodes(spec)


def _refused_root(pod: Body, own: Body, path: Path) -> Path:
    """Where a container that may not run as root is told to: by itself, or else by its pod. Empty where it is not."""
    if not pod and not own:
        return ()
    user, non_root = own.get("runAsUser", pod.get("runAsUser")), own.get("runAsNonRoot", pod.get("runAsNonRoot"))
    if user != 0 or non_root is not True:
        return ()
    return (*(path if "runAsUser" in own else ()), "securityContext", "runAsUser")


def _validate_shared_ports(staying: Sequence[tuple[Path, Body]]) -> Iterator[Finding]:
    """A finding for each port of a container that another one beside it has: they share the pod's network. Other init
    containers than sidecars have ended by then. It is about the user's port where we render the other one: the first
    container and the last sidecar are ours.
    """
    own = [entry for entry in staying if entry[0][0] != "initContainers"]
    listening = [*own[:1], *reversed(staying[: -len(own)]), *own[1:]]
    owners: dict[tuple[object, ...], object] = {}
    for path, container in listening:
        for i, port in enumerate(as_maps(container.get("ports"))):
            key = (port["containerPort"], port.get("protocol", "TCP"), port.get("hostPort"), port.get("hostIP"))
            if owners.setdefault(key, container["name"]) != container["name"]:
                words = {"name": container["name"], "other": owners[key], "port": f"{key[0]}/{key[1]}"}
                yield Finding("W254", (*path, "ports", i, "containerPort"), words)


def _validate_sleep(spec: Body, lifecycle: Body, path: Path) -> Iterator[Finding]:
    """A finding for each hook that sleeps longer than the pod's grace period, which counts for postStart too."""
    grace = as_number(spec.get("terminationGracePeriodSeconds", 30))
    for hook, seconds in _sleep_hooks(lifecycle):
        if seconds > grace:
            grace_path: Path = ("terminationGracePeriodSeconds",)
            finding_path = grace_path if grace_path[0] in spec else (*path, "lifecycle", hook, "sleep", "seconds")
            yield Finding("E527", finding_path, {"hook": hook, "seconds": seconds, "grace": grace})


@_cache_shared
def _sleep_hooks(lifecycle: Body) -> list[tuple[str, float]]:
    """The hooks that sleep, and their seconds."""
    handlers = [(hook, as_map(lifecycle.get(hook))) for hook in ("postStart", "preStop")]
    return [
        (hook, as_number(as_map(handler["sleep"]).get("seconds"))) for hook, handler in handlers if handler.get("sleep")
    ]


# API groups whose pods may have no deadline (ValidatePodTemplateSpecForStatefulSet and its like refuse it in
# pkg/apis/apps/validation/validation.go of Kubernetes 1.34; a LeaderWorkerSet makes StatefulSets).
_WITHOUT_DEADLINE = ("apps/", "leaderworkerset.x-k8s.io/")
# What people call the labels of nodes, and what these are.
_NODE_LABELS = {
    **dict.fromkeys(("hostname", "host", "node"), "kubernetes.io/hostname"),
    **dict.fromkeys(("zone", "failure-domain.beta.kubernetes.io/zone"), "topology.kubernetes.io/zone"),
    **dict.fromkeys(("region", "failure-domain.beta.kubernetes.io/region"), "topology.kubernetes.io/region"),
}
_VARIABLE_HINT = "take it from a Secret: valueFrom.secretKeyRef; list what is not a secret under output.plainSecrets"
_OPTION_HINT = (
    "use an environment variable from a Secret, in an option as $(NAME); list what is not a secret under "
    "output.plainSecrets"
)


# What a text has that names or holds a secret. Few do; then `renderer.secrets` is asked, which takes a while to import.
_SIGNS = [
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "cred",
    "auth",
    "bearer",
    "cookie",
    "jwt",
    "psk",
    "-pat",
    "_pat",
    "-sas",
    "_sas",
    "@",
]
# The beginnings of secrets that have a shape of their own, and how long the shortest of them is.
_SHAPE_SIGNS = [
    "sk-",
    "hf_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "glpat",
    "nvapi",
    "npm_",
    "xox",
    "akia",
    "asia",
    "aiza",
    "eyj",
]
_SHORTEST_SHAPE = 15


def _may_be_secret(text: str, longest: int) -> bool:
    """Whether a text, whose longest word has so many characters, may hold a secret."""
    contains = text.lower().__contains__
    return any(map(contains, _SIGNS)) or (longest >= _SHORTEST_SHAPE and any(map(contains, _SHAPE_SIGNS)))


@_cache_shared
def _has_plain_secret(entry: Body) -> bool:
    """Whether a variable of the environment holds a secret, or an URL with one."""
    name, value = entry["name"], entry.get("value")
    if not (value and _may_be_secret(f"{name} {value}", len(as_text(value)))):
        return False
    from renderer.secrets.detection import find_url_secrets, has_secret_shape  # few runs need it
    from renderer.secrets.words import is_literal_secret

    return is_literal_secret(name, value) or has_secret_shape(value) or bool(find_url_secrets(value))


def _plain_secrets(args: Sequence[str]) -> Sequence[tuple[int, str]]:
    """The secrets in a command line, those of options and of URLs: the index of each, and its option."""
    if not _may_be_secret(" ".join(args), max(map(len, args), default=0)):
        return ()
    from renderer.secrets.detection import find_secrets, find_url_secrets, has_secret_shape  # few runs need it

    secrets, option = [(secret.index, secret.name) for secret in find_secrets(args)], ""
    indices = {index for index, _ in secrets}
    for i, arg in enumerate(args):
        option = arg.partition("=")[0] if arg[:1] == "-" else option
        count = len(find_url_secrets(arg)) or (i not in indices and has_secret_shape(arg))
        secrets += [(i, option)] * count
    return secrets


def _container(container: Body, volumes: set[object]) -> Iterator[Finding]:
    ports: set[object] = set()
    for i, port in enumerate(as_maps(container.get("ports"))):
        if "name" in port:
            if port["name"] in ports:
                yield Finding("E520", ("ports", i, "name"), {"what": "port", "name": port["name"]})
            ports.add(port["name"])
    env = as_maps(container.get("env"))
    if isinstance(duplicate := _unique(env, _NAME), int):
        yield Finding(
            "E520", ("env", duplicate, "name"), {"what": "environment variable", "name": env[duplicate]["name"]}
        )
    for i, entry in enumerate(env):
        if "valueFrom" not in entry:
            if _has_plain_secret(entry):
                words = {"name": entry["name"], "what": f"the variable '{entry['name']}'"}
                yield Finding("W300", ("env", i, "value"), {**words, "hint": _VARIABLE_HINT})
            continue
        if entry.get("value"):
            yield Finding("E524", ("env", i), {"name": entry["name"]})
        field = as_map(as_map(entry["valueFrom"]).get("fieldRef"))
        if field and field.get("apiVersion", "") not in ("", "v1"):
            yield Finding("E528", ("env", i, "valueFrom", "fieldRef", "apiVersion"), {"version": field["apiVersion"]})
    if "command" in container and (program := _line_words(container)):
        yield Finding("E529", ("command", 0), program)
    for key in ("command", "args"):
        for index, name in _plain_secrets(as_texts(container[key])) if key in container else ():
            words = {"name": name, "what": f"the option '{name}'" if name else "this command line"}
            yield Finding("W300", (key, index), {**words, "hint": _OPTION_HINT})
    mounts = as_maps(container.get("volumeMounts"))
    if isinstance(duplicate := _unique(mounts, _PATH), int):
        yield Finding(
            "E520",
            ("volumeMounts", duplicate, "mountPath"),
            {"what": "mount", "name": mounts[duplicate]["mountPath"]},
        )
    if not volumes.issuperset(map(_NAME, mounts)):
        for i, mount in enumerate(mounts):
            if mount["name"] not in volumes:
                yield Finding("E521", ("volumeMounts", i, "name"), {"name": mount["name"]})
    for key in _PROBES:
        if isinstance(probe := container.get(key), dict):
            for action, name in _named_probe_ports(probe):
                if name not in ports:
                    yield Finding("E522", (key, action, "port"), {"name": name})
            if "exec" in probe and (program := _line_words(as_map(probe["exec"]))):
                yield Finding("E529", (key, "exec", "command", 0), program)
    for hook, program in _hook_programs(as_map(container["lifecycle"])) if "lifecycle" in container else ():
        yield Finding("E529", ("lifecycle", hook, "exec", "command", 0), program)
    if isinstance(sides := container.get("resources"), dict):
        yield from _resource_findings(sides)


@_cache_shared
def _hook_programs(lifecycle: Body) -> list[tuple[str, dict[str, str]]]:
    """The hooks that run a whole command line as a program, with the words of the message."""
    handlers = [(hook, as_map(handler)) for hook, handler in lifecycle.items()]
    programs = [(hook, _line_words(as_map(handler["exec"]))) for hook, handler in handlers if "exec" in handler]
    return [(hook, words) for hook, words in programs if words]


@_cache_shared
def _line_words(holder: Body) -> dict[str, str]:
    """The words of the message about a command whose first item is a whole command line: no shell takes it apart, so
    the container's runtime looks for a file of that name (https://kubernetes.io/docs/tasks/inject-data-application/
    define-command-argument-container/). {} for another. A path may have blanks in it.
    """
    program = "".join(as_texts(holder.get("command"))[:1])
    words = program.split(None, 2)
    if len(words) < 2 or "$(" in program or "{{" in program:
        return {}
    if words[0][:1] in "/." and not any(word[:1] == "-" for word in program.split()[1:]):
        return {}
    rest = ", …" if len(words) > 2 else ""
    hint = f"write each word as an item of the list: '{words[0]}', '{words[1]}'{rest}"
    if _SHELL_SIGNS.search(program):
        hint = "write 'sh' and '-c' as items in front of it"
    return {"program": f"{words[0]} {words[1]}{rest[1:]}", "hint": hint}


@_cache_shared
def _named_probe_ports(probe: Body) -> list[tuple[str, str]]:
    """The actions of a probe and the names of their ports."""
    actions = [(action, as_map(probe.get(action))) for action in ("httpGet", "tcpSocket")]
    return [(action, port) for action, settings in actions if isinstance(port := settings.get("port"), str)]


@_cache_shared
def _resource_findings(sides: Body) -> list[Finding]:
    """All findings about requests and limits."""
    findings: list[Finding] = []
    try:
        findings.extend(_resources(sides))
    except ValueError:
        findings.extend(_unreadable(sides))
    return findings


def _resources(sides: Body) -> Iterator[Finding]:
    """Findings about requests above limits, extended resources that are no whole numbers or differ on both sides, and
    tiny numbers of bytes and CPUs. Raises ValueError for what is not a valid quantity.
    """
    limits = as_map(sides.get("limits"))
    for name, request in as_map(sides.get("requests")).items():
        limit = limits.get(name, request)
        if request != limit and quantity.nanos(request) > quantity.nanos(limit):
            words = {"name": name, "request": request, "limit": limit}
            words["hint"] = quantity.limit_hint(name, request, limit)
            yield Finding("E523", ("resources", "requests", name), words)
        elif _needs_equal_limit(name) and (name not in limits or quantity.nanos(request) != quantity.nanos(limit)):
            yield Finding("E525", ("resources", "requests", name), {"name": name, "request": request})
        if name in _BYTES and _is_tiny(request) and request != limits.get(name):  # else it may follow the limit
            yield Finding("W524", ("resources", "requests", name), _tiny_words(name, request))
    for name, limit in limits.items():
        if name in _BYTES:
            if _is_tiny(limit):
                yield Finding("W524", ("resources", "limits", name), _tiny_words(name, limit))
        elif name == "cpu":
            if 0 < quantity.nanos(limit) < _LEAST_CPU:
                yield Finding("W524", ("resources", "limits", name), _tiny_cpu_words(limit))
        elif _is_extended(name) and not str(limit).isdecimal() and quantity.nanos(limit) % 10**9:
            yield Finding("E526", ("resources", "limits", name), {"name": name, "value": limit})


@_cache_shared
def _above_any_node(sides: Body) -> Sequence[Finding]:
    """A finding for a container's CPUs or memory above what any node has."""
    return [
        Finding("W532", ("resources", item.side, item.name), {**_oversized_words(item), "where": item.nodes})
        for item in amounts_above_any_node(sides)
    ]


def _oversized_words(item: AboveAnyNode) -> dict[str, object]:
    """The words of the warning about too large a request. `4000` of cpu is meant in thousandths, `64000Gi` in mebibytes
    and `640Ti` in gibibytes.
    """
    if item.name == "cpu":
        number, unit = str(quantity.nanos(item.value) // 10**9), "m"  # where others write 4k
        value, has = number, f"{item.most:,} CPUs"
    else:
        number, unit = str(item.value).rstrip("GTi"), "Gi" if "T" in str(item.value) else "Mi"
        value, has = str(item.value), f"{item.most // 2**30:,} GiB"
    is_meant = (len(number) > 2 or unit == "Gi") and not is_above(number + unit, item.most)
    meant_text = f"{number}{unit}"
    hint = ReplacingHint(f"did you mean {meant_text}?", str(item.value), meant_text) if is_meant else "request less"
    return {"what": f"{value} of {item.name}", "has": has, "hint": hint}


def _unreadable(sides: Body) -> Iterator[Finding]:
    """Findings for quantities that the schema accepts and Kubernetes does not."""
    for side in ("limits", "requests"):
        for name, value in as_map(sides.get(side)).items():
            try:
                quantity.nanos(value)
            except ValueError:
                yield Finding("E305", ("resources", side, name), {"value": value, "hint": quantity.hint(value)})


def _is_extended(name: str) -> bool:
    """Whether it is an extended resource, of a device plugin or the like, which Kubernetes does not divide or
    overcommit.
    """
    return "/" in name and "kubernetes.io/" not in name


def _needs_equal_limit(name: str) -> bool:
    """Whether a request needs a limit of the same quantity."""
    return ("/" in name and "kubernetes.io/" not in name) or name.startswith("hugepages-")


@lru_cache(maxsize=1024)
def _is_tiny(value: object) -> bool:
    """Whether a number of bytes is so small that another unit was meant."""
    return 0 < quantity.nanos(value) < quantity.MEBI


def _tiny_words(name: str, value: object) -> dict[str, object]:
    """The words of the warning about a tiny number of bytes: `512m` is half a byte, and `16` is sixteen."""
    number = str(value).rstrip("numkKi")
    hint = f"did you mean {number}Mi{'' if number != str(value) else f', or {number}Gi'}?"
    return {"name": name, "value": value, "least": "a mebibyte", "hint": hint}


def _tiny_cpu_words(value: object) -> dict[str, object]:
    """The words of the warning about thousandths of a CPU where whole ones were meant: `4m` for 4."""
    least = "10m, the least that the kubelet limits a container to"
    return {"name": "cpu", "value": value, "least": least, "hint": f"did you mean {quantity.thousandths(value)}?"}


def _unique(items: Sequence[Body], key: Callable[[Body], object]) -> set[object] | int:
    """All values of the key, or the index of the first item that repeats one."""
    values_set = set(map(key, items))
    if len(values_set) == len(items):
        return values_set
    values = [*map(key, items)]
    return next(i for i, value in enumerate(values) if value in values[:i])
