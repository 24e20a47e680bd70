"""Templates: the quick ways agree with Jinja, unknown words are errors, and nothing of Python can be reached."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from renderer import template
from renderer.resolve.engine.template_words import WORDS
from renderer.template import TemplateError, compile_condition, compile_template

VALUES: dict[str, Any] = {
    "ModelPath": "/workspace/models/models--org--m",
    "ModelName": "qwen3-0.6b",
    "DraftModelPath": "",
    "ProjectorPath": "",
    "Models": 2,
    "Loaded": 1,
    "ModelNames": ("qwen3-0.6b", "other"),
    "ModelFiles": ("qwen3-0.6b", "/workspace/models/m.gguf", "", "other", "", ""),
    "WeightFiles": ("qwen3-0.6b", "/workspace/models/m.gguf", "qwen3-0.6b", "/workspace/models/mmproj.gguf"),
    "OpenModels": ("qwen3-0--6b", "other"),
    "Preloaded": ("other",),
    "ChatTemplatePath": "",
    "Revision": "main",
    "DraftRevision": "",
    "Hub": "Huggingface",
    "Filename": "",
    "Endpoint": "",
    "Region": "",
    "Anonymous": False,
    "Source": "hub",
    "Format": "safetensors",
    "Skip": False,
    "Stream": False,
    "Accelerator": "nvidia",
    "Port": 8080,
    "TP": 4,
    "PP": 1,
    "DP": 1,
    "EP": False,
    "WorldSize": 1,
    "Hosts": 1,
    "LocalRanks": 1,
    "RankPorts": 0,
    "MaxModelLen": 0,
    "Slots": 4,
    "DrainSleep": 10,
    "KVOffloadGiB": 64,
    "KVOffloadShareGB": 17,
    "KVOffloadPolicy": "lru",
    "KVOffloadTiers": "/mnt/kv-cache-0",
    "KVOffloadDiskShare": 0,
    "Adapters": 0,
    "Role": "",
    "EnginePort": 8080,
    "Task": "chat",
    "Host": "0.0.0.0",  # noqa: S104 - a word
    "HostPort": "0.0.0.0:8080",
}


def filled(text: Any) -> Any:
    """The text or tree with VALUES in it."""
    filler = compile_template(text, WORDS)
    return filler(VALUES) if filler else text


def holds(text: str) -> bool:
    return bool(compile_condition(text, WORDS)(VALUES))


def test_the_words_here_are_the_words() -> None:
    assert VALUES.keys() == WORDS


# --- text


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("plain", "plain"),
        ("{{ Port }}", 8080),
        ("{{Port}}", 8080),
        ("{{  Skip  }}", False),
        ("{{ .ModelPath }}", "/workspace/models/models--org--m"),
        ("--port={{ Port }}", "--port=8080"),
        ("{{ ModelName }}:{{ Port }}", "qwen3-0.6b:8080"),
        ("{{ .ModelName }}{{ModelName}}", "qwen3-0.6bqwen3-0.6b"),
        ("{{ TP * 2 }}", "8"),
        ("{{ Revision or 'none' }}{{ DraftRevision or 'none' }}", "mainnone"),
        ("{{ Format | upper }}", "SAFETENSORS"),
        ("{{ 'gguf' if Format == 'gguf' else TP - 1 }}", "3"),
        ('{"model": {"name": "{{ ModelName }}"}}', '{"model": {"name": "qwen3-0.6b"}}'),
        ("\n  {{ Port }}\n", "\n  8080\n"),
        ("{{ Port }}\n\n", "8080\n\n"),
        ("{{ Port }} żółć 🦙 {{ Port }}", "8080 żółć 🦙 8080"),
    ],
)
def test_text(text: str, result: object) -> None:
    assert filled(text) == result
    assert type(filled(text)) is type(result)


@pytest.mark.parametrize(
    "text",
    [
        "${#x}",
        "{# no comment #}",
        "{% if x %}{% endif %}",
        "{%- raw -%}",
        "%}",
        "#}",
        "{ {Port} }",
        "{Port}",
        "{0}",
        "{",
        "}",
        "}}",
        "a }} b",
        '{"a": {"b": 1}}',
        "$(date)",
        "{!r}",
        "# for x in y",
    ],
)
def test_only_double_braces_are_active(text: str) -> None:
    """Alone, beside a word that is filled quickly, and beside one that Jinja fills."""
    assert filled(text) == text
    assert filled(f"{text} {{{{ Port }}}}") == f"{text} 8080"
    assert filled(f"{{{{ Port + 0 }}}} {text}") == f"8080 {text}"


@pytest.mark.parametrize(
    "text", ["{{ Nope }}", "a {{ Nope }} {{ Port }}", "{{ .Nope }}", "{{ Port + Nope }}", "{{ port }}"]
)
def test_unknown_words(text: str) -> None:
    word = "port" if "port" in text else "Nope"
    with pytest.raises(TemplateError, match=f"there is no variable '{word}'"):
        compile_template(text, WORDS)


def test_the_path_leads_to_the_leaf() -> None:
    with pytest.raises(TemplateError) as caught:
        compile_template({"a": ["x", {"b": "{{ Nope }}"}]}, WORDS, ("spec",))
    assert caught.value.path == ("spec", "a", 1, "b")


@pytest.mark.parametrize(
    "text", ["{{ }}", "{{}}", "{{ Port", "a {{ Port {{ TP }}", "{{ Port }", "{{ Port TP }}", "{{ 'a }}", "{{ 1 + }}"]
)
def test_broken_templates(text: str) -> None:
    with pytest.raises(TemplateError):
        compile_template(text, WORDS)


def test_trees() -> None:
    """Keys stay, values of every kind too; a tree without anything to fill is not a template."""
    tree = {"args": ["{{ Port }}", "x", 1, None, {"{{ Port }}": "{{ TP }}"}], "n": 1.5, "b": True}
    assert filled(tree) == {"args": [8080, "x", 1, None, {"{{ Port }}": 4}], "n": 1.5, "b": True}
    assert tree["args"] == ["{{ Port }}", "x", 1, None, {"{{ Port }}": "{{ TP }}"}]
    assert compile_template({"a": ["b", {"c": 1}], "d": None}, WORDS) is None


REACHING = [
    "ModelName.__class__",
    "ModelName['__class__']",
    "ModelName|attr('__class__')",
    "().__class__.__mro__",
    "''.__class__.mro()",
    "ModelName.mro",
    "ModelName.upper()",
    "ModelName.upper",
    "''.join",
    "'{0.__class__}'.format(ModelName)",
    "'{0.__class__}'|format(ModelName)",
    "ModelName[0]",
    "ModelName[0:2]",
    "{'a': 1}['a']",
    "range(3)",
    "dict()",
    "lipsum()",
    "cycler()",
    "namespace()",
    "joiner()",
    "__import__('os')",
    "open('/etc/passwd')",
    "self",
    "self.__init__",
    "ModelName|replace('q', self)",
    "super()",
    "loop",
    "caller()",
    "varargs",
    "kwargs",
    "context",
    "environment",
    "__builtins__",
    "_",
    "config",
    "request",
    "[x for x in ModelName]",
    "(x for x in ModelName)|list",
    "{x: 1 for x in ModelName}",
    "(lambda: 1)()",
    "(x := 1)",
    "ModelName|map('upper')",
    "ModelName|list",
    "ModelName|pprint",
    "ModelName|random",
    "ModelName|tojson",
    "ModelName|nosuch",
    "ModelName is callable",
    "ModelName is nosuch",
    "2 ** 99999999",
    "b'x'",
    "...",
    "await Port",
    "yield Port",
    "f'{Port}'",
    "Port; TP",
    "Port }}{{ TP",
    "1) else 0 }}{{ 1 if (1",
    "%}{% if 1",
]


@pytest.mark.parametrize("expression", REACHING)
def test_nothing_reaches_python(expression: str) -> None:
    """Refused when it is compiled, before any word has a value; in text and in `when`."""
    with pytest.raises(TemplateError):
        compile_condition(expression, WORDS)
    if "}}" not in expression:
        with pytest.raises(TemplateError):
            compile_template("{{ " + expression + " }}", WORDS)
        with pytest.raises(TemplateError):
            compile_template("x {{ " + expression + " }} y", WORDS)


@pytest.mark.parametrize(
    "text", ["{{ ModelName + 1 }}", "{{ TP / 0 }}", "{{ TP % 0 }}", "{{ Format - 1 }}", "{{ -ModelName }}"]
)
def test_what_goes_wrong_later(text: str) -> None:
    with pytest.raises(TemplateError):
        filled(text)


def texts(seed: int) -> str:
    """Some text with words in it, and with every character that a template might mind.

    But for a return, which Jinja drops, and a brace right before a word, which Jinja takes for a map's.
    """
    chance = random.Random(seed)
    pieces = [
        "{",
        "}",
        "%",
        "#",
        "$",
        " ",
        "\n",
        "\t",
        "'",
        '"',
        "\\",
        "é",
        "a",
        ":",
        "{%",
        "%}",
        "{#",
        "#}",
        "-",
        "{{ Port }}",
        "{{ModelName}}",
        "{{ .TP }}",
        "{{  Skip }}",
    ]
    text = "".join(chance.choice(pieces) for _ in range(chance.randint(1, 12)))
    while "{{{" in text:
        text = text.replace("{{{", "{ {{")
    return text


def test_the_quick_way_with_text_is_jinja_s() -> None:
    """Whatever is filled without Jinja reads as Jinja would have it, but for the type of a bare word."""
    quick = 0
    for seed in range(600):
        text = texts(seed)
        with_jinja: Any
        try:
            with_jinja = template._compile_jinja_text(text, WORDS, ())(VALUES)
        except TemplateError:
            with_jinja = TemplateError
        without: Any
        try:
            without = str(filled(text))
        except TemplateError:
            without = TemplateError
        assert without == with_jinja, text
        quick += without is not TemplateError and "{{" in text
    assert quick > 200


# --- when


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("Skip", False),
        ("not Skip", True),
        ("TP > 1", True),
        ("TP >= 4 and TP <= 4", True),
        ("TP == 4 or Skip", True),
        ("Skip and Hub == 'ModelScope'", False),
        ("Format in ('gguf', 'safetensors')", True),
        ("Format not in ['gguf']", True),
        ("'safe' in Format", True),
        ("MaxModelLen", False),
        ("Filename or Endpoint", False),
        ("(Revision and not Filename) or Stream", True),
        ("Skip == false", True),
        ("Skip == False", True),
        ("true", True),
        ("none", False),
        ("TP * 2 == 8", True),
        ("1 < TP < 5", True),
        ("TP % 2 == 0", True),
        ("Format ~ 'x' == 'safetensorsx'", True),
        (" TP ", True),
        ("TP == 4\n  and not Skip", True),
    ],
)
def test_when(text: str, result: bool) -> None:
    assert holds(text) is result


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "TP >",
        "TP = 4",
        "TP TP",
        "TP > 1 and",
        "(TP",
        "'a",
        "TP && 1",
        "Nope",
        "TP > 0 or Nope",
        "Skip and Nope",
        "tp > 1",
        "TP # comment",
        "{{ TP }}",
        "1j",
    ],
)
def test_broken_whens(text: str) -> None:
    """An unknown word is an error even where the answer would not depend on it."""
    with pytest.raises(TemplateError):
        compile_condition(text, WORDS)


@pytest.mark.parametrize(
    "text", ["Format > 1", "Filename in 5", "1 in Format", "TP + Format", "TP // 0 == 1", "not (ModelName < 3)"]
)
def test_whens_that_go_wrong_later(text: str) -> None:
    """With the path that the caller gave."""
    condition = compile_condition(text, WORDS, ("engine", "derived", 3, "when"))
    with pytest.raises(TemplateError) as caught:
        condition(VALUES)
    assert caught.value.path == ("engine", "derived", 3, "when")


def expression(chance: random.Random, depth: int = 0) -> str:
    """An expression over words, strings, numbers, comparisons, `and`, `or`, `not`, `in`, and brackets."""
    atoms = [
        *sorted(WORDS),
        "0",
        "1",
        "4",
        "8080",
        "1.5",
        "''",
        "'hub'",
        "'gguf'",
        '"safetensors"',
        "True",
        "False",
        "None",
    ]
    kind = chance.randrange(7 if depth < 4 else 2)
    if kind < 2:
        return chance.choice(atoms)
    if kind == 2:
        return f"not {expression(chance, depth + 1)}"
    if kind == 3:
        return f"({expression(chance, depth + 1)})"
    if kind == 4:
        left, right = chance.choice(atoms), chance.choice(atoms)
        return f"{left} {chance.choice(['==', '!=', '<', '<=', '>', '>='])} {right}"
    if kind == 5:
        listed = ", ".join(chance.choice(atoms) for _ in range(chance.randint(1, 3)))
        brackets = chance.choice(["[{}]", "({},)"]).format(listed)
        return f"{chance.choice(atoms)} {chance.choice(['in', 'not in'])} {brackets}"
    return f"{expression(chance, depth + 1)} {chance.choice(['and', 'or'])} {expression(chance, depth + 1)}"


def test_the_quick_way_with_whens_is_jinja_s() -> None:
    quick, answers, errors = 0, [0, 0], 0
    for seed in range(6000):
        text = expression(random.Random(seed))
        if template._compile_plain_condition(text, WORDS, ()) is None:
            continue
        quick += 1
        seen: list[object] = []
        for condition in (compile_condition(text, WORDS), template._compile_jinja_condition(text, WORDS, ())):
            try:
                seen.append(bool(condition(VALUES)))
            except TemplateError:
                seen.append(TemplateError)
        assert seen[0] == seen[1], text
        if seen[0] is TemplateError:
            errors += 1
        else:
            answers[seen[0] is True] += 1
    assert quick > 1000
    assert min(*answers, errors * 10) > 200, (answers, errors)


def test_what_a_condition_depends_on() -> None:
    """Words that it reads in full stay as they are, others change as far as they may: the answer is the same."""
    some: list[Any] = ["", "hub", "gguf", 0, 1, 4, 8080, True, False]
    bare = 0
    for seed in range(3000):
        chance = random.Random(seed)
        text = " and ".join(
            chance.choice([expression(chance, 4), f"not {chance.choice(sorted(WORDS))}", "TP > 1", "Hub == 'hub'"])
            for _ in range(chance.randint(1, 3))
        )
        values, truths = template.condition_words(text)
        bare += bool(truths)
        one = {word: chance.choice(some) for word in WORDS} | {"TP": 1, "Hub": "hub"}
        other = {
            word: value
            if word in values
            else chance.choice(
                [candidate for candidate in some if word not in truths or bool(candidate) == bool(value)]
            )
            for word, value in one.items()
        }
        holds = compile_condition(text, WORDS)
        assert bool(holds(one)) == bool(holds(other)), (text, one, other)
    assert bare > 1000


def test_jinja_is_imported_only_when_it_is_needed() -> None:
    """It costs more than rendering ten models."""
    code = (
        "import sys\n"
        "from renderer import template\n"
        "known = frozenset({'TP', 'Port'})\n"
        "template.compile_template({'a': ['{{ Port }}', 'x {{ TP }} y', '{% {# plain']}, known)\n"
        "template.compile_condition('TP > 1 and not Port', known)\n"
        "assert 'jinja2' not in sys.modules\n"
        "template.compile_condition('TP % 2 == 0', known)\n"
        "assert 'jinja2' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).resolve().parent.parent)


# --- text where text is wanted, and what is too much


def test_a_word_is_text_below_a_key_of_texts() -> None:
    tree = {
        "command": ["{{ Port }}", "a{{ TP }}"],
        "value": "{{ TP }}",
        "seconds": "{{ DrainSleep }}",
        "on": "{{ Skip }}",
    }
    filler = compile_template({"exec": tree}, WORDS, (), frozenset({"command", "value"}))
    assert filler is not None
    assert filler(VALUES) == {
        "exec": {"command": ["8080", "a4"], "value": "4", "seconds": 10, "on": False},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(" * 5000 + "TP" + ")" * 5000, "it is nested too deep"),
        ("not " * 5000 + "TP", "it is nested too deep"),
        ("-" * 5000 + "TP", "it is nested too deep"),
        ("TP < " + "9" * 5000, "a number has too many digits"),
    ],
    ids=["brackets", "not", "minus", "digits"],
)
def test_too_much_is_an_error_of_the_template(text: str, message: str) -> None:
    for refused in (compile_condition, lambda text, known: compile_template("a {{ " + text + " }}", known)):
        with pytest.raises(TemplateError, match=message):
            refused(text, WORDS)
