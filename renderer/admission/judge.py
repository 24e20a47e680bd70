"""Judges objects by policies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from renderer.admission.evaluation import Decision, Evaluation, EvaluationError, values_of
from renderer.admission.matching import CreateRequest, matches, resource_names
from renderer.admission.params import Params
from renderer.admission.programs import Programs, compile_policy
from renderer.admission.records import (
    AdmissionPolicy,
    AdmittedObject,
    Binding,
    KnownNamespace,
    NotJudged,
    PolicyExpression,
    UnjudgedReason,
)
from renderer.admission.resources import ADMISSION_GROUP, EXEMPT, resource_of
from renderer.admission.server_view import server_view
from renderer.admission.unknowns import unknown_names
from renderer.plan import Body

_MAKERS = frozenset(
    {
        "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "LeaderWorkerSet", "DisaggregatedSet",
        "ReplicationController",
    }
)  # fmt: skip


class Verdict(Struct, frozen=True):
    """What a policy with a binding denies of an object. `always`: whatever the binding's actions are."""

    object: AdmittedObject
    policy: AdmissionPolicy
    binding: Binding
    decision: Decision
    always: bool = False


class Judge:
    """Judges objects by policies. `bodies`: the objects among which params are."""

    def __init__(
        self,
        policies: Mapping[str, AdmissionPolicy],
        bindings: Sequence[Binding],
        bodies: Iterable[Body],
        namespaces: Mapping[str, KnownNamespace],
    ) -> None:
        self.policies = policies
        self._bindings = [
            (policy, [binding for binding in bindings if binding.policy_name == policy.name])
            for policy in policies.values()
        ]
        self._params = Params(bodies, [policy.param_kind for policy in policies.values()])
        self._namespaces = namespaces
        self._programs: dict[tuple[str, frozenset[str]], Programs] = {}
        self._unjudged: dict[tuple[str, str], UnjudgedReason] = {}

    def take_unjudged(self) -> list[UnjudgedReason]:
        """What could not be judged since this was asked for last, each reason of a policy once."""
        taken = [*self._unjudged.values()]
        self._unjudged = {}
        return taken

    def verdicts(self, judged: AdmittedObject) -> Iterator[Verdict]:
        """What is denied of an object, in the order of the policies and of their bindings."""
        body = judged.body
        resource = resource_of(body)
        if resource.group == ADMISSION_GROUP and resource.kind in EXEMPT:
            return
        request = CreateRequest(body, resource, self._namespaces)
        facts: _Facts | None = None
        for policy, bindings in self._bindings:
            if bindings and resource.kind in _MAKERS and _is_about_pods(policy):
                self._tell(policy, None, "pods that controllers make of workloads")
            try:
                if not bindings or not matches(policy.match, request):
                    continue
            except NotJudged as reason:
                self._tell(policy, None, str(reason))
                continue
            facts = facts or _Facts(request)
            for binding in bindings:
                yield from self._of_binding(judged, policy, binding, facts)

    def _of_binding(
        self, judged: AdmittedObject, policy: AdmissionPolicy, binding: Binding, facts: _Facts
    ) -> Iterator[Verdict]:
        try:
            if binding.match is not None and not matches(binding.match, facts.request):
                return
            params = self._params.of(policy, binding, facts.request)
        except NotJudged as reason:
            self._tell(policy, None, str(reason))
            return
        for param in params:
            yield from self._evaluated(judged, policy, binding, facts, param)

    def _evaluated(
        self, judged: AdmittedObject, policy: AdmissionPolicy, binding: Binding, facts: _Facts, param: object
    ) -> Iterator[Verdict]:
        def tell(expression: PolicyExpression, reason: str) -> None:
            self._tell(policy, expression, reason)

        programs = self._compiled(policy, frozenset(facts.unknown))
        values = values_of(facts.request, facts.view, facts.namespace, param)
        size = facts.size + (len(repr(param)) if param else 0)
        evaluation = Evaluation(policy, programs, facts.unknown, values, size)
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

    def _compiled(self, policy: AdmissionPolicy, unknown: frozenset[str]) -> Programs:
        key = (policy.name, unknown)
        programs = self._programs.get(key)
        if programs is None:
            programs = self._programs[key] = compile_policy(policy, unknown)
        return programs

    def _tell(self, policy: AdmissionPolicy, expression: PolicyExpression | None, reason: str) -> None:
        path = expression.path if expression else ("metadata", "name")
        self._unjudged.setdefault((policy.name, reason), UnjudgedReason(policy.name, path, reason))


class _Facts:
    """What is known of an object, worked out once for all policies."""

    def __init__(self, request: CreateRequest) -> None:
        self.request = request
        self.view = server_view(request.body)
        self.size = len(msgspec.json.encode(self.view))
        self.unknown = dict(unknown_names(request))
        self.namespace: object = None
        if request.resource.kind == "Namespace" or request.resource.is_namespaced is False:
            return
        try:
            known = request.known_namespace()
        except NotJudged as reason:
            self.unknown["namespaceObject"] = str(reason)
            return
        self.namespace = _namespace_object(request.namespace, known)
        if known.body is None:
            self.unknown["namespaceObject.metadata.annotations"] = "only the labels of the namespace are known"


def _namespace_object(name: str, known: KnownNamespace) -> Mapping[str, object]:
    """The namespace as a policy sees it."""
    body: Body = known.body or {"metadata": {"labels": known.labels}}
    metadata = {**_as_map(body.get("metadata")), "name": name}
    whole = {**body, "apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    view = server_view(whole)
    return {key: view[key] for key in ("metadata", "spec", "status")}


def _as_map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _is_about_pods(policy: AdmissionPolicy) -> bool:
    return any(
        ("" in rule.groups or "*" in rule.groups)
        and any(resource_names(name, "pods") and name != "*" and name != "*/*" for name in rule.resources)
        for rule in policy.match.rules
    )
