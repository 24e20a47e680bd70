"""The expressions of a policy, compiled."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from renderer.admission.records import AdmissionPolicy, PolicyExpression
from renderer.admission.unknowns import REQUEST_FIELDS
from renderer.cel.checked_tree import expression_of, offset_of, with_names
from renderer.cel.compiler import CelEnvironment, CompileError, Function, Problem, Program
from renderer.cel.functions import functions_named
from renderer.cel.reads import ReadPath, Reads
from renderer.cel.work import Work, work_of
from renderer.diagnostics import Path

_BASIC: Final = frozenset({"bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint", "dyn"})
_TWO_VARIABLES: Final = frozenset(
    {"all", "exists", "existsOne", "exists_one", "transformList", "transformMap", "transformMapEntry"}
)
_ROOTS: Final = ("object", "oldObject", "request", "namespaceObject", "authorizer")
_DEEP: Final = "an expression that is nested deeper than llmaz reads"
_REQUEST: Final = "request"


class Compiled(Struct, frozen=True):
    """An expression and its program. There is a program where neither `unknown` nor `problem` is set."""

    expression: PolicyExpression
    variables: frozenset[str] = frozenset()  # the policy's variables that the expression names
    names: frozenset[ReadPath] = frozenset()  # what it reads that is not known, or of which a part is not
    work: Work = Work()
    program: Program | None = None
    unknown: str = ""  # why it cannot be evaluated here, '' where it can
    problem: Problem | None = None  # why the server would refuse it


class Programs(Struct, frozen=True):
    """The programs of a policy."""

    environment: CelEnvironment
    by_path: Mapping[Path, Compiled]

    def of(self, expression: PolicyExpression) -> Compiled:
        """The program of an expression."""
        return self.by_path[expression.path]

    def reads(self, policy: AdmissionPolicy) -> Reads:
        """What all expressions read, those of messages aside."""
        reads = Reads()
        messages = {item.message_expression.path for item in policy.validations if item.message_expression}
        for expression, variable in _with_variables(policy):
            program = self.of(expression).program
            if program and expression.path not in messages:
                reads.add(program, variable)
        return reads

    def where_unknown(self, policy: AdmissionPolicy, names: Iterable[ReadPath]) -> Programs:
        """The programs where these names have no value: an expression that comes to one of them fails."""
        reads = Reads(names)
        by_path = dict(self.by_path)
        for expression, variable in _with_variables(policy):
            compiled = self.of(expression)
            if compiled.program is None:
                continue
            reads.add(compiled.program, variable)
            if reads.names:
                unbound = {number: unbound_name(path) for number, path in reads.names.items()}
                tree = with_names(compiled.program.tree, unbound)
                program = self.environment.program_of(tree, compiled.program.type_name)
                by_path[expression.path] = replace(compiled, program=program, names=frozenset(reads.names.values()))
        return Programs(self.environment, by_path)


def compile_policy(policy: AdmissionPolicy) -> Programs:
    """The programs of all expressions of a policy, where all is known."""
    expressions = policy.expressions
    environments = _Environments(policy, functions_named(expression.text for expression in expressions))
    by_path: dict[Path, Compiled] = {}
    types: dict[str, str] = {}
    for name, variable in policy.variables.items():
        compiled = by_path[variable.path] = _compile(environments.of_variable(variable.text, types), variable)
        types[name] = _variable_type(compiled)
    environment = environments.with_variables(types)
    for expression in expressions:
        if expression.path not in by_path:
            by_path[expression.path] = _compile(environment, expression)
    return Programs(environment, by_path)


def unbound_name(path: ReadPath) -> str:
    """The name that stands for what is not known, which no expression can have."""
    return f"?{'.'.join(path)}"


class _Environments:
    """The environments in which a policy's expressions are compiled. To declare all variables that come before each of
    them takes time with the square of their number.
    """

    def __init__(self, policy: AdmissionPolicy, functions: tuple[Function, ...]) -> None:
        self._functions, self._names = functions, frozenset(policy.variables)
        self._types = dict.fromkeys((*_ROOTS, *(["params"] if policy.param_kind else ())), "dyn")
        self._by_types: dict[frozenset[tuple[str, str]], CelEnvironment] = {}

    def of_variable(self, text: str, types: Mapping[str, str]) -> CelEnvironment:
        """That of a variable. `types`: those of the variables before it."""
        words = self._names.intersection(re.findall(r"\w+", text)) if "variables" in text else frozenset()
        earlier = {name: types[name] for name in words if name in types}
        if len(earlier) == len(words) and set(earlier.values()) == {"dyn"}:  # one environment is enough for these
            return self._of_any_type
        return self.with_variables(earlier)

    @cached_property
    def _of_any_type(self) -> CelEnvironment:
        return self.with_variables(dict.fromkeys(self._names, "dyn"))

    def with_variables(self, types: Mapping[str, str]) -> CelEnvironment:
        """The environment with these variables of the policy."""
        key = frozenset(types.items())
        environment = self._by_types.get(key)
        if environment is None:
            variables = {f"variables.{name}": type_name for name, type_name in types.items()}
            environment = CelEnvironment({**self._types, **variables}, self._functions)
            self._by_types[key] = environment
        return environment


def _with_variables(policy: AdmissionPolicy) -> list[tuple[PolicyExpression, str]]:
    """All expressions of a policy, each with the name of the variable that it is the value of, else ''."""
    names = {variable.path: name for name, variable in policy.variables.items()}
    return [(expression, names.get(expression.path, "")) for expression in policy.expressions]


def problems_of(policy: AdmissionPolicy) -> Sequence[tuple[PolicyExpression, Problem]]:
    """Why the server would not take expressions of a policy."""
    programs = compile_policy(policy)
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


def _compile(environment: CelEnvironment, expression: PolicyExpression) -> Compiled:
    try:
        program = environment.compile(expression.text)
    except CompileError as error:
        return _without_program(expression, error.problems)
    tree, reads = program.tree, Reads()
    reads.add(program)
    for (root, *field), number in reads.numbers.items():
        if root == _REQUEST and field[0] not in REQUEST_FIELDS:
            problem = _problem_at(expression.text, offset_of(tree, number), f"undefined field '{field[0]}'")
            return Compiled(expression, problem=problem)
    return Compiled(expression, frozenset(reads.variables), work=work_of(expression_of(tree)), program=program)


def _without_program(expression: PolicyExpression, problems: Sequence[Problem]) -> Compiled:
    """An expression that does not compile here: it cannot be judged, or the server would not take it either."""
    functions = [problem.function for problem in problems if problem.function]
    if functions:
        is_about_access = re.search(r"\bauthorizer\b", expression.text)
        what = "who may do what (authorizer)" if is_about_access else _unknown_function(functions[0])
        return Compiled(expression, unknown=what)
    if "recursion" in problems[0].message:
        return Compiled(expression, unknown=_DEEP)
    if "kubernetes.Optional" in problems[0].message:
        return Compiled(expression, unknown="other functions of optional values than hasValue and value")
    return Compiled(expression, problem=problems[0])


def _unknown_function(name: str) -> str:
    if name in _TWO_VARIABLES:
        return f"the macro '{name}' with two variables"
    return f"the function '{name}'"


def _problem_at(text: str, offset: int, words: str) -> Problem:
    """A problem of the field behind the dot at an offset."""
    while offset < len(text) and not (text[offset].isalnum() or text[offset] == "_"):
        offset += 1
    lines = text[:offset].split("\n")
    return Problem(len(lines), len(lines[-1]) + 1, words)
