"""Reads policies and bindings from the documents of their files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Final

from msgspec import Struct

from renderer import schema_validation
from renderer.admission.records import (
    AdmissionPolicy,
    Binding,
    MatchResources,
    ParamRef,
    PolicyExpression,
    ResourceRule,
    Validation,
)
from renderer.admission.resources import ADMISSION_GROUP
from renderer.diagnostics import Diagnostic, Origin, Path, make_diagnostic
from renderer.kubernetes.json_values import as_map, as_texts, map_at, maps_at, text_at
from renderer.plan import Body
from renderer.yamlio import Document

POLICY: Final = "ValidatingAdmissionPolicy"
BINDING: Final = "ValidatingAdmissionPolicyBinding"
_VERSIONS: Final = ("v1", "v1beta1")  # of one shape


class AdmissionFiles(Struct, frozen=True):
    """What the files of policies hold."""

    policies: Mapping[str, AdmissionPolicy]  # by name
    bindings: Sequence[Binding]
    others: Sequence[Document]  # all other objects
    problems: Sequence[Diagnostic]


def read_admission_files(documents: Iterable[Document]) -> AdmissionFiles:
    """The policies and bindings among the documents, those of a wrong shape left out."""
    policies: dict[str, AdmissionPolicy] = {}
    bindings: list[Binding] = []
    others: list[Document] = []
    problems: list[Diagnostic] = []
    broken: set[str] = set()
    for document in documents:
        kind = text_at(document.value, "kind")
        group, _, version = text_at(document.value, "apiVersion").rpartition("/")
        if group != ADMISSION_GROUP or kind not in (POLICY, BINDING):
            others.append(document)
            continue
        if version not in _VERSIONS:
            problems.append(make_diagnostic("E843", document.origin("apiVersion"), kind=kind, version=version))
            continue
        faults = list(_shape_problems(document, kind))
        problems += faults
        if faults:
            broken.add(text_at(document.value, "metadata", "name"))
            continue
        if kind == BINDING:
            bindings.append(_binding(document))
        elif (policy := _policy(document)).name in policies:
            first = Origin(policies[policy.name].document, ("metadata", "name"))
            problems.append(_duplicate(policy, first))
        else:
            policies[policy.name] = policy
    problems += _missing_policies(policies, bindings, broken)
    return AdmissionFiles(policies, bindings, others, problems)


def _shape_problems(document: Document, kind: str) -> Iterator[Diagnostic]:
    body = {**document.value, "apiVersion": f"{ADMISSION_GROUP}/v1"}
    schema = schema_validation.name_of(body["apiVersion"], kind)
    if schema_validation.is_valid(schema, body):
        return
    for finding in schema_validation.findings(schema, body):
        yield finding.located(document.origin())


def _duplicate(policy: AdmissionPolicy, first: Origin) -> Diagnostic:
    file, line, _ = first.place
    return make_diagnostic("E844", policy.document.origin("metadata", "name"), name=policy.name, place=f"{file}:{line}")


def _missing_policies(
    policies: Mapping[str, AdmissionPolicy], bindings: Sequence[Binding], broken: Set[str]
) -> Iterator[Diagnostic]:
    for binding in bindings:
        if binding.policy_name not in policies and binding.policy_name not in broken:
            origin = binding.document.origin("spec", "policyName")
            yield make_diagnostic("E841", origin, binding=binding.name, policy=binding.policy_name)
    used = {binding.policy_name for binding in bindings}
    for policy in policies.values():
        if policy.name not in used:
            yield make_diagnostic("W842", policy.document.origin("metadata", "name"), policy=policy.name)


def _policy(document: Document) -> AdmissionPolicy:
    body = document.value
    spec = map_at(body, "spec")
    kind = map_at(spec, "paramKind")
    return AdmissionPolicy(
        name=text_at(body, "metadata", "name"),
        document=document,
        match=_match(map_at(spec, "matchConstraints")),
        conditions=[
            _expression(condition, ("spec", "matchConditions", i, "expression"), "bool")
            for i, condition in enumerate(maps_at(spec, "matchConditions"))
        ],
        variables={
            text_at(variable, "name"): _expression(variable, ("spec", "variables", i, "expression"), "")
            for i, variable in enumerate(maps_at(spec, "variables"))
        },
        validations=[_validation(validation, i) for i, validation in enumerate(maps_at(spec, "validations"))],
        annotations=[
            _expression(annotation, ("spec", "auditAnnotations", i, "valueExpression"), "string null")
            for i, annotation in enumerate(maps_at(spec, "auditAnnotations"))
        ],
        param_kind=(text_at(kind, "apiVersion"), text_at(kind, "kind")) if kind else None,
        fails=text_at(spec, "failurePolicy") != "Ignore",
    )


def _expression(value: Body, path: Path, result: str) -> PolicyExpression:
    return PolicyExpression(text_at(value, str(path[-1])), path, result)


def _validation(value: Body, index: int) -> Validation:
    path: Path = ("spec", "validations", index)
    message = None
    if text_at(value, "messageExpression"):
        message = _expression(value, (*path, "messageExpression"), "string")
    return Validation(_expression(value, (*path, "expression"), "bool"), text_at(value, "message"), message)


def _binding(document: Document) -> Binding:
    spec = map_at(document.value, "spec")
    param = spec.get("paramRef")
    match = spec.get("matchResources")
    return Binding(
        name=text_at(document.value, "metadata", "name"),
        document=document,
        policy_name=text_at(spec, "policyName"),
        param_ref=_param_ref(as_map(param)) if param is not None else None,
        match=_match(as_map(match)) if match is not None else None,
        actions=as_texts(spec.get("validationActions")),
    )


def _param_ref(value: Body) -> ParamRef:
    selector = value.get("selector")
    return ParamRef(
        text_at(value, "name"),
        text_at(value, "namespace"),
        as_map(selector) if selector is not None else None,
        text_at(value, "parameterNotFoundAction") == "Deny",
    )


def _match(value: Body) -> MatchResources:
    return MatchResources(
        [_rule(rule) for rule in maps_at(value, "resourceRules")],
        [_rule(rule) for rule in maps_at(value, "excludeResourceRules")],
        map_at(value, "namespaceSelector"),
        map_at(value, "objectSelector"),
        text_at(value, "matchPolicy") == "Exact",
    )


def _rule(value: Body) -> ResourceRule:
    return ResourceRule(
        as_texts(value.get("apiGroups")),
        as_texts(value.get("apiVersions")),
        as_texts(value.get("resources")),
        as_texts(value.get("operations")),
        as_texts(value.get("resourceNames")),
        text_at(value, "scope"),
    )
