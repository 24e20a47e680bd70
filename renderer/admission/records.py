"""The records of this room: policies, bindings, and the objects that they judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from renderer.diagnostics import Origin, Path
from renderer.plan import Body
from renderer.yamlio import Document


class AdmittedObject(Protocol):
    """An object, and where its fields come from; a Manifest is one."""

    @property
    def body(self) -> Any: ...

    def origin(self, path: Path, /) -> Origin: ...


class WrittenObject(Struct, frozen=True):
    """An object that stands in a file as it is."""

    document: Document

    @property
    def body(self) -> Any:
        """The object."""
        return self.document.value

    def origin(self, path: Path) -> Origin:
        """Where a field stands."""
        return self.document.origin(*path)


class PolicyExpression(Struct, frozen=True):
    """An expression of a policy. `result`: the types that it may give, empty where any will do."""

    text: str
    path: Path
    result: str = ""


class Validation(Struct, frozen=True):
    """What has to hold, and what is said where it does not."""

    expression: PolicyExpression
    message: str
    message_expression: PolicyExpression | None


class ResourceRule(Struct, frozen=True):
    """Which resources are meant; `*` is any."""

    groups: Sequence[str]
    versions: Sequence[str]
    resources: Sequence[str]
    operations: Sequence[str]
    names: Sequence[str]
    scope: str


class MatchResources(Struct, frozen=True):
    """Which requests a policy or a binding is about. `is_exact`: no other version of a resource is meant."""

    rules: Sequence[ResourceRule]
    excluded: Sequence[ResourceRule]
    namespace_selector: Body
    object_selector: Body
    is_exact: bool


class ParamRef(Struct, frozen=True):
    """The objects that a binding gives its policy as `params`."""

    name: str
    namespace: str
    selector: Body | None
    denies_missing: bool


class Binding(Struct, frozen=True):
    """A ValidatingAdmissionPolicyBinding. `match`: None where it says nothing."""

    name: str
    document: Document
    policy_name: str
    param_ref: ParamRef | None
    match: MatchResources | None
    actions: Sequence[str]


class AdmissionPolicy(Struct, frozen=True):
    """A ValidatingAdmissionPolicy. `param_kind`: apiVersion and kind; `fails`: whether an error denies."""

    name: str
    document: Document
    match: MatchResources
    conditions: Sequence[PolicyExpression]
    variables: Mapping[str, PolicyExpression]
    validations: Sequence[Validation]
    annotations: Sequence[PolicyExpression]
    param_kind: tuple[str, str] | None
    fails: bool

    @property
    def expressions(self) -> Sequence[PolicyExpression]:
        """All of them, variables first."""
        messages = (validation.message_expression for validation in self.validations)
        return (
            *self.variables.values(),
            *self.conditions,
            *(validation.expression for validation in self.validations),
            *(expression for expression in messages if expression),
            *self.annotations,
        )


class KnownNamespace(Struct, frozen=True):
    """What is known of a namespace: all that Git says where `body` is its manifest, else only its labels."""

    labels: Mapping[str, str]
    body: Body | None = None


class Resource(Struct, frozen=True):
    """The resource of an object. `is_namespaced`: None where that is not known."""

    group: str
    version: str
    kind: str
    plural: str
    is_namespaced: bool | None


class NotJudged(Exception):
    """Something is not known here that the server knows; the text says what."""


class UnjudgedReason(Struct, frozen=True):
    """Something of a policy that cannot be judged here, and why, as processes exchange it."""

    policy: str
    path: Path
    reason: str
