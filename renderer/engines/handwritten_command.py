"""What a hand-written command line says: the port, the model and the name that it is served under.

presets/engine_commands.yaml describes the engines; a line that it does not describe is read by the options that mean
the same everywhere. What a shell or Kubernetes fills in (`$PORT`, `$(NAME)`) is not known, and judged by nobody.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from renderer.diagnostics import Origin
from renderer.engines.shell_variables import fill_in_script
from renderer.engines.version_order import in_range
from renderer.preset_tables import preset_table
from renderer.text import patterns

_SHELLS = frozenset(("sh", "bash", "dash", "ash", "zsh"))
_SCRIPT_OPTION = re.compile(r"-[a-z]*c")
_SEPARATORS = ";&|()<>\n"
_PREFIX = r"(?s)exec|env|nohup|time|[A-Za-z_]\w*=.*"
_UNKNOWN = re.compile(r"[$`]|\{\{|\{%")
_LONGEST_PORT = 5
_PORT = re.compile(r"(?:.*:)?(\d{1,5})")


class Word(Struct, frozen=True):
    """A word of a command line."""

    text: str
    origin: Origin  # the item of `command` or `args` that holds it

    @property
    def known(self) -> bool:
        """Whether nothing is filled in at run time."""
        return not _UNKNOWN.search(self.text)


class EngineProgram(Struct, frozen=True):
    """How a command reads words that belong to no option, and a line without a model."""

    command: tuple[str, ...]
    words: str  # none, first, any or ignored, as presets/engine_commands.yaml explains
    model: tuple[str, ...] = ()  # options that name the model
    variables: tuple[str, ...] = ()  # variables that do
    refused: tuple[str, ...] = ()  # options that do elsewhere
    files: tuple[str, ...] = ()  # options with a file that may name the model
    required: bool = False  # it does not start without a model
    default: bool = False  # it serves a model of its own when none is named
    first_beside: tuple[str, ...] = ()  # options beside which the model has to stand in front of all


class EngineCommand(Struct, frozen=True):
    """A command line of an engine."""

    words: tuple[Word, ...] = ()  # all of it, none where nobody knows which of a script's lines it is
    backend: str = ""  # the preset of the engine, '' where none is known
    program: tuple[str, ...] = ()  # the command that it begins with; none where the image's entrypoint runs
    repeated: tuple[Word, ...] = ()  # what repeats the command, or the entrypoint, behind it
    arguments: tuple[Word, ...] = ()  # behind the command, and behind a model that stands first
    first_model: Word | None = None  # the model that stands first, or a shell behind an entrypoint
    is_alone: bool = True  # a shell runs nothing else beside it
    hides_options: bool = False  # what is filled in at run time may be an option
    names: tuple[Word, ...] = ()  # those that the model is served under
    named_by: str = ""  # the option that says so, or would
    unnamed: bool = False  # no option says so, and the name is the model itself
    ports: tuple[Word, ...] = ()  # the words that the options of the port have

    @property
    def port(self) -> int | None:
        """The port that the line says; None without one, or where it is not known."""
        text = self.ports[-1].text if self.ports else ""
        return int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST_PORT else None


def read_engine_command(
    command: Sequence[Word], args: Sequence[Word], image: str, variables: Mapping[str, str] | None = None
) -> EngineCommand:
    """What a container's command line says. `command`: empty where the image's own entrypoint runs; `variables`: of the
    container, whose values a shell fills in.
    """
    line, engine = (*command, *args), _engine_of_image(image) if not command else None
    if engine is not None:
        return _read_line(engine, line, has_command=False)
    if script := _script(line):
        script = Word(fill_in_script(script.text, variables or {}), script.origin)
        lines = [words for words in _script_lines(script) if _engine_of_line(words)]
        engine = _engine_of_line(lines[0]) if len(lines) == 1 else None
        is_alone = sum(map(bool, _script_lines(script))) == 1
        return _read_line(engine, lines[0], script_alone=is_alone) if engine else EngineCommand()
    engine = _engine_of_line(line)
    return _read_line(engine or _table()["common"], line)


def read_lines_as(
    backend: str, command: Sequence[Word], args: Sequence[Word], variables: Mapping[str, str] | None = None
) -> Iterator[EngineCommand]:
    """What the options of a container's command line say where it starts an engine by another program, from the first
    option on; of a script each of its lines.
    """
    line, script_alone, lines = (*command, *args), None, list[Sequence[Word]]()
    if script := _script(line):
        script = Word(fill_in_script(script.text, variables or {}), script.origin)
        lines += _script_lines(script)
        script_alone = sum(map(bool, lines)) == 1
    for words in lines or [line]:
        start = next((i for i, word in enumerate(words) if _is_option(words, i)), len(words))
        if words[start:]:
            yield _read_line(table_entry(backend), words[start:], script_alone=script_alone)


def _is_option(words: Sequence[Word], index: int) -> bool:
    """Whether a word is an option, and not one of Python's in front of the program."""
    before = words[index - 1].text if index else ""
    return words[index].text[:1] == "-" and not patterns.fits(os.path.basename(before), "python*")


@cache
def model_options() -> frozenset[str]:
    """The options that name the model of some engine."""
    fields = ("model", "weights", "hubRepository")
    return frozenset(option for engine in _table()["engines"] for field in fields for option in engine.get(field) or ())


@cache
def foreign_options() -> frozenset[str]:
    """Options of other programs that may run on accelerators."""
    return frozenset(option for program in _table()["foreign"] for option in program["options"])


@cache
def selector_options() -> frozenset[str]:
    """Options by which routers before engines select pods by their labels."""
    return frozenset(option for program in _table()["foreign"] for option in program.get("selectors") or ())


def _table() -> Mapping[str, Any]:
    """What is known of engines' command lines."""
    return preset_table("engine_commands")


@cache
def table_entry(backend: str) -> Mapping[str, Any]:
    """What presets/engine_commands.yaml says of the engine of a preset; {} where it says nothing."""
    return next((engine for engine in _table()["engines"] if engine.get("backend") == backend), {})


def option_variable(entry: Mapping[str, Any], option: str) -> str:
    """The variable that says an option of an engine of the table; '' where it has none for options."""
    prefix = entry.get("optionVariables")
    return "" if prefix is None else f"{prefix}{option.strip('-').replace('-', '_').upper()}"


def port_in(text: str) -> int | None:
    """The port that a variable says, alone or behind a host."""
    match = _PORT.fullmatch(text)
    return int(match[1]) if match else None


def usual_port(entry: Mapping[str, Any], variables: Mapping[str, str], *, is_own_image: bool) -> int | None:
    """The port of an engine of the table without an option for it, by variables whose values are known; None where
    another image than the engine's own says it.
    """
    for name in entry.get("portVariables") or ():
        if name in variables and (port := port_in(variables[name])):
            return port
    port = entry.get("defaultPort")
    return port if isinstance(port, int) and (is_own_image or not entry.get("imagePort")) else None


def common_entry() -> Mapping[str, Any]:
    """What presets/engine_commands.yaml says of all engines."""
    entry: Mapping[str, Any] = _table()["common"]
    return entry


def _engine_of_image(image: str) -> Mapping[str, Any] | None:
    """The engine that the entrypoint of an image runs; None where it is not known."""
    name, _, tag = image.partition("@")[0].rpartition("/")[2].partition(":")
    for engine in _table()["engines"]:
        tags = engine.get("tags") if tag else None
        if patterns.fits_any(name, engine.get("images") or ()) and (not tags or patterns.fits_any(tag, tags)):
            fitting: Mapping[str, Any] = engine
            return fitting
    return None


def _engine_of_line(words: Sequence[Word]) -> Mapping[str, Any] | None:
    """The engine that a command begins with; None where it is not known."""
    return next((engine for engine in _table()["engines"] if _command_end(engine, words)), None)


def _command_end(engine: Mapping[str, Any], words: Sequence[Word]) -> int:
    """The index behind the command of an engine; 0 where the line does not begin with one."""
    start = next((i for i, word in enumerate(words) if not re.fullmatch(_PREFIX, word.text)), 0)
    for command in engine.get("commands") or ():
        texts = [word.text for word in words[start : start + len(command)]]
        if texts:
            texts[0] = os.path.basename(texts[0])
        if len(texts) == len(command) and all(map(patterns.fits, texts, command)):
            return start + len(command)
    return 0


def find_program(command: EngineCommand, version: str) -> EngineProgram | None:
    """What presets/engine_commands.yaml says of the program that a line runs; None where it says nothing. `version`: of
    the engine, and of its own image where the line has no command.
    """
    entry = table_entry(command.backend)
    entrypoint = next((row["command"] for row in entry.get("entrypoint") or () if in_range(row, version)), ())
    words = command.program or tuple(entrypoint)
    for row in entry.get("programs") or () if version else ():
        pattern = row["command"]
        if len(words) == len(pattern) and all(map(patterns.fits, words, pattern)) and in_range(row, version):
            return EngineProgram(
                words,
                row["words"],
                model=tuple(row.get("model") or ()),
                variables=tuple(row.get("modelVariables") or ()),
                refused=tuple(row.get("refused") or ()),
                files=tuple(entry.get("settingsFile") or ()),
                required=bool(row.get("required")),
                default=bool(row.get("default")),
                first_beside=tuple(row.get("firstBeside") or ()),
            )
    return None


@cache
def absent_paths(backend: str, version: str) -> frozenset[str]:
    """Paths of the server that this version answers with 404; nothing is known of an unknown version."""
    rows = table_entry(backend).get("absentPaths") or () if version else ()
    return frozenset(path for row in rows if in_range(row, version) for path in row["paths"])


def _expand_repeated(engine: Mapping[str, Any], line: Sequence[Word], end: int) -> tuple[list[Word], int]:
    """The line, its item at `end` split where that repeats the command within one item; and the number of words from
    there on that repeat the command or its last words, or the entrypoint.
    """
    commands = [row["command"] for key in ("entrypoint", "programs") for row in engine.get(key) or ()]
    parts = [command[i:] for command in commands for i in range(len(command)) if not command[i].startswith("-")]
    split = [Word(text, word.origin) for word in line[end : end + 1] for text in word.text.split()]
    for words in (line, [*line[:end], *split, *line[end + 1 :]] if len(split) > 1 else []):
        texts = [word.text for word in words[end:]]
        for part in sorted(parts, key=len, reverse=True):
            beginning = [os.path.basename(text) if not i else text for i, text in enumerate(texts[: len(part)])]
            if len(beginning) == len(part) and all(map(patterns.fits, beginning, part)):
                return list(words), len(part)
    return list(line), 0


def is_shell(text: str) -> bool:
    """Whether a word is the program of a shell."""
    return os.path.basename(text) in _SHELLS


def _script(line: Sequence[Word]) -> Word | None:
    """The script that a shell is given by -c; None without one."""
    if not line or os.path.basename(line[0].text) not in _SHELLS:
        return None
    options = list(itertools.takewhile(lambda word: word.text.startswith("-"), line[1:]))
    takes_script = any(_SCRIPT_OPTION.fullmatch(option.text) for option in options)
    return line[1 + len(options)] if takes_script and len(line) > 1 + len(options) else None


def _script_lines(script: Word) -> list[list[Word]]:
    """The simple commands of a script; none where its quotes do not fit together."""
    import shlex  # few runs need it

    lexer = shlex.shlex(script.text.replace("\\\n", " "), posix=True, punctuation_chars=_SEPARATORS)
    lexer.commenters, lexer.whitespace, lexer.whitespace_split = "", " \t\r", True
    lines: list[list[Word]] = [[]]
    comment = False
    try:
        for token in lexer:
            if token[:1] in _SEPARATORS:
                comment = comment and "\n" not in token
                lines.append([])
            elif token[:1] == "#" or comment:
                comment = True
            else:
                lines[-1].append(Word(token, script.origin))
    except ValueError:
        return []
    return lines


def _read_line(
    engine: Mapping[str, Any], line: Sequence[Word], *, script_alone: bool | None = None, has_command: bool = True
) -> EngineCommand:
    """What the options of a line say; the last of equal ones counts. `script_alone`: of a line in a script, where the
    shell splits what it fills in, whether there is no other; `has_command`: the line does not follow an entrypoint.
    """
    in_script = script_alone is not None
    start = _command_end(engine, line) if has_command else 0
    line, repeats = _expand_repeated(engine, line, start) if start or not has_command else (list(line), 0)
    end = start + repeats
    values: dict[str, tuple[Word, ...]] = {}
    spelled: dict[str, str] = {}
    for i in range(end, len(line)):
        option, glued, value = line[i].text.partition("=")
        normal = option.replace("_", "-") if option.startswith("--") else option
        for field in ("servedName", "port", "model", "settingsFile"):
            if normal in (engine.get(field) or ()):
                values[field] = (Word(value, line[i].origin),) if glued else _values(line, i + 1)
                spelled[field] = option
    names, unnamed = values.get("servedName", ()), False
    if not names and "model" in engine and "settingsFile" not in values and not _hides_options(line, in_script):
        first = line[end : end + 1] if engine.get("modelFirst") else ()
        names = values.get("model") or tuple(word for word in first if not word.text.startswith("-"))
        names, unnamed = names[:1], bool(names)
    named_by = spelled.get("servedName") or next(iter(engine.get("servedName") or ()), "")
    runs_shell = not has_command and bool(line) and is_shell(line[0].text)
    hides = runs_shell or _hides_options(line, in_script)
    may_be_model = (engine.get("modelFirst") or runs_shell) and line[end : end + 1]
    starts_with_model = may_be_model and not line[end].text.startswith("-")
    return EngineCommand(
        words=tuple(line),
        backend=engine.get("backend", ""),
        program=_command_texts(line[:start]),
        repeated=tuple(line[start:end]),
        arguments=tuple(line[end + bool(starts_with_model) :]),
        first_model=line[end] if starts_with_model else None,
        is_alone=script_alone is not False,
        hides_options=hides,
        names=names,
        named_by=named_by,
        unnamed=unnamed,
        ports=values.get("port", ())[:1],
    )


def _command_texts(words: Sequence[Word]) -> tuple[str, ...]:
    """A command without what stands before it, such as `exec`; its first word by its last part."""
    texts = [word.text for word in itertools.dropwhile(lambda word: re.fullmatch(_PREFIX, word.text), words)]
    return tuple([os.path.basename(text) if not i else text for i, text in enumerate(texts)])


def _hides_options(line: Sequence[Word], in_script: bool) -> bool:
    """Whether what is filled in at run time may be an option: a word of its own that no option stands before."""
    before = ""
    for word in line:
        is_value = before.startswith("-") and "=" not in before and not in_script
        if not (word.known or word.text.startswith("-") or is_value):
            return True
        before = word.text
    return False


def _values(line: Sequence[Word], start: int) -> tuple[Word, ...]:
    """The words up to the next option."""
    end = next((i for i in range(start, len(line)) if line[i].text.startswith("-")), len(line))
    return tuple(line[start:end])
