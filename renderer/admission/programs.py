"""The expressions of a policy, compiled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
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
_ROUNDS: Final = 3  # in which the types of variables are found


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
    variables = environments.compiled_variables()
    environment = environments.with_variables({name: _type_of(compiled) for name, compiled in variables.items()})
    by_path = {policy.variables[name].path: compiled for name, compiled in variables.items()}
    for expression in expressions:
        if expression.path not in by_path:
            by_path[expression.path] = _compile(environment, expression)
    return Programs(environment, by_path)


def unbound_name(path: ReadPath) -> str:
    """The name that stands for what is not known, which no expression can have."""
    return f"?{'.'.join(path)}"


class _Environments:
    """The environments in which a policy's expressions are compiled."""

    def __init__(self, policy: AdmissionPolicy, functions: tuple[Function, ...]) -> None:
        self._policy, self._functions = policy, functions
        self._types = dict.fromkeys((*_ROOTS, *(["params"] if policy.param_kind else ())), "dyn")
        self._last: tuple[Mapping[str, str], CelEnvironment] | None = None

    def with_variables(self, types: Mapping[str, str]) -> CelEnvironment:
        """The environment with these variables of the policy, by name and type."""
        if self._last is None or self._last[0] != types:
            variables = {f"variables.{name}": type_name for name, type_name in types.items()}
            self._last = types, CelEnvironment({**self._types, **variables}, self._functions)
        return self._last[1]

    def compiled_variables(self) -> Mapping[str, Compiled]:
        """The variables of the policy, by name. All are compiled in one environment with the types that they turned out
        to have in the one before, until these stay the same; one for each variable would take much longer.
        """
        types = dict.fromkeys(self._policy.variables, "dyn")
        for _ in range(_ROUNDS):
            environment = self.with_variables(types)
            compiled = self._compiled(lambda _, environment=environment: environment)  # type: ignore[misc]
            types_found = {name: _type_of(item) for name, item in compiled.items()}
            if types_found == types:
                return compiled
            types = types_found
        return self._compiled(self.with_variables)

    def _compiled(self, environment_of: Callable[[Mapping[str, str]], CelEnvironment]) -> Mapping[str, Compiled]:
        """The variables. `environment_of`: the environment of one that names variables of these types."""
        compiled: dict[str, Compiled] = {}
        for name, variable in self._policy.variables.items():
            named = self._variables_in(variable.text)
            earlier = {other: _type_of(compiled[other]) for other in named if other in compiled}
            is_plain = len(earlier) == len(named)  # it names no later one, which the server would not know
            compiled[name] = _compile(environment_of(earlier) if is_plain else self.with_variables(earlier), variable)
        return compiled

    def _variables_in(self, text: str) -> Sequence[str]:
        """The variables that a text may name."""
        words = re.findall(r"\w+", text) if "variables" in text else ()
        return [word for word in dict.fromkeys(words) if word in self._policy.variables]


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


def _type_of(compiled: Compiled) -> str:
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
    if "String must end with" in problems[0].message:
        return Compiled(expression, unknown="a raw string that ends with a backslash")
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
