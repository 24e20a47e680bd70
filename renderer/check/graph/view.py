"""The objects that graph rules look into, by kind, namespace and name, and the external objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from renderer.check.finding import Body
from renderer.diagnostics import Finding, Path
from renderer.kubernetes import disaggregated_sets
from renderer.kubernetes.component_versions import TargetVersions
from renderer.kubernetes.json_values import as_map, as_text
from renderer.kubernetes.workloads import WORKLOADS, Replica
from renderer.text import patterns
from renderer.text.suggestions import closest

Key: TypeAlias = tuple[str, str, str]
"""Kind, namespace ('' for a cluster-scoped object, or one that names none), name."""
Place: TypeAlias = tuple[str, str]
"""Namespace and name."""
T = TypeVar("T")

EXISTS: Body = {}
"""An object that is there and of which nothing else is known."""

_KINDS = {
    "aigateway.envoyproxy.io": "AIGatewayRoute AIServiceBackend BackendSecurityPolicy GatewayConfig QuotaPolicy",
    "gateway.envoyproxy.io": "Backend BackendTrafficPolicy ClientTrafficPolicy EnvoyExtensionPolicy EnvoyPatchPolicy "
    "EnvoyProxy SecurityPolicy",
    "gateway.networking.k8s.io": "BackendTLSPolicy Gateway GatewayClass GRPCRoute HTTPRoute ListenerSet ReferenceGrant",
    "inference.networking.k8s.io": "InferencePool",
    disaggregated_sets.GROUP: disaggregated_sets.ROLE_SCALER,
    "keda.sh": "ScaledObject",
    "autoscaling": "HorizontalPodAutoscaler",
    "": "Namespace Secret Service",
}
GROUPS = {kind: group for group, kinds in _KINDS.items() for kind in kinds.split()}
GROUPS |= {kind: group for group, kind in WORKLOADS}
"""The API group of each kind that the graph rules know."""
_CLUSTER = ("GatewayClass", "Namespace")


@cache
def kind_in(group: str, kind: str) -> str:
    """The kind as used in Keys: its name alone for kinds that the rules know, else with its group."""
    return kind if GROUPS.get(kind) == group else f"{kind}.{group}"


@cache
def kind_of(version: str, kind: str) -> str:
    """The kind as used in Keys, from an object's apiVersion."""
    return kind_in(version.rpartition("/")[0], kind)


@cache
def _declared(external: tuple[str, ...]) -> tuple[frozenset[tuple[str, str, str]], dict[str, list[Place]]]:
    """Kind, namespace and name of the declarations without a glob; by kind, the globs of namespace and name."""
    exact: set[tuple[str, str, str]] = set()
    globs: dict[str, list[Place]] = {}
    for declaration in external:
        kind, *namespace, name = declaration.split("/")
        if any(sign in declaration for sign in "*?["):
            globs.setdefault(kind, []).append(("/".join(namespace), name))
        else:
            exact.add((kind, "/".join(namespace), name))
    return frozenset(exact), globs


class ExternalObjects(Struct, frozen=True):
    """What a set may refer to without holding it."""

    declarations: tuple[str, ...] = ()  # KIND/NAMESPACE/NAME, or KIND/NAME for cluster-scoped kinds, with globs
    gateways: frozenset[Place] = frozenset()  # those that RenderConfig names
    domain: str = "cluster.local"  # of the cluster
    limits: Mapping[Place, int] = {}  # the largest number of rules of a Gateway, where it is set
    present: frozenset[Key] = frozenset()  # objects of the set that cannot be looked into
    ambiguous: frozenset[Key] = frozenset()  # objects of several clusters, of which it is not known which one is meant
    others: ObjectView | None = None  # objects that are known but not judged
    targets: TargetVersions | None = None  # the versions of the clusters, where they are known
    makers: frozenset[str] = frozenset()  # namespaces where what is not in the set makes objects, '' for any
    plain_secrets: tuple[str, ...] = ()  # globs of options and variables whose values may be written out

    def allows(self, finding: Finding) -> bool:
        """Whether a finding about an object is allowed by RenderConfig's output.plainSecrets."""
        return finding.code == "W300" and patterns.fits_any(str(finding.words["name"]), self.plain_secrets)

    def may_be_made(self, namespace: str) -> bool:
        """Whether something that is not in the set, such as a chart, may make an object in a namespace."""
        return bool(self.makers) and (not namespace or not self.makers.isdisjoint(("", namespace)))

    def declared(self, kind: str, namespace: str, name: str) -> bool:
        """Whether the object is declared to exist elsewhere."""
        if kind == "Gateway" and (namespace, name) in self.gateways:
            return True
        if not self.declarations:
            return False
        exact, globs = _declared(self.declarations)
        kind = kind.partition(".")[0]
        return (kind, namespace, name) in exact or any(
            patterns.fits(namespace, namespace_glob) and patterns.fits(name, name_glob)
            for namespace_glob, name_glob in globs.get(kind, ())
        )


class ListenerAdmission(Struct, frozen=True):
    """The listeners of a Gateway that admit the routes of a namespace."""

    hosts: tuple[str, ...]  # of these listeners, '' for any
    listeners: tuple[str, ...] = ()  # their names, in the order of `hosts`
    # Why there are none, or what is not known: a code, the field of the parentRef, and the words of the message.
    problem: tuple[str, str, Mapping[str, object]] | None = None


class ObjectView:
    """A set of objects by Key. Indices over all of them are built on first use."""

    __slots__ = ("_cache", "admissions", "external", "keys", "objects", "replicas")

    def __init__(self, bodies: Sequence[Body], external: ExternalObjects) -> None:
        self.external = external
        self.keys: list[Key] = []
        self.objects: dict[Key, Body] = {}
        self._cache: dict[object, Any] = {}
        self.replicas: dict[int, Sequence[Replica]] = {}  # by the id of the object that makes them
        self.admissions: dict[tuple[Place, str, object, object], ListenerAdmission] = {}
        for body in bodies:
            metadata = as_map(body.get("metadata"))
            namespace, name = metadata.get("namespace"), metadata.get("name")
            key = (
                kind_of(body["apiVersion"], body["kind"]),
                namespace if isinstance(namespace, str) else "",  # faster than as_text, for every object
                name if isinstance(name, str) else "",
            )
            self.keys.append(key)
            self.objects.setdefault(key, body)
        for key in external.present:
            self.objects.setdefault(key, EXISTS)
        for key in external.ambiguous:
            self.objects[key] = EXISTS

    def once(self, name: object, make: Callable[[ObjectView], T]) -> T:
        """The result of `make` for this view, cached under `name`."""
        if name not in self._cache:
            self._cache[name] = make(self)
        value: T = self._cache[name]
        return value

    def find(self, kind: str, namespace: str, name: str) -> Body | None:
        """The object; EXISTS where it is outside of the set; None where it is not known.

        An object without a namespace is found in every namespace: a tool will put it there.
        """
        if body := self.objects.get((kind, namespace, name)):
            return body
        if namespace and (body := self.objects.get((kind, "", name))):
            return body
        others = self.external.others
        if others is not None and (body := others.find(kind, namespace, name)):
            return body
        if (kind, namespace, name) in self.objects or (kind, "", name) in self.objects:
            return EXISTS
        if self.external.declared(kind, namespace, name):
            return EXISTS
        return None if others is None else others.find(kind, namespace, name)

    def all(self, kind: str) -> Iterator[tuple[str, str, Body]]:
        """Namespace, name and body of each object of a kind that can be looked into, those of `others` too."""
        for namespace, name in self.once("by kind", _by_kind).get(kind, ()):
            if body := self.objects[kind, namespace, name]:
                yield namespace, name, body
        if self.external.others is not None:
            yield from self.external.others.all(kind)

    def holds(self, namespace: str) -> bool:
        """Whether the set has objects of the namespace, so that what it lacks there does not exist."""
        return not namespace or namespace in self.once("namespaces", _namespaces)

    def missing(self, kind: str, namespace: str, name: str, path: Path, hint: str = "") -> Finding:
        """The finding that an object is not known, a note where a chart may make it, and for a Gateway of a namespace
        that is not in the set, as another repository has them. `hint`: the advice, where it is not to correct the name.
        """
        bare_kind = kind.partition(".")[0]
        declaration = "/".join(filter(None, (bare_kind, namespace, name)))
        declare = f"if '{name}' exists elsewhere, declare it as external: {declaration}"
        where = f" in namespace '{namespace}'" if namespace and kind not in _CLUSTER else ""
        hint = hint or self._near(kind, namespace, name)
        words = {"kind": bare_kind, "name": name, "where": where, "hint": f"{hint}; {declare}" if hint else declare}
        is_elsewhere = kind == "Gateway" and not hint and not self.holds(namespace)
        return Finding("N580" if is_elsewhere or self.external.may_be_made(namespace) else "E580", path, words)

    def unseen(self, kind: str, namespace: str, name: str, path: Path) -> Iterator[Finding]:
        """A note, at the first reference to it, about an object that need not be in the set."""
        where = f" of namespace '{namespace}'" if namespace else ""
        yield from self.note_once("N580", (kind, namespace, name), path, kind=kind, name=name, where=where)

    def _near(self, kind: str, namespace: str, name: str) -> str:
        """A hint that names another namespace with this name, or the most similar name; '' when there is none."""
        kinds = (kind, "AIGatewayRoute") if kind == "HTTPRoute" else (kind,)
        namespaces_by_name = self.once("by name", _by_name)
        if namespaces := [
            place for searched_kind in kinds for place in namespaces_by_name.get((searched_kind, name), ())
        ]:
            return f"there is one in namespace '{min(namespaces)}'"
        names_by_namespace = self.once("by namespace", _by_namespace)
        near_name = closest(
            name,
            [other for searched_kind in kinds for other in names_by_namespace.get((searched_kind, namespace), ())],
            0.85,
        )
        return f"there is '{near_name}'" if near_name else ""

    def note_once(self, code: str, key: Key, path: Path, **words: object) -> Iterator[Finding]:
        """A note about an object, reported for the first reference to it only."""
        reported: set[tuple[str, Key]] = self.once("noted", lambda _: set())
        if (code, key) not in reported:
            reported.add((code, key))
            yield Finding(code, path, words)


def _by_kind(view: ObjectView) -> dict[str, list[Place]]:
    """By kind, the places of objects."""
    objects: dict[str, list[Place]] = {}
    for kind, namespace, name in view.objects:
        objects.setdefault(kind, []).append((namespace, name))
    return objects


def _by_name(view: ObjectView) -> dict[Place, list[str]]:
    """By kind and name, the namespaces of objects."""
    namespaces: dict[Place, list[str]] = {}
    for kind, namespace, name in view.objects:
        namespaces.setdefault((kind, name), []).append(namespace)
    return namespaces


def _by_namespace(view: ObjectView) -> dict[Place, list[str]]:
    """By kind and namespace, the names of objects."""
    names: dict[Place, list[str]] = {}
    for kind, namespace, name in view.objects:
        names.setdefault((kind, namespace), []).append(name)
    return names


def _namespaces(view: ObjectView) -> set[str]:
    """The namespaces that hold objects, and those whose Namespace is in the set."""
    return {name if kind == "Namespace" else namespace for kind, namespace, name in view.objects}


def named_place(reference: Body, namespace: str) -> Place:
    """Namespace and name of the object that a reference names; `namespace`: where it names none."""
    return as_text(reference.get("namespace")) or namespace, as_text(reference.get("name"))
