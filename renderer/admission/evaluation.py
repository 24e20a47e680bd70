"""Evaluates the expressions of a policy about one object, as the API server does it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from renderer.admission.matching import CreateRequest
from renderer.admission.programs import Compiled, Programs
from renderer.admission.records import AdmissionPolicy, NotJudged, PolicyExpression, Validation
from renderer.admission.unknowns import reads_node_port
from renderer.cel.compiler import Result
from renderer.cel.messages import server_words
from renderer.kubernetes.json_values import as_map

_LONGEST_MESSAGE: Final = 5 * 1024
MAX_MEMORY: Final = 1 << 24  # bytes


class Decision(Struct, frozen=True):
    """The denial of an object by one validation of a policy."""

    expression: PolicyExpression  # the one that does not hold, or that fails
    message: str  # of the server


class EvaluationError(Exception):
    """What the server says of an expression that fails."""


class Evaluation:
    """The evaluation of one policy about one object and one param."""

    def __init__(
        self,
        policy: AdmissionPolicy,
        programs: Programs,
        names: Mapping[str, str],
        values: Mapping[str, object],
        size: int = 0,
    ) -> None:
        self._policy, self._programs = policy, programs
        self._names = names  # those without a value, each with the reason
        self._body = as_map(values["object"])
        self._values = {name: value for name, value in values.items() if name not in names}
        self._outcomes: dict[str, str] = {}  # of variables: what the server says, or '' for a value
        self._reasons: dict[str, str] = {}  # of variables without a value, what is not known
        self._activation: Any = None
        self._sizes = {"": size}  # in bytes: under '' of all values, then of each variable

    def matches(self) -> bool:
        """Whether the conditions of the policy hold. Raises NotJudged, EvaluationError."""
        errors: list[str] = []
        unknown: NotJudged | None = None
        for condition in self._policy.conditions:
            try:
                if self.value(condition) is False:
                    return False
            except NotJudged as reason:
                unknown = unknown or reason
            except EvaluationError as error:
                errors.append(str(error))
        if unknown:
            raise unknown
        if errors:
            distinct = list(dict.fromkeys(errors))
            raise EvaluationError(distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]")
        return True

    def decisions(self, not_judged: Callable[[PolicyExpression, str], None]) -> Iterator[Decision]:
        """What the validations deny. `not_judged`: is told of each expression that cannot be evaluated."""
        for validation in self._policy.validations:
            try:
                if self.value(validation.expression) is not True:
                    yield Decision(validation.expression, self._message(validation))
            except NotJudged as reason:
                not_judged(validation.expression, str(reason))
            except EvaluationError as error:
                if self._policy.fails:
                    yield Decision(validation.expression, str(error))

    def annotation_errors(self, not_judged: Callable[[PolicyExpression, str], None]) -> Iterator[Decision]:
        """The errors of audit annotations, which deny whatever the binding says."""
        for annotation in self._policy.annotations if self._policy.fails else ():
            try:
                self.value(annotation)
            except NotJudged as reason:
                not_judged(annotation, str(reason))
            except EvaluationError as error:
                yield Decision(annotation, str(error))

    def value(self, expression: PolicyExpression) -> object:
        """What an expression gives. Raises NotJudged, EvaluationError."""
        compiled = self._programs.of(expression)
        result = self._result(compiled)
        if not result.error:
            return result.value
        raise EvaluationError(f"expression '{expression.text}' resulted in error: {self._words(compiled, result)}")

    def _result(self, compiled: Compiled) -> Result:
        """The result of an expression, or its error. Raises NotJudged."""
        if compiled.unknown or compiled.program is None:
            raise NotJudged(compiled.unknown)
        if reads_node_port(compiled.code, self._body):
            raise NotJudged("object.spec.ports[].nodePort (the server sets it)")
        self._evaluate_variables(compiled.variables)
        if self._size(compiled.variables) * compiled.growth > MAX_MEMORY:
            raise NotJudged("more memory than llmaz allows")
        if self._activation is None:
            self._activation = self._programs.environment.activation(self._values)
        activation = self._activation
        if compiled.hidden:
            values = {
                name: item for name, item in self._values.items() if name.partition(".")[0] not in compiled.hidden
            }
            activation = self._programs.environment.activation(values)
        result = compiled.program.evaluate(activation)
        if result.is_bounded:
            raise NotJudged(_bound_words(result.error))
        if result.error:
            self._raise_unknown(compiled, result)
        return result

    def _size(self, variables: Sequence[str]) -> int:
        """The bytes of what an expression may read."""
        return self._sizes[""] + sum(self._sizes.get(name, 0) for name in variables)

    def _raise_unknown(self, compiled: Compiled, result: Result) -> None:
        """Raises NotJudged where the error may come from what is not known here."""
        unbound = result.unbound
        if unbound.startswith("variables."):
            if unbound in self._reasons:
                raise NotJudged(self._reasons[unbound])
            return
        for name, reason in self._names.items():
            if name == unbound or _mentions(compiled.code, name):
                raise NotJudged(f"{name} ({reason})")
        if unbound:
            raise NotJudged(f"{unbound} as a whole")

    def _evaluate_variables(self, names: Sequence[str]) -> None:
        """Gives variables their values."""
        for name in names:
            full = f"variables.{name}"
            if full in self._outcomes or name not in self._policy.variables:
                continue
            self._outcomes[full] = ""
            compiled = self._programs.of(self._policy.variables[name])
            try:
                result = self._result(compiled)
            except NotJudged as reason:
                self._reasons[full] = str(reason)
                continue
            if result.error:
                words = self._words(compiled, result)
                self._outcomes[full] = f'composited variable "{name}" fails to evaluate: {words}'
            else:
                self._values[full] = result.value
                self._sizes[name] = _encoded_size(result.value)
                self._activation = None

    def _words(self, compiled: Compiled, result: Result) -> str:
        """The server's words for an error."""
        if result.unbound.startswith("variables."):
            return self._outcomes.get(result.unbound) or server_words(result.error)
        return server_words(result.error)

    def _message(self, validation: Validation) -> str:
        """The message of a validation that does not hold."""
        message = ""
        if validation.message_expression:
            try:
                value = self.value(validation.message_expression)
            except (NotJudged, EvaluationError):
                value = None
            message = value.strip() if isinstance(value, str) else ""
            if len(message.encode()) > _LONGEST_MESSAGE or "\n" in message:
                message = ""
        return message or validation.message.strip() or f"failed expression: {validation.expression.text.strip()}"


def values_of(request: CreateRequest, view: object, namespace: object, params: object) -> dict[str, object]:
    """The values of the names of an expression, where all is known."""
    resource = request.resource
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    plural = {"group": resource.group, "version": resource.version, "resource": resource.plural}
    request_fields: dict[str, object] = {
        "kind": kind,
        "resource": plural,
        "requestKind": kind,
        "requestResource": plural,
        "operation": "CREATE",
        "name": request.name,
    }
    if request.namespace or resource.kind == "Namespace":
        request_fields["namespace"] = request.namespace or request.name
    return {
        "object": view,
        "oldObject": None,
        "request": request_fields,
        "namespaceObject": namespace,
        "params": params,
    }


def _mentions(code: str, name: str) -> bool:
    return name in code and bool(re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", code))


def _encoded_size(value: object) -> int:
    """About how many bytes a value has."""
    return len(repr(value))


def _bound_words(error: str) -> str:
    if "budget" in error:
        return "more steps than llmaz runs"
    return error
