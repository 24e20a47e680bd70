"""The expressions of a policy, compiled: once for each set of names that have no value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from renderer.admission.records import AdmissionPolicy, PolicyExpression
from renderer.admission.source_text import without_literals
from renderer.admission.unknowns import REQUEST_FIELDS, optional_reads
from renderer.cel.compiler import CelEnvironment, CompileError, Problem, Program
from renderer.cel.functions import KUBERNETES
from renderer.diagnostics import Path

_BASIC: Final = frozenset({"bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint", "dyn"})
_TWO_VARIABLES: Final = frozenset(
    {"all", "exists", "existsOne", "exists_one", "transformList", "transformMap", "transformMapEntry"}
)
_VARIABLE: Final = re.compile(r"(?<![\w.])variables\s*\.\s*(\w+)")
_MOST_GROWTH: Final = 1 << 40
_ROOTS: Final = ("object", "oldObject", "request", "namespaceObject")


class Compiled(Struct, frozen=True):
    """An expression and its program. There is a program where neither `unknown` nor `problem` is set."""

    expression: PolicyExpression
    code: str  # the text of the expression without literals and spaces
    variables: Sequence[str] = ()  # the policy's variables that the expression names
    hidden: frozenset[str] = frozenset()  # roots of the names without a value that it reads in a way that does not fail
    growth: int = 1  # how many times as large as what it reads its values may be
    program: Program | None = None
    unknown: str = ""  # why it cannot be evaluated here, '' where it can
    problem: Problem | None = None  # why the server would refuse it


class Programs(Struct, frozen=True):
    """The programs of a policy for objects of which these names have no value."""

    environment: CelEnvironment
    by_path: Mapping[Path, Compiled]

    def of(self, expression: PolicyExpression) -> Compiled:
        """The program of an expression."""
        return self.by_path[expression.path]


def compile_policy(policy: AdmissionPolicy, unknown: frozenset[str]) -> Programs:
    """The programs of all expressions of a policy. `unknown`: the names without a value, which are variables of their
    own, so that only an expression that comes to one of them fails.
    """
    names = {name for name in (*_ROOTS, *unknown) if not name.startswith("authorizer")}
    types = dict.fromkeys(names, "dyn")
    if policy.param_kind:
        types["params"] = "dyn"
    by_path: dict[Path, Compiled] = {}
    environment, declared = CelEnvironment(types, KUBERNETES), len(types)
    for name, variable in policy.variables.items():
        if len(types) > declared and _VARIABLE.search(without_literals(variable.text)):
            environment, declared = CelEnvironment(types, KUBERNETES), len(types)
        compiled = by_path[variable.path] = _compile(environment, variable, unknown)
        types[f"variables.{name}"] = _variable_type(compiled)
    if len(types) > declared:
        environment = CelEnvironment(types, KUBERNETES)
    for expression in policy.expressions:
        if expression.path not in by_path:
            by_path[expression.path] = _compile(environment, expression, unknown)
    return Programs(environment, by_path)


def problems_of(policy: AdmissionPolicy) -> Sequence[tuple[PolicyExpression, Problem]]:
    """Why the server would not take expressions of a policy."""
    programs = compile_policy(policy, frozenset())
    compiled = [programs.of(expression) for expression in policy.expressions]
    faults = [(item.expression, item.problem) for item in compiled if item.problem]
    for item in compiled:
        types = item.expression.result.split()
        if item.program and types and item.program.type_name.lower() not in types:
            result_types = types[0] if len(types) == 1 else f"one of {types}".replace("'", "").replace(",", "")
            words = f"must evaluate to {result_types} but got {item.program.type_name.lower()}"
            faults.append((item.expression, Problem(1, 1, words)))
    return faults


def _variable_type(compiled: Compiled) -> str:
    """The type of a variable for the checker: as in the server, any where it is one of Kubernetes' own."""
    name = compiled.program.type_name.lower() if compiled.program else "dyn"
    words = set(re.findall(r"\w+", name))
    is_basic = words <= _BASIC | {"list", "map"} and not re.search(r"<list<|, list<", name)
    return name if is_basic else "dyn"


def _compile(environment: CelEnvironment, expression: PolicyExpression, unknown: frozenset[str]) -> Compiled:
    code = without_literals(expression.text)
    if re.search(r"(?<![\w.])authorizer\b", code):
        return Compiled(expression, code, unknown="who may do what (authorizer)")
    if problem := _request_problem(code):
        return Compiled(expression, code, problem=problem)
    try:
        program = environment.compile(expression.text)
    except CompileError as error:
        functions = [problem.function for problem in error.problems if problem.function]
        if functions:
            return Compiled(expression, code, unknown=_unknown_function(functions[0], code))
        if "recursion limit" in error.problems[0].message:
            return Compiled(expression, code, unknown="an expression that is nested deeper than llmaz reads")
        if "kubernetes.Optional" in error.problems[0].message:
            return Compiled(expression, code, unknown="other functions of optional values than hasValue and value")
        return Compiled(expression, code, problem=error.problems[0])
    plain = re.sub(r"\s", "", code)
    variables = list(dict.fromkeys(_VARIABLE.findall(plain)))
    hidden = frozenset(name.partition(".")[0] for name in optional_reads(plain, unknown))
    return Compiled(expression, plain, variables, hidden, _growth(plain), program)


def _growth(code: str) -> int:
    """How many times as large as what an expression reads its values may be: sums double what they add, and macros give
    a name to a sum.
    """
    macros = len(re.findall(r"\.(?:map|optMap|optFlatMap)\(", code))
    sums = code.count("+") + 1
    growth: int = sums ** min(macros + 1, 64)
    return min(growth, _MOST_GROWTH) * (100 if macros else 1)


def _unknown_function(name: str, code: str) -> str:
    if name in _TWO_VARIABLES:
        return f"the macro '{name}' with two variables"
    return f"the function '{name}'"


def _request_problem(code: str) -> Problem | None:
    """A field that no request has."""
    for match in re.finditer(r"(?<![\w.])request\s*\.\s*\??\s*(\w+)", code):
        if match[1] not in REQUEST_FIELDS:
            lines = code[: match.start(1)].split("\n")
            return Problem(len(lines), len(lines[-1]) + 1, f"undefined field '{match[1]}'")
    return None
