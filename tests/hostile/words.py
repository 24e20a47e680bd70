"""Text that somebody hostile would write: into a value, a key, a file name or an option."""

from __future__ import annotations

import copy
from random import Random

CONTROL = [
    "\x00",
    "\x07",
    "\x08",
    "\r",
    "\x1b[2J",
    "\x1b]52;c;cHduZWQ=\x07",
    "\x7f",
    "\x85",
    "\x9b31m",
    "\u2028",
    "\u2029",
]
BIDI = ["\u202e", "\u2066", "\u2069", "\u200b", "\ufeff", "\u00ad", "\u061c"]
COMMANDS = [
    "x\n::error file=README.md,line=1::spoofed",
    "x\r\n::add-mask::a",
    "x\r::set-output name=a::b",
    "%0A::warning::x",
    "##[command]x",
]
MARKUP = [
    "</code><img src=//evil>",
    "`@acme/everyone`",
    "``` \n# heading",
    "| a | b |",
    "[x](javascript:alert(1))",
    "<!-- llmaz -->",
    '\\n"]; click a "javascript:x"',
    "&#x3c;script&#x3e;",
]
PATHS = [
    "..",
    "../../../../etc/passwd",
    "/etc/passwd",
    "/proc/self/environ",
    "/dev/zero",
    "a/../../b",
    ".git/hooks/pre-commit",
    "-rf",
    "--output=/nowhere",
    "~/.ssh/id_rsa",
    "C:\\x",
    "a//b",
    ".",
    "",
    "file:///etc/passwd",
    "http://127.0.0.1:9/x",
    "a" * 300,
    "a/" * 2100,
]
PATTERNS = [
    "^(a+)+$",
    "(a|aa)+$",
    "(.*)*x",
    "(?=a)b",
    "(?P<a>x)(?P=a)",
    "[",
    "(" * 500,
    "a{1000}{1000}",
    "\\" * 99,
    "**/" * 40 + "x",
    "*a" * 60 + "b",
    "?" * 3000,
    "[!" * 100,
]
TEMPLATES = [
    "{{ 'a' * 3000000000 }}",
    "{{ '%2000000000d' % 1 }}",
    "{{ 9 * 9 * 9 }}" * 50,
    "{{ ModelName.__class__ }}",
    "{{ ModelName|replace('', ModelName * 999999) }}",
    "{{ " + "(" * 300 + "1" + ")" * 300 + " }}",
    "{{ 10 ** 10 ** 10 }}",
    "{{ " + "9" * 5000 + " * 9 }}",
    "{{ Port // 0 }}",
    "{{ nothing }}",
    "{{",
    "}}",
    "{% for x in [1] %}{% endfor %}",
    "'a' * 3000000000 == 'x'",
    "not " * 500 + "TP",
    "{{ 'x' ~ 'y' }}" * 900,
]
NUMBERS = [
    "1" * 20_000 + "x",
    "9" * 4_400,
    "1e999999999",
    "-1e-999999999Gi",
    "0x" + "f" * 3_000,
    "1_000",
    "nan",
    ".inf",
    "-0",
    "1Ei",
    "999999999999999999999999Gi",
    "1.5m",
    "12:30:45",
    "5h" * 900,
]
LONG = [
    "a" * 60_000 + "\x01",
    "_" * 20_000,
    "a b " * 20_000,
    "-" * 9_000,
    "a." * 5_000,
    "a-" * 5_000,
    "é" * 9_000,
    "A_KEY_" * 900,
]
SCHEMAS = [
    "gateway.networking.k8s.io/../../../../../../tmp/x/v1",
    "gateway.networking.k8s.io/v1/../../../core/service_v1",
    "../../input/playground",
    "v1/..",
    "apps/v1\x00",
    "inference.llmaz.io/v1alpha1\n",
    "/v1",
    "gateway.envoyproxy.io/v1alpha1",
]
ACTIONS = [
    '{{ fail "PWN" }}',
    '{{ lookup "v1" "Secret" "" "" }}',
    'x.y" }}{{ fail "PWN" }}{{ "/z',
    "a.b`/{{ `{{`}}",
    "{{/* no comment */}}",
    "{{- .Values -}}",
    "{{`{{`}}",
    "{% raw %}{# x #}",
    " #llmaz:0#",
    " #llmaz:9999#",
    "$(POD_NAME) $$(A) ${HOME:-x}",
    "$(touch pwned) `id`",
    "a\n---\nkind: Secret\n",
    "\n# Source: x\n\n",
    "|-\n {{ a",
    ": #- ? [a]",
    "{{ x }}" * 1500,
]
ALL = [*CONTROL, *BIDI, *COMMANDS, *MARKUP, *PATHS, *PATTERNS, *TEMPLATES, *NUMBERS, *LONG, *SCHEMAS, *ACTIONS]
ODD: list[object] = [
    None,
    True,
    False,
    0,
    -1,
    2**31,
    2**63,
    2**70,
    1e308,
    1.5,
    [],
    {},
    [None],
    {"a": None},
    [[]],
    {"": ""},
    [1, "a", {}],
]


def text(random: Random) -> str:
    """A hostile text, at times in the midst of a harmless one."""
    word = random.choice(ALL)
    return random.choice([word, word, f"chat{word}", f"{word}chat", word + random.choice(ALL)])


def name(random: Random) -> str:
    """A hostile name that a file can have."""
    word = text(random).replace("/", "_").replace("\x00", "")
    return word.encode()[:200].decode(errors="ignore") or "x"


def value(random: Random) -> object:
    """What stands where something else is expected."""
    return copy.deepcopy(random.choice(ODD)) if random.random() < 0.4 else text(random)
