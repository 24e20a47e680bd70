"""What the rules of the chain see: the objects of a set by kind, namespace and name, and what exists outside of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, TypeVar

from renderer import patterns
from renderer.check.finding import Body, Finding
from renderer.problems import Path
from renderer.records import NamedTuple
from renderer.since import Targets
from renderer.suggestions import closest

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
    "leaderworkerset.x-k8s.io": "LeaderWorkerSet",
    "keda.sh": "ScaledObject",
    "autoscaling": "HorizontalPodAutoscaler",
    "apps": "DaemonSet Deployment ReplicaSet StatefulSet",
    "": "Namespace Pod ReplicationController Secret Service",
}
GROUPS = {kind: group for group, kinds in _KINDS.items() for kind in kinds.split()}
"""The API group of each kind that the chain knows."""
_CLUSTER = ("GatewayClass", "Namespace")


@cache
def kind_in(group: str, kind: str) -> str:
    """A kind as Keys have it: its name alone where it is of the chain, else with its group."""
    return kind if GROUPS.get(kind) == group else f"{kind}.{group}"


@cache
def kind_of(version: str, kind: str) -> str:
    """A kind as Keys have it, from an object's apiVersion."""
    return kind_in(version.rpartition("/")[0], kind)


@cache
def _declared(external: tuple[str, ...]) -> tuple[frozenset[tuple[str, str, str]], dict[str, list[Place]]]:
    """Kind, namespace and name of what is declared without a glob; by kind, the globs of namespace and name."""
    plain: set[tuple[str, str, str]] = set()
    globs: dict[str, list[Place]] = {}
    for declaration in external:
        kind, *namespace, name = declaration.split("/")
        if any(sign in declaration for sign in "*?["):
            globs.setdefault(kind, []).append(("/".join(namespace), name))
        else:
            plain.add((kind, "/".join(namespace), name))
    return frozenset(plain), globs


class Outside(NamedTuple):
    """What a set may refer to without holding it.

    `external`: KIND/NAMESPACE/NAME, or KIND/NAME for cluster-scoped kinds, with globs; `gateways`: those that
    RenderConfig names; `limits`: how many rules each of them may hold, where it says so; `present`: objects that are in
    the set but cannot be looked into; `others`: objects that are known and not judged, seen through the same rules;
    `targets`: the versions of the clusters, where somebody says them.
    """

    external: tuple[str, ...] = ()
    gateways: frozenset[Place] = frozenset()
    domain: str = "cluster.local"
    limits: Mapping[Place, int] = {}
    present: frozenset[Key] = frozenset()
    others: View | None = None
    targets: Targets | None = None

    def declared(self, kind: str, namespace: str, name: str) -> bool:
        """Whether somebody says that this object exists elsewhere."""
        if kind == "Gateway" and (namespace, name) in self.gateways:
            return True
        if not self.external:
            return False
        plain, globs = _declared(self.external)
        kind = kind.partition(".")[0]
        return (kind, namespace, name) in plain or any(
            patterns.fits(namespace, space) and patterns.fits(name, title) for space, title in globs.get(kind, ())
        )


class Admission(NamedTuple):
    """Which listeners of a Gateway take the routes of a namespace. `hosts`: theirs, '' for any; `wrong`: why none does,
    or what is not known: a code, the field of the parentRef, and words.
    """

    hosts: tuple[str, ...]
    wrong: tuple[str, str, Mapping[str, Any]] | None = None


class View:
    """A set of objects by Key. What takes a walk over all of them is made when first asked for, once."""

    __slots__ = ("_made", "admissions", "keys", "objects", "outside")

    def __init__(self, bodies: Sequence[Body], outside: Outside) -> None:
        self.outside = outside
        self.keys: list[Key] = []
        self.objects: dict[Key, Body] = {}
        self._made: dict[Any, Any] = {}
        self.admissions: dict[tuple[Place, str, str | None, int | None], Admission] = {}
        for body in bodies:
            metadata = body["metadata"]
            key = kind_of(body["apiVersion"], body["kind"]), metadata.get("namespace", ""), metadata.get("name", "")
            self.keys.append(key)
            self.objects.setdefault(key, body)
        for key in outside.present:
            self.objects.setdefault(key, EXISTS)

    def once(self, name: Any, make: Callable[[View], T]) -> T:
        """What `make` says of this view, worked out once."""
        if name not in self._made:
            self._made[name] = make(self)
        made: T = self._made[name]
        return made

    def find(self, kind: str, namespace: str, name: str) -> Body | None:
        """The object; EXISTS where it is outside of the set; None where nobody knows it.

        One that names no namespace is in whichever it is asked for: a tool will put it there.
        """
        if found := self.objects.get((kind, namespace, name)):
            return found
        if namespace and (found := self.objects.get((kind, "", name))):
            return found
        others = self.outside.others
        if others is not None and (found := others.find(kind, namespace, name)):
            return found
        if (kind, namespace, name) in self.objects or self.outside.declared(kind, namespace, name):
            return EXISTS
        return None if others is None else others.find(kind, namespace, name)

    def all(self, kind: str) -> Iterator[tuple[str, str, Body]]:
        """Namespace, name and body of each object of a kind that can be looked into, those of others too."""
        for namespace, name in self.once("by kind", _by_kind).get(kind, ()):
            if body := self.objects[kind, namespace, name]:
                yield namespace, name, body
        if self.outside.others is not None:
            yield from self.outside.others.all(kind)

    def holds(self, namespace: str) -> bool:
        """Whether anything of the namespace is in the set, so that what is missing there is missing."""
        return not namespace or namespace in self.once("namespaces", _namespaces)

    def missing(self, kind: str, namespace: str, name: str, path: Path, hint: str = "") -> Finding:
        """The finding that nobody knows the object. `hint`: what to do, where that is not to write its name right."""
        plain = kind.partition(".")[0]
        whole = "/".join(filter(None, (plain, namespace, name)))
        declare = f"if it exists elsewhere, declare it as external: {whole}"
        where = f" in namespace '{namespace}'" if namespace and kind not in _CLUSTER else ""
        hint = hint or self._near(kind, namespace, name)
        words = {"kind": plain, "name": name, "where": where, "hint": f"{hint}; {declare}" if hint else declare}
        return "E580", path, words

    def _near(self, kind: str, namespace: str, name: str) -> str:
        """Where one of that name is, or one whose name is nearly the same; '' when there is none."""
        kinds = (kind, "AIGatewayRoute") if kind == "HTTPRoute" else (kind,)
        known = self.once("by name", _by_name)
        if elsewhere := [place for each in kinds for place in known.get((each, name), ())]:
            return f"there is one in namespace '{min(elsewhere)}'"
        here = self.once("by namespace", _by_namespace)
        close = closest(name, [other for each in kinds for other in here.get((each, namespace), ())], 0.85)
        return f"there is '{close}'" if close else ""

    def noted(self, code: str, what: Key, path: Path, **words: Any) -> Iterator[Finding]:
        """A note on a thing, once for all that refer to it."""
        said: set[tuple[str, Key]] = self.once("noted", lambda _: set())
        if (code, what) not in said:
            said.add((code, what))
            yield code, path, words


def _by_kind(view: View) -> dict[str, list[Place]]:
    made: dict[str, list[Place]] = {}
    for kind, namespace, name in view.objects:
        made.setdefault(kind, []).append((namespace, name))
    return made


def _by_name(view: View) -> dict[Place, list[str]]:
    """By kind and name, the namespaces of objects."""
    made: dict[Place, list[str]] = {}
    for kind, namespace, name in view.objects:
        made.setdefault((kind, name), []).append(namespace)
    return made


def _by_namespace(view: View) -> dict[Place, list[str]]:
    """By kind and namespace, the names of objects."""
    made: dict[Place, list[str]] = {}
    for kind, namespace, name in view.objects:
        made.setdefault((kind, namespace), []).append(name)
    return made


def _namespaces(view: View) -> set[str]:
    """The namespaces that hold something, and those whose Namespace is there."""
    return {name if kind == "Namespace" else namespace for kind, namespace, name in view.objects}


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a selector (matchLabels, matchExpressions) takes these labels."""
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_holds(each, labels) for each in selector.get("matchExpressions") or ())


def _holds(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, operator = expression["key"], expression["operator"]
    if operator in ("In", "NotIn"):
        return bool(operator == "In") is (labels.get(key) in (expression.get("values") or ()))
    return bool(operator == "Exists") is (key in labels)
