"""Evaluates the expressions of a policy about one object, as the API server does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from renderer.admission.limits import MAX_MEMORY, MAX_WORK, MAX_WORK_OF_POLICY
from renderer.admission.matching import CreateRequest
from renderer.admission.programs import Compiled, Programs, unbound_name
from renderer.admission.records import AdmissionPolicy, NotJudged, PolicyExpression, Validation
from renderer.admission.unknowns import shown_name
from renderer.cel.compiler import Result
from renderer.cel.messages import server_words
from renderer.cel.reads import ReadPath
from renderer.cel.work import Extent, extent_of

_LONGEST_MESSAGE: Final = 5 * 1024
_ITEMS: Final = 100  # about so many has a list for each of which a macro makes a value
_TOO_MUCH_WORK: Final = "more steps than llmaz runs"


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
        names: Mapping[ReadPath, str],
        values: Mapping[str, object],
        extent: Extent,
    ) -> None:
        self._policy, self._programs = policy, programs
        self._names = names  # those without a value, each with the reason
        self._by_unbound_name = {unbound_name(path): path for path in names}
        self._values = values
        self._variables: dict[str, object] = {}  # those that have a value
        self._outcomes: dict[str, str] = {}  # of variables: what the server says, or '' for a value
        self._reasons: dict[str, str] = {}  # of variables without a value, what is not known
        self._activations: dict[frozenset[str], Any] = {}  # by the variables that an expression names
        self._extents = {"": extent}  # under '' of all values, then of each variable
        self._work = 0

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
        self._evaluate_variables(compiled.variables)
        return self._own_result(compiled)

    def _own_result(self, compiled: Compiled) -> Result:
        """The result of an expression whose variables are evaluated. Raises NotJudged."""
        if compiled.unknown or compiled.program is None:
            raise NotJudged(compiled.unknown)
        self._count_work(compiled)
        activation = self._activations.get(compiled.variables)
        if activation is None:
            activation = self._activations[compiled.variables] = self._activation(compiled.variables)
        result = compiled.program.evaluate(activation)
        if result.is_bounded:
            raise NotJudged(_TOO_MUCH_WORK if "budget" in result.error else result.error)
        if result.error:
            self._raise_unknown(compiled, result)
        return result

    def _activation(self, names: Iterable[str]) -> Any:
        """The values that an expression with these variables may read."""
        variables = {f"variables.{name}": self._variables[name] for name in names if name in self._variables}
        return self._programs.environment.activation({**self._values, **variables})

    def _count_work(self, compiled: Compiled) -> None:
        """Raises NotJudged where an expression may take too long, or too much memory."""
        extent = self._extents[""]
        for name in compiled.variables:
            extent = extent.with_other(self._extents.get(name, Extent()))
        work = compiled.work
        if extent.size * work.growth * (_ITEMS if work.macros else 1) > MAX_MEMORY:
            raise NotJudged("more memory than llmaz allows")
        cost = work.cost(extent)
        if cost > MAX_WORK or self._work + cost > MAX_WORK_OF_POLICY:
            raise NotJudged(_TOO_MUCH_WORK)
        self._work += cost

    def _raise_unknown(self, compiled: Compiled, result: Result) -> None:
        """Raises NotJudged where the error may come from what is not known here."""
        path = self._by_unbound_name.get(result.unbound)
        for name in [path] if path else sorted(compiled.names):
            shown = shown_name(name)
            raise NotJudged(f"{shown} ({self._names[name]})" if name in self._names else f"{shown} as a whole")
        for variable in sorted(compiled.variables):
            if variable in self._reasons:
                raise NotJudged(self._reasons[variable])

    def _evaluate_variables(self, names: Iterable[str]) -> None:
        """Gives variables their values, after those of the variables that they name, which stand before them."""
        needed: set[str] = set()
        rest = [*names]
        while rest:
            name = rest.pop()
            if name not in needed and name not in self._outcomes and name in self._policy.variables:
                needed.add(name)
                rest += self._programs.of(self._policy.variables[name]).variables
        for name in self._policy.variables if needed else ():
            if name in needed:
                self._evaluate_variable(name)

    def _evaluate_variable(self, name: str) -> None:
        self._outcomes[name] = ""
        compiled = self._programs.of(self._policy.variables[name])
        try:
            result = self._own_result(compiled)
        except NotJudged as reason:
            self._reasons[name] = str(reason)
            return
        if result.error:
            words = self._words(compiled, result)
            self._outcomes[name] = f'composited variable "{name}" fails to evaluate: {words}'
        else:
            self._variables[name] = result.value
            self._extents[name] = extent_of(result.value)

    def _words(self, compiled: Compiled, result: Result) -> str:
        """The server's words for an error."""
        return self._outcomes.get(result.unbound.removeprefix("variables.")) or server_words(result.error)

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
