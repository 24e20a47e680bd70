"""Kubernetes' functions beside those of CEL: what its documentation shows, and what its API server says of mistakes."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from renderer.cel.compiler import CelEnvironment, CompileError
from renderer.cel.functions import MODULES, functions_named
from renderer.cel.messages import server_words

KUBERNETES = functions_named(MODULES.values())

DATA = {"object": {"a": 1, "f": 1.5, "l": [3, 1, 2], "m": {"x": 1}, "n": None, "s": "abc"}}
TRUE = (
    # quantities
    "quantity('1.5G').isLessThan(quantity('1.5Gi')) && quantity('200M').compareTo(quantity('0.2G')) == 0",
    "quantity('50k').add(20).compareTo(quantity('50020')) == 0",
    "quantity('50k').sub(quantity('20k')).asInteger() == 30000",
    "quantity('1500m').asApproximateFloat() == 1.5 && !quantity('1500m').isInteger() && sign(quantity('-3')) == -1",
    "isQuantity('1.3Gi') && isQuantity('1Ki') && !isQuantity('200K') && !isQuantity('')",
    "quantity('1000m') == quantity('1')",
    # regular expressions
    "'abc 123'.find('[0-9]+') == '123' && 'abc'.find('[0-9]+') == ''",
    "'123 abc 456'.findAll('[0-9]+') == ['123', '456'] && '1 2 3'.findAll('[0-9]', 1) == ['1']",
    "'1'.findAll('[0-9]', 0) == []",
    # URLs
    "url('https://user:pw@example.com:80/path?k=a&k=b#frag').getHost() == 'example.com:80'",
    "url('https://example.com:80/').getHostname() == 'example.com'",
    "url('https://[::1]:80/').getHostname() == '::1'",
    "url('https://example.com/').getPort() == '' && url('https://example.com:8443').getPort() == '8443'",
    "url('https://example.com/path with spaces/').getEscapedPath() == '/path%20with%20spaces/'",
    "url('/a').getScheme() == ''",
    "url('https://example.com/path?k1=a&k2=b&k1=c').getQuery() == {'k1': ['a', 'c'], 'k2': ['b']}",
    "isURL('https://example.com:80/path') && !isURL('../path') && !isURL('http://a b/') && !isURL('')",
    # addresses
    "isIP('127.0.0.1') && !isIP('127.0.0.1.0') && !isIP('::ffff:1.2.3.4') && !isIP('fe80::1%eth0')",
    "!isIP('010.0.0.1')",
    "ip.isCanonical('2001:db8::abcd') && !ip.isCanonical('2001:DB8::ABCD') && ip('::1').family() == 6",
    "ip('0.0.0.0').isUnspecified() && ip('127.0.0.1').isLoopback() && ip('224.0.0.1').isLinkLocalMulticast()",
    "ip('169.254.1.1').isLinkLocalUnicast() && ip('10.0.0.1').isGlobalUnicast()",
    "!ip('255.255.255.255').isGlobalUnicast()",
    "cidr('192.168.0.0/24').containsIP('192.168.0.1') && cidr('192.168.0.0/24').containsIP(ip('192.168.0.1'))",
    "cidr('192.168.0.0/16').containsCIDR('192.168.10.0/24')",
    "!cidr('192.168.10.0/24').containsCIDR(cidr('192.168.0.0/16'))",
    "cidr('192.168.0.1/24').masked() == cidr('192.168.0.0/24') && cidr('192.168.0.1/24').ip() == ip('192.168.0.1')",
    "cidr('::1/128').prefixLength() == 128 && string(cidr('10.0.0.0/8')) == '10.0.0.0/8'",
    "string(ip('::1')) == '::1'",
    "!isCIDR('10.0.0.0') && !isCIDR('10.0.0.0/33') && !isCIDR('10.0.0.0/08') && isCIDR('10.0.0.1/8')",
    # versions
    "semver('1.2.3-alpha').isLessThan(semver('1.2.3')) && semver('1.10.0').isGreaterThan(semver('1.9.0'))",
    "semver('v1.0', true).compareTo(semver('1.0.0')) == 0 && semver('1.2.3').major() + semver('1.2.3').minor() == 3",
    "!isSemver('v1.0') && isSemver('v1.0', true) && !isSemver('01.0.0') && semver('1.0.0+a') == semver('1.0.0+b')",
    # lists and sets
    "[1, 2, 3].sum() == 6 && [1.5, 2.0].sum() == 3.5",
    "object.l.max() == 3 && object.l.min() == 1 && !object.l.isSorted() && ['a', 'b'].isSorted() && [].sum() == 0",
    "object.l.indexOf(1) == 1 && object.l.lastIndexOf(9) == -1 && 'abcb'.lastIndexOf('b') == 3",
    "object.s.indexOf('c') == 2",
    "sets.contains([1, 2], [2, 2]) && sets.equivalent([1, 2], [2, 1, 1]) && !sets.intersects(object.l, [7])",
    "[1, 1.0, 2].distinct().size() == 2 || [1, 2, 1].distinct() == [1, 2]",
    "object.l.sort() == [1, 2, 3] && object.l.reverse() == [2, 1, 3] && object.l.slice(0, 1) == [3]",
    "lists.range(2) == [0, 1]",
    "[[1], [2, [3]]].flatten() == [1, 2, [3]]",
    # formats
    "!format.named('dns1123Label').value().validate('web').hasValue()",
    "format.named('dns1123Label').value().validate('-a').hasValue()",
    "!format.named('nosuch').hasValue() && format.named('uuid').value().validate('x').value().size() == 1",
    # numbers of different types, optional fields
    "1 < 1.5 && object.a < object.f && 2u >= 1 && object.f == 1.5",
    "object.?m.?x.orValue(0) == 1 && object.?nosuch.orValue('none') == 'none' && !object.?nosuch.hasValue()",
)
ERRORS = (
    ("quantity(object.s).isLessThan(quantity('1'))", "quantities must match the regular expression"),
    ("object.nosuch == 1", "no such key: nosuch"),
    ("object.l[7] == 1", "index out of bounds: 7"),
    ("1 / (object.a - 1) == 1", "division by zero"),
    ("object.a + object.s == 1", "no such overload"),
    ("int(object.s) == 1", "type conversion error from 'string' to 'int'"),
    ("[].min() == 1", "min called on empty list"),
    ("object.m.isGreaterThan(quantity('1'))", "no such overload"),
    ("semver(object.s) == semver('1.0.0')", "No Major.Minor.Patch elements found"),
    ("object.s.find('(') == ''", "Illegal regex: error parsing regexp: missing ): ("),
    ("object.l.slice(2, 9) == []", "cannot slice(2, 9), list is length 3"),
)
WRONG = (
    ("object.a ==", 1, 12, "Syntax error"),
    ("nosuch == 1", 1, 1, "undeclared reference to 'nosuch'"),
    ("true &&\n  quantity('1') == 1", 2, 17, "applied to '(kubernetes.Quantity, int)'"),
    ("quantity('1').isGreaterThan(semver('1.0.0'))", 1, 28, "applied to '(kubernetes.Quantity, kubernetes.Semver)'"),
    ("[1].sum() + 1.5 == 2.5", 1, 11, "found no matching overload for '_+_'"),
)


@pytest.fixture(scope="module")
def environment() -> CelEnvironment:
    return CelEnvironment({"object": "dyn", "missing": "dyn"}, KUBERNETES)


@pytest.mark.parametrize("text", TRUE)
def test_what_holds(environment: CelEnvironment, text: str) -> None:
    program = environment.compile(text)
    result = program.evaluate(environment.activation(DATA))
    assert (program.type_name, result.error, result.value) == ("BOOL", "", True)


@pytest.mark.parametrize(("text", "words"), ERRORS)
def test_errors_have_the_words_of_the_server(environment: CelEnvironment, text: str, words: str) -> None:
    result = environment.compile(text).evaluate(environment.activation(DATA))
    assert server_words(result.error).startswith(words)
    assert not result.unbound


@pytest.mark.parametrize(("text", "line", "column", "words"), WRONG)
def test_what_does_not_compile(environment: CelEnvironment, text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(CompileError) as raised:
        environment.compile(text)
    problem = raised.value.problems[0]
    assert (problem.line, problem.column, problem.function) == (line, column, "")
    assert words in problem.message


def test_an_unknown_function_is_no_unknown_name(environment: CelEnvironment) -> None:
    with pytest.raises(CompileError) as raised:
        environment.compile("object.s.nosuch() == other")
    assert [problem.function for problem in raised.value.problems] == ["nosuch", ""]


def test_a_name_without_a_value_is_an_error_only_where_it_counts(environment: CelEnvironment) -> None:
    activation = environment.activation(DATA)
    assert environment.compile("object.a == 1 || missing.x").evaluate(activation).value is True
    assert environment.compile("object.a == 2 || missing.x").evaluate(activation).unbound == "missing"


def test_a_value_that_cannot_be_handed_over(environment: CelEnvironment) -> None:
    program = environment.compile("[duration('1m'), duration('2s')].sum() == duration('62s')")
    assert program.evaluate(environment.activation(DATA)).is_bounded


def test_too_many_steps(environment: CelEnvironment) -> None:
    text = "lists.range(1000).all(a, lists.range(1000).all(b, a + b >= 0))"
    assert environment.compile(text).evaluate(environment.activation(DATA)).is_bounded


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_named_by_what_is_in_it(module: str) -> None:
    functions = import_module(f"renderer.cel.{module}").FUNCTIONS
    words = set(MODULES[module].split())
    parts = [set(function.name.split(".")) for function in functions]
    of_other_types_too = {"string", "hasValue", "value"}
    assert [part for part in parts if part.isdisjoint(words | of_other_types_too)] == []
    assert words <= set().union(*parts)


def test_a_module_is_loaded_where_an_expression_names_it() -> None:
    text = (
        "import sys\n"
        "from renderer.admission.programs import compile_policy\n"
        "from renderer.cel.functions import MODULES, functions_named\n"
        "functions_named(['object.spec.replicas > 1', \"quantity('1') == quantity('2')\"])\n"
        "print(*(name for name in MODULES if f'renderer.cel.{name}' in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["quantities"]


@pytest.mark.parametrize(
    ("items", "distinct"),
    [
        ("[1, 1.0, 1u, true, 'true', '1', 2]", "[1, true, 'true', '1', 2]"),
        ("[[1, 2], [1.0, 2u], [2, 1]]", "[[1, 2], [2, 1]]"),
        ("[{'a': 1, 'b': [2]}, {'b': [2.0], 'a': 1u}, {'a': true}]", "[{'a': 1, 'b': [2]}, {'a': true}]"),
        ("[b'a', 'a', null, null]", "[b'a', 'a', null]"),
        ("[3, 1, 3, 2, 1]", "[3, 1, 2]"),
        ("[\"('list', [1])\", [1]]", "[\"('list', [1])\", [1]]"),
    ],
)  # fmt: skip
def test_what_is_equal_in_lists(environment: CelEnvironment, items: str, distinct: str) -> None:
    for text in (
        f"dyn({items}).distinct() == dyn({distinct})",
        f"sets.equivalent(dyn({items}), dyn({distinct}))",
        f"dyn({items}).indexOf(dyn({items})[1]) == [0, 1].filter(i, dyn({items})[i] == dyn({items})[1])[0]",
        f"dyn({items}).lastIndexOf(dyn({items})[0]) < dyn({items}).size()",
    ):
        assert environment.compile(text).evaluate(environment.activation(DATA)).value is True, text
