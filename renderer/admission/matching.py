"""Whether a policy or a binding is about the creation of an object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from renderer.admission.records import KnownNamespace, MatchResources, NotJudged, Resource, ResourceRule
from renderer.admission.resources import DEFINITION, ResourceKinds, other_versions
from renderer.kubernetes.json_values import as_map, map_at, text_at
from renderer.kubernetes.workloads import selects
from renderer.plan import Body

_CREATE = "CREATE"


class CreateRequest:
    """The creation of an object."""

    def __init__(self, body: Body, kinds: ResourceKinds, namespaces: Mapping[str, KnownNamespace]) -> None:
        self.body, self.kinds = body, kinds
        self.resource = resource = kinds.resource_of(body)
        metadata = map_at(body, "metadata")
        self.name = text_at(metadata, "name")
        # Its name, '' where the object has none.
        self.namespace = text_at(metadata, "namespace") if resource.is_namespaced is not False else ""
        self.labels: Mapping[str, object] = as_map(metadata.get("labels"))
        self._namespaces = namespaces

    @property
    def is_namespace_unknown(self) -> bool:
        """Whether the object will get a namespace that it does not name."""
        return not self.namespace and self.resource.is_namespaced is not False

    def known_namespace(self) -> KnownNamespace:
        """What is known of the object's namespace. Raises NotJudged."""
        if self.is_namespace_unknown:
            raise NotJudged("the namespace of an object that names none")
        if self.namespace not in self._namespaces:
            raise NotJudged(f"the labels of namespace '{self.namespace}', which the tree does not define")
        return self._namespaces[self.namespace]


def matches(match: MatchResources, request: CreateRequest) -> bool:
    """Whether they are about the request. Raises NotJudged."""
    unknown: NotJudged | None = None
    try:
        if not _namespace_matches(match, request):
            return False
    except NotJudged as reason:
        unknown = reason
    if not selects(match.object_selector, request.labels):
        return False
    if _any_rule(match.excluded, match.is_exact, request):
        return False
    if match.rules and not _any_rule(match.rules, match.is_exact, request):
        return False
    if unknown:
        raise unknown
    return True


def _namespace_matches(match: MatchResources, request: CreateRequest) -> bool:
    if not match.namespace_selector:
        return True
    if request.resource.kind == "Namespace" and not request.resource.group:
        return selects(match.namespace_selector, {**request.labels, "kubernetes.io/metadata.name": request.name})
    if request.resource.is_namespaced is False:
        return True
    return selects(match.namespace_selector, request.known_namespace().labels)


def _any_rule(rules: Sequence[ResourceRule], is_exact: bool, request: CreateRequest) -> bool:
    """Whether one of the rules is about the request. Raises NotJudged where the server would convert the object, or
    where nobody knows which resource it is.
    """
    resource = request.resource
    if any(_fits(rule, request, (resource.version,)) for rule in rules):
        return True
    others = other_versions(resource)
    for rule in rules:
        versions = (resource.version,) if is_exact else rule.versions if others is None else others
        if _fits(rule, request, versions):
            raise NotJudged(f"{resource.plural} in another version, to which the server converts them")
        if _may_name(rule, request.kinds, resource) and _fits(rule, request, versions, is_named=True):
            of_group = f" of {resource.group}" if resource.group else ""
            raise NotJudged(
                f"the resource of the kind {resource.kind}{of_group}, whose {DEFINITION} is not in the tree"
            )
    return False


def _fits(rule: ResourceRule, request: CreateRequest, versions: Sequence[str], *, is_named: bool = False) -> bool:
    """Whether a rule is about the request. `is_named`: it names the resource, however that is called."""
    resource = request.resource
    return (
        _names(rule.operations, _CREATE)
        and _names(rule.groups, resource.group)
        and any(_names(rule.versions, version) for version in versions)
        and (is_named or any(resource_names(name, resource.plural) for name in rule.resources))
        and _in_scope(rule.scope, resource)
        and (not rule.names or request.name in rule.names)
    )


def may_name(rule: ResourceRule, kinds: ResourceKinds, resource: Resource) -> bool:
    """Whether a rule names the resource, in whatever version, or may name it."""
    names = any(resource_names(name, resource.plural) for name in rule.resources)
    return (names and _names(rule.groups, resource.group)) or _may_name(rule, kinds, resource)


def _may_name(rule: ResourceRule, kinds: ResourceKinds, resource: Resource) -> bool:
    """Whether a rule names the resource in case that it is called otherwise than it seems."""
    return any(kinds.may_have_name(resource, group, name) for group in rule.groups for name in rule.resources)


def resource_names(name: str, plural: str) -> bool:
    """Whether a rule's name of a resource means objects of it, and not only a subresource."""
    resource, _, subresource = name.partition("/")
    return resource in ("*", plural) and subresource in ("", "*")


def _names(words: Sequence[str], word: str) -> bool:
    return "*" in words or word in words


def _in_scope(scope: str, resource: Resource) -> bool:
    if scope in ("", "*"):
        return True
    if resource.is_namespaced is None:
        raise NotJudged(f"whether {resource.plural} are in namespaces")
    return resource.is_namespaced == (scope == "Namespaced")
