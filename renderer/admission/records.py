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
    """An expression of a policy."""

    text: str
    path: Path
    result: str = ""  # the types that it may return, '' where any will do


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
    """Which requests a policy or a binding is about."""

    rules: Sequence[ResourceRule]
    excluded: Sequence[ResourceRule]
    namespace_selector: Body
    object_selector: Body
    is_exact: bool  # another version of a resource does not match


class ParamRef(Struct, frozen=True):
    """The objects that a binding gives to its policy under the name `params`."""

    name: str
    namespace: str
    selector: Body | None
    denies_missing: bool


class Binding(Struct, frozen=True):
    """A ValidatingAdmissionPolicyBinding."""

    name: str
    document: Document
    policy_name: str
    param_ref: ParamRef | None
    match: MatchResources | None  # None where it restricts nothing
    actions: Sequence[str]


class AdmissionPolicy(Struct, frozen=True):
    """A ValidatingAdmissionPolicy."""

    name: str
    document: Document
    match: MatchResources
    conditions: Sequence[PolicyExpression]
    variables: Mapping[str, PolicyExpression]
    validations: Sequence[Validation]
    annotations: Sequence[PolicyExpression]
    param_kind: tuple[str, str] | None  # apiVersion and kind
    fails: bool  # whether an error denies

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
    """What is known of a namespace."""

    labels: Mapping[str, str]
    body: Body | None = None  # its manifest in Git, None where only the labels are known


class Resource(Struct, frozen=True):
    """The resource of an object."""

    group: str
    version: str
    kind: str
    plural: str
    is_namespaced: bool | None  # None where that is not known
    is_guessed: bool = False  # the plural is what Kubernetes' tools would make of the kind, and may be another one


class NotJudged(Exception):
    """Something is not known here that the server knows; the text says what."""


class UnjudgedReason(Struct, frozen=True):
    """Something of a policy that cannot be judged here, and why, as processes exchange it."""

    policy: str
    path: Path
    reason: str
