"""Judges objects by policies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec
from msgspec import Struct

from renderer.admission.evaluation import Decision, Evaluation, EvaluationError, values_of
from renderer.admission.matching import CreateRequest, matches, may_name, resource_names
from renderer.admission.params import Param, Params
from renderer.admission.programs import Programs, compile_policy
from renderer.admission.records import (
    AdmissionPolicy,
    AdmittedObject,
    Binding,
    KnownNamespace,
    NotJudged,
    PolicyExpression,
    Resource,
    ResourceRule,
    UnjudgedReason,
)
from renderer.admission.resources import ADMISSION_GROUP, EXEMPT, ResourceKinds
from renderer.admission.server_view import is_own_kind, server_view
from renderer.admission.unknowns import unknown_names
from renderer.cel.reads import Projection, ReadPath, projection
from renderer.cel.work import Extent, extent_of
from renderer.kubernetes.json_values import as_map
from renderer.kubernetes.workloads import WORKLOADS
from renderer.plan import Body


def _makes_pods(resource: Resource) -> bool:
    """Whether controllers make pods of objects of a resource, which nobody shows here."""
    workload = WORKLOADS.get((resource.group, resource.kind))
    return workload is not None and workload.makes_pods


class Verdict(Struct, frozen=True):
    """What a policy with a binding denies of an object."""

    object: AdmittedObject
    policy: AdmissionPolicy
    binding: Binding
    decision: Decision
    always: bool = False  # it denies whatever the binding's actions are


class Judge:
    """Judges objects by policies."""

    def __init__(
        self,
        policies: Mapping[str, AdmissionPolicy],
        bindings: Sequence[Binding],
        bodies: Iterable[Body],
        namespaces: Mapping[str, KnownNamespace],
    ) -> None:
        self.policies = policies
        bodies = [*bodies]
        self._kinds = ResourceKinds(bodies)
        self._bound = [
            _BoundPolicy(policy, self._kinds, [binding for binding in bindings if binding.policy_name == policy.name])
            for policy in policies.values()
        ]
        # The objects among the bodies that policies take as params.
        self._params = Params(bodies, self._kinds, [policy.param_kind for policy in policies.values()])
        self._namespaces = namespaces
        self._namespace_objects: dict[str, Mapping[str, object]] = {}  # by name, those that objects lie in
        self._is_of_no_concern: dict[tuple[str, str], bool] = {}  # by apiVersion and kind
        self._unjudged: dict[tuple[str, str], UnjudgedReason] = {}

    def take_unjudged(self) -> list[UnjudgedReason]:
        """What could not be judged since this was asked for last, each reason of a policy once."""
        reasons = [*self._unjudged.values()]
        self._unjudged = {}
        return reasons

    def verdicts(self, judged: AdmittedObject) -> Iterator[Verdict]:
        """What is denied of an object, in the order of the policies and of their bindings."""
        kind = (str(judged.body.get("apiVersion")), str(judged.body.get("kind")))
        if self._is_of_no_concern.get(kind):
            return
        resource = self._kinds.resource_of(judged.body)
        if kind not in self._is_of_no_concern:
            self._is_of_no_concern[kind] = self._concerns_nobody(resource)
            if self._is_of_no_concern[kind]:
                return
        facts: _Facts | None = None
        for bound in self._bound:
            if bound.is_about_pods and _makes_pods(resource):
                self._tell(bound.policy, None, "pods that controllers make of workloads")
            if not bound.may_match(resource):
                continue
            facts = facts or _Facts(CreateRequest(judged.body, self._kinds, self._namespaces), self._namespace_objects)
            try:
                if not bound.matches(facts.request):
                    continue
            except NotJudged as reason:
                self._tell(bound.policy, None, str(reason))
                continue
            for binding in bound.bindings:
                yield from self._of_binding(judged, bound, binding, facts)

    def _concerns_nobody(self, resource: Resource) -> bool:
        """Whether no policy may have to say something of such a resource."""
        if resource.group == ADMISSION_GROUP and resource.kind in EXEMPT:
            return True
        makes_pods = _makes_pods(resource)
        return not any(bound.may_match(resource) or (makes_pods and bound.is_about_pods) for bound in self._bound)

    def _of_binding(
        self, judged: AdmittedObject, bound: _BoundPolicy, binding: Binding, facts: _Facts
    ) -> Iterator[Verdict]:
        try:
            if binding.match is not None and not matches(binding.match, facts.request):
                return
            params = self._params.of(bound.policy, binding, facts.request)
        except NotJudged as reason:
            self._tell(bound.policy, None, str(reason))
            return
        for param in params:
            key = bound.key_of(facts, param)
            if key in bound.fine:
                continue
            verdicts = [*self._evaluated(judged, bound, binding, facts, param)]
            yield from verdicts
            if not verdicts and not self._is_told(bound.policy):
                bound.fine.add(key)

    def _evaluated(
        self, judged: AdmittedObject, bound: _BoundPolicy, binding: Binding, facts: _Facts, param: Param | None
    ) -> Iterator[Verdict]:
        policy = bound.policy

        def tell(expression: PolicyExpression, reason: str) -> None:
            self._tell(policy, expression, reason)

        values = values_of(facts.request, facts.view, facts.namespace, param.view if param else None)
        extent = facts.extent.with_other(param.extent) if param else facts.extent
        evaluation = Evaluation(policy, bound.programs(facts.unknown_names), facts.unknown, values, extent)
        try:
            if not evaluation.matches():
                return
        except NotJudged as reason:
            tell(policy.conditions[0], str(reason))
            return
        except EvaluationError as error:
            if policy.fails:
                yield Verdict(judged, policy, binding, Decision(policy.conditions[0], str(error)))
            return
        for decision in evaluation.decisions(tell):
            yield Verdict(judged, policy, binding, decision)
        for decision in evaluation.annotation_errors(tell):
            yield Verdict(judged, policy, binding, decision, always=True)

    def _tell(self, policy: AdmissionPolicy, expression: PolicyExpression | None, reason: str) -> None:
        path = expression.path if expression else ("metadata", "name")
        self._unjudged.setdefault((policy.name, reason), UnjudgedReason(policy.name, path, reason))

    def _is_told(self, policy: AdmissionPolicy) -> bool:
        """Whether something of a policy could not be judged so far."""
        return any(name == policy.name for name, _ in self._unjudged)


class _BoundPolicy:
    """A policy with its bindings."""

    def __init__(self, policy: AdmissionPolicy, kinds: ResourceKinds, bindings: Sequence[Binding]) -> None:
        self.policy, self.bindings, self._kinds = policy, bindings, kinds
        self.is_about_pods = bool(bindings) and any(map(_is_about_pods, policy.match.rules))
        self.fine: set[object] = set()  # keys of the objects that it judges in full and does not deny
        self._programs: dict[frozenset[ReadPath], Programs] = {}
        self._shown: dict[frozenset[ReadPath], tuple[Projection, set[str]]] = {}
        self._may_match: dict[tuple[str, str], bool] = {}  # by group and kind
        match = policy.match
        has_names = any(rule.names for rule in (*match.rules, *match.excluded))
        self._goes_by_resource = not (match.namespace_selector or match.object_selector or has_names)
        self._matched: dict[Resource, bool] = {}  # where it goes by the resource alone

    def may_match(self, resource: Resource) -> bool:
        """Whether a rule may be about such a resource, by its group and its plural."""
        key = (resource.group, resource.kind)
        answer = self._may_match.get(key)
        if answer is None:
            rules = self.policy.match.rules
            answer = self._may_match[key] = bool(self.bindings) and (
                not rules or any(may_name(rule, self._kinds, resource) for rule in rules)
            )
        return answer

    def matches(self, request: CreateRequest) -> bool:
        """Whether the policy is about the request. Raises NotJudged."""
        if not self._goes_by_resource:
            return matches(self.policy.match, request)
        if (answer := self._matched.get(request.resource)) is None:
            answer = self._matched[request.resource] = matches(self.policy.match, request)
        return answer

    def programs(self, unknown: frozenset[ReadPath]) -> Programs:
        """The programs for objects of which these names have no value."""
        programs = self._programs.get(unknown)
        if programs is None:
            programs = self._programs[unknown] = self._compiled.where_unknown(self.policy, unknown)
        return programs

    @cached_property
    def _compiled(self) -> Programs:
        return compile_policy(self.policy)

    def key_of(self, facts: _Facts, param: Param | None) -> object:
        """What the verdict about an object depends on."""
        unknown, request = facts.unknown_names, facts.request
        if unknown not in self._shown:
            reads = self.programs(unknown).reads(self.policy)
            self._shown[unknown] = projection(reads), reads.roots()
        shown, roots = self._shown[unknown]
        name = request.name if "request" in roots else ""
        namespace = request.namespace if roots & {"request", "namespaceObject"} else ""
        parts = (request.body.get("apiVersion"), request.body.get("kind"), namespace, name)
        return unknown, id(param), msgspec.json.encode((*parts, shown.of(facts.seen)))


class _Facts:
    """What is known of an object, worked out once for all policies."""

    def __init__(self, request: CreateRequest, namespace_objects: dict[str, Mapping[str, object]]) -> None:
        self.request = request
        self.unknown = dict(unknown_names(request))
        self.namespace: object = None
        if request.resource.kind == "Namespace" or request.resource.is_namespaced is False:
            return
        try:
            known = request.known_namespace()
        except NotJudged as reason:
            self.unknown["namespaceObject",] = str(reason)
            return
        if request.namespace not in namespace_objects:  # these are as policies see them, and shared by all objects
            namespace_objects[request.namespace] = _namespace_object(request.namespace, known)
        self.namespace = namespace_objects[request.namespace]
        if known.body is None:
            self.unknown["namespaceObject", "metadata", "annotations"] = "only the labels of the namespace are known"

    @cached_property
    def unknown_names(self) -> frozenset[ReadPath]:
        """The names without a value."""
        return frozenset(self.unknown)

    @cached_property
    def view(self) -> Mapping[str, object]:
        """The object as a policy sees it."""
        return self.request.kinds.view_of(self.request.body)

    @cached_property
    def extent(self) -> Extent:
        """How large it is, with its namespace."""
        return extent_of([self.view, self.namespace])

    @property
    def seen(self) -> Mapping[str, object]:
        """What a policy sees, or what alone decides that: defaults of a CRD depend on nothing beside them."""
        return self.view if is_own_kind(self.request.body) else self.request.body


def _namespace_object(name: str, known: KnownNamespace) -> Mapping[str, object]:
    """The namespace as a policy sees it."""
    body: Body = known.body or {"metadata": {"labels": known.labels}}
    metadata = {**as_map(body.get("metadata")), "name": name}
    whole = {**body, "apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    view = server_view(whole)
    return {key: view[key] for key in ("metadata", "spec", "status")}


def _is_about_pods(rule: ResourceRule) -> bool:
    """Whether a rule names pods, and not only any resource."""
    named = any(resource_names(name, "pods") and name not in ("*", "*/*") for name in rule.resources)
    return named and any(group in ("", "*") for group in rule.groups)
