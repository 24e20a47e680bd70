"""The door to cel_expr_python: environments, compiled expressions, results.

Kubernetes' own types (quantities, URLs, addresses, versions) are maps with one entry here, since values of types of
ours cannot be made; `carriers` makes and reads them. What the checker calls them is put right in messages.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from msgspec import Struct

_ERROR = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)")
TOO_LARGE: Final = "a value that is too large here"
_INCONVERTIBLE = re.compile(r"(?:Non-CEL|Unexpected) value type for")
_UNBOUND = re.compile(r'No value with name "([^"]*)" found in Activation')
_CARRIERS: Final = {
    "Quantity": "map<string, list<bytes>>",
    "URL": "map<string, list<list<bytes>>>",
    "IP": "map<string, list<uint>>",
    "CIDR": "map<string, list<list<uint>>>",
    "Semver": "map<string, list<list<double>>>",
    "OptionalFormat": "map<string, list<list<list<uint>>>>",
    "OptionalFaults": "map<string, list<list<list<double>>>>",
}
_DECLARED: Final = ("indexOf", "lastIndexOf", "string", "hasValue", "value")  # or with a parameter of any type
_NEVER: Final = "never"  # a type that no expression has
_KINDS = re.compile(r"<.*")

# The comparisons that Kubernetes' CEL has beside those of the package: of numbers of different types.
_NUMBERS = ("int", "uint", "double")
_ORDERED = ("bool", "string", "bytes", "timestamp", "duration")
_MIXED_COMPARISONS = ("_<_", "_<=_", "_>_", "_>=_")


class Function(Struct, frozen=True):
    """A function that expressions may call."""

    name: str
    is_member: bool  # it is called on its first parameter
    signatures: Sequence[Sequence[str]]  # parameters and result, as `("string", "int", "bool")`
    run: Callable[..., object]  # works out the result, and raises ValueError with the server's words


class Problem(Struct, frozen=True):
    """Why an expression does not compile, and the place in it."""

    line: int  # from 1
    column: int  # from 1
    message: str
    function: str = ""  # the name of an unknown function, '' for other problems


class CompileError(Exception):
    """Why an expression does not compile."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems[0].message)
        self.problems = problems


class Result(Struct, frozen=True):
    """The result of an expression."""

    value: object = None
    error: str = ""  # in the package's words, '' where there is a value
    unbound: str = ""  # the variable without a value that the error comes from
    is_bounded: bool = False  # the package gave up


class Program(Struct, frozen=True):
    """A compiled expression."""

    program: Any
    type_name: str  # of its result, as BOOL or DYN

    @property
    def tree(self) -> bytes:
        """Its checked syntax tree, as the package serializes it."""
        tree: bytes = self.program.serialize()
        return tree

    def evaluate(self, activation: Any) -> Result:
        """What it gives for these values."""
        try:
            value = self.program.eval(activation=activation)
            if value.type().name() != "ERROR":
                plain = value.plain_value()
                _take_nulls(plain)
                return Result(plain)
        except RuntimeError as error:
            return Result(error=_without_status(str(error)), is_bounded=True)
        except TypeError:  # an optional value cannot leave the package
            return Result(error="the value of an optional type is not known here", is_bounded=True)
        message = str(value.value())
        if TOO_LARGE in message:
            return Result(error=TOO_LARGE, is_bounded=True)
        if _INCONVERTIBLE.search(message):
            return Result(error="a value that cannot be worked out here", is_bounded=True)
        unbound = _UNBOUND.search(message)
        return Result(error=message, unbound=unbound[1] if unbound else "")


def _take_nulls(value: object) -> None:
    """Takes the references to None that the package forgets to take for the nulls that it hands over. Where None can be
    freed (before Python 3.12) the program would end when it runs out of them.
    """
    rest = [value] if sys.version_info < (3, 12) else []
    while rest:
        item = rest.pop()
        if item is None:
            import ctypes  # few values have nulls

            ctypes.pythonapi.Py_IncRef(ctypes.py_object(None))
        elif isinstance(item, dict):
            rest += item.values()
        elif isinstance(item, list):
            rest += item


class CelEnvironment:
    """Compiles expressions with these variables, by name and type, and functions."""

    def __init__(self, variables: Mapping[str, str], functions: tuple[Function, ...]) -> None:
        from cel_expr_python import cel  # type: ignore[import-untyped]
        from cel_expr_python.ext import ext_optional  # type: ignore[import-untyped]

        self._env = cel.NewEnv(
            config=cel.NewEnvConfigFromYaml(_config()),
            variables={name: _type(name_of_type) for name, name_of_type in variables.items()},
            extensions=[
                ext_optional.ExtOptional(),
                cel.CelExtension("kubernetes", _declared(functions, True)),  # the last, which adds to the others
            ],
            functions=[*_mixed_comparisons(), *_declared(functions, False)],
        )

    def compile(self, text: str) -> Program:
        """The program of an expression. Raises CompileError."""
        try:
            program = self._env.compile(text)
        except RuntimeError as error:
            raise CompileError(list(_problems(text, str(error)))) from None
        return Program(program, program.return_type().name())

    def program_of(self, tree: bytes, type_name: str) -> Program:
        """The program of a checked syntax tree."""
        return Program(self._env.deserialize(tree), type_name)

    def activation(self, values: Mapping[str, object]) -> Any:
        """The values of variables, for programs; those that are left out are unbound."""
        return self._env.Activation(values)


def plain_environment(
    variables: Mapping[str, str], functions: Iterable[Function] = (), *, strings: bool = False
) -> Any:
    """An environment of the package itself, with no more than is asked for."""
    from cel_expr_python import cel

    extensions = []
    if strings:
        from cel_expr_python.ext import ext_strings

        extensions = [ext_strings.ExtStrings()]
    types = {name: getattr(cel.Type, name_of_type.upper()) for name, name_of_type in variables.items()}
    return cel.NewEnv(variables=types, extensions=extensions, functions=[*_declarations(functions)])


def _problems(text: str, message: str) -> Iterator[Problem]:
    """The problems in the package's message, the first first."""
    lines = text.split("\n")
    matches = [*_ERROR.finditer(message)]
    for match in matches:
        line, column = int(match[1]), int(match[2])
        words = _named_types(_without_status(match[3]))
        undeclared = re.match(r"undeclared reference to '([^']*)'", words)
        is_call = "".join(lines[line - 1 : line])[column - 1 : column] == "("
        function = undeclared[1] if undeclared and is_call else ""
        yield Problem(line, column, words.removesuffix(" (in container '')"), function)
    if not matches:
        yield Problem(1, 1, _without_status(message.partition("\n")[0]))


def _without_status(message: str) -> str:
    return re.sub(r" \[[A-Z_]+\]$", "", re.sub(r"^[A-Z_]+: ", "", message)).strip()


def _named_types(message: str) -> str:
    """A message with the names of Kubernetes' types in the place of those of their carriers."""
    for name, carrier in _CARRIERS.items():
        message = message.replace(carrier.replace("<", "(").replace(">", ")"), f"kubernetes.{name}")
    return message


@cache
def _config() -> str:
    """The functions of the language that are declared anew, with more signatures."""
    return "stdlib:\n  exclude_functions:\n" + "".join(f'    - name: "{name}"\n' for name in _MIXED_COMPARISONS)


@cache
def _mixed_comparisons() -> Sequence[Any]:
    """The declarations of what the configuration leaves out."""
    from cel_expr_python import cel

    comparisons = [(one, other) for one in _NUMBERS for other in _NUMBERS] + [(kind, kind) for kind in _ORDERED]
    return [
        cel.FunctionDecl(
            name,
            [
                cel.Overload(f"{name}{one}_{other}", _type("bool"), [_type(one), _type(other)], False)
                for one, other in comparisons
            ],
        )
        for name in _MIXED_COMPARISONS
    ]


@cache
def _declared(functions: tuple[Function, ...], by_language: bool) -> Sequence[Any]:
    """The declarations of those functions that the language declares too, or of the others."""
    return [*_declarations(function for function in functions if (function.name in _DECLARED) == by_language)]


def _declarations(functions: Iterable[Function]) -> Iterator[Any]:
    from cel_expr_python import cel

    by_name: dict[str, list[Function]] = {}
    for function in functions:
        by_name.setdefault(function.name, []).append(function)
    for name, alike in by_name.items():
        yield cel.FunctionDecl(name, [overload for function in alike for overload in _overloads(function)])


def _overloads(function: Function) -> Iterator[Any]:
    """The overloads of a function. At run time the package knows only whether a value is a map, a list or the like: one
    overload of such kinds runs the function for all of them, with a result of any type where theirs differ.
    """
    from cel_expr_python import cel

    alike: dict[tuple[str, ...], list[Sequence[str]]] = {}
    for signature in function.signatures:
        kinds = tuple(_KINDS.sub("", _CARRIERS.get(name, name)) for name in signature[:-1])
        alike.setdefault(kinds, []).append(signature)
    prefix = f"{'member_' if function.is_member else ''}{function.name}"
    for kinds, signatures in alike.items():
        differ = len({signature[-1] for signature in signatures}) > 1
        if differ:  # no expression has such parameters, so that the checker never takes it for another
            parameters = [f"{kind}<{_NEVER}>" if kind == "list" else kind for kind in kinds]
            yield _overload(cel, f"{prefix}_{'_'.join(kinds)}", (*parameters, "dyn"), function.is_member, function.run)
        for index, signature in enumerate(signatures):
            run = None if differ or index else function.run
            yield _overload(cel, f"{prefix}_{'_'.join(signature)}", signature, function.is_member, run)


def _overload(cel: Any, name: str, signature: Sequence[str], is_member: bool, run: Callable[..., object] | None) -> Any:
    parameters = [_type(parameter) for parameter in signature[:-1]]
    running = {"impl": run} if run else {}
    return cel.Overload(name, return_type=_type(signature[-1]), parameters=parameters, is_member=is_member, **running)


@cache
def _type(name: str) -> Any:
    from cel_expr_python import cel

    if name == f"list<{_NEVER}>":
        return cel.Type.List(cel.Type.AbstractType(_NEVER))
    if hasattr(cel.Type, name.upper()):
        return getattr(cel.Type, name.upper())
    return cel.Type(_CARRIERS.get(name, name))
