#!/usr/bin/env python3
"""Makes the lists of an engine's options that presets/backends/flags/ keeps, from the engine itself.

Of every release, from its sources, without torch, a GPU or a build:

    python3.11 -m venv CACHE/env && CACHE/env/bin/pip install …      # PARSER_PACKAGES
    .venv/bin/python scripts/make_options.py releases vllm CACHE      # writes presets/backends/flags/vllm.txt
    .venv/bin/python scripts/make_options.py releases sglang CACHE
    .venv/bin/python scripts/make_options.py releases llamacpp CACHE

Each also writes the line of its engine in presets/releases.yaml: its newest release, and the day of that by the index.
CACHE is a folder outside of the repository: what is fetched into it (release_sources.py) stays there. The parsers of
vLLM and SGLang are built with stand-ins for what is missing (stand_ins.py); of llama.cpp common/arg.cpp is read.

Of one version, printed:

    ENGINE_PYTHON scripts/make_options.py vllm                        # with the Python that the engine is installed for
    ENGINE_PYTHON scripts/make_options.py sglang
    CACHE/env/bin/python scripts/make_options.py vllm CACHE/vllm/0.8.5
    python3 scripts/make_options.py help ENGINE VERSION help.txt      # what its --help prints (argparse, clap)
    python3 scripts/make_options.py tensorrt-llm VERSION serve.py     # the source of trtllm-serve (click decorators)
    python3 scripts/make_options.py tgi VERSION main.rs               # the source of its launcher (clap's struct Args)

Each line is `--name[,alias…] ARITY [TYPE] [repeat] [since..until]`: the first long name, the other spellings of the
same option (long and short), and how many values follow: `0` (a flag), a number, `?` (none or one), `*` (any number),
`+` (one or more). TYPE is `int`, `float`, `json`, `object` (JSON in braces), `map` (the same, or any text without
braces around it), `count` (a whole number, or one such as 8k) or `kv` (key=type:value) where the engine reads the value
so, with `?` where it takes `None` too, and its bounds (`int>=1`, `float?>0<=1`) where its configuration has them.
`repeat` says that an option given twice means both. `since..until`: the first version that has this line, and the
first that has it no longer; either may be left out. What differs by version has several lines. Spellings that switch
an option off stand on a line of their own. The line `versions …` holds every release, the oldest first, `samples …`
those that were looked at.

A line `=--name[,--other…] VALUE… [@since..until VALUE…]…` holds the values that options take, from the parser or from
the registry in which the engine looks them up: those of all versions first, then those of ranges. Where a version has
none of them, nobody knows its values. `~` before a value says that it means the same as another one, `^` among them
that their letters may be of another case. An option with a TYPE takes values of that type besides.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import enum
import functools
import importlib
import importlib.metadata
import io
import itertools
import operator
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BACKENDS = ROOT / "presets" / "backends"
# Engines with a list of every release, as they call themselves.
ENGINES = {"llamacpp": "llama.cpp", "sglang": "SGLang", "vllm": "vLLM"}
# What the configuration of vLLM and SGLang is made of; another version of pydantic may say another type or bound.
PARSER_PACKAGES = ("msgspec==0.22.0", "packaging==26.3", "pydantic==2.14.3", "PyYAML==6.0.3")
# What a handler of llama-server calls when it adds a value to those given before.
ADDS = re.compile(r"params\.\S+\.(push_back|emplace_back|insert)\(|parse_(kv_override|tensor_buffer_overrides)\(")


class Option(NamedTuple):
    """One line of a list: all spellings, in the engine's order, and how many values follow."""

    names: tuple[str, ...]
    arity: str
    repeat: bool = False
    choices: tuple[str, ...] = ()
    type: str = ""  # int, float, json, object or count, with bounds

    def line(self) -> str:
        """The line, long names first, without the choices."""
        names = sorted(self.names, key=lambda name: not name.startswith("--"))
        return f"{','.join(names)} {self.arity}{self.type and f' {self.type}'}{' repeat' * self.repeat}"

    def values(self) -> str:
        """The line of the choices, '' without any."""
        return f"={self.line().split()[0].split(',')[0]} {' '.join(sorted(self.choices))}" if self.choices else ""


# --- argparse ---------------------------------------------------------------------------------------------------------


def first_module(*names: str) -> Any:
    """The first of these modules that is there: an engine's versions have them in different places."""
    for name in names:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or f"{name}.".find(f"{error.name}.") != 0:
                raise  # it is there, and something that it needs is not
    raise SystemExit(f"none of these modules is there: {', '.join(names)}")


def vllm_parser() -> argparse.ArgumentParser:
    """The parser behind `vllm serve`; which platform is current does not change its options, but one must be."""
    platforms = importlib.import_module("vllm.platforms")
    with contextlib.suppress(ModuleNotFoundError):  # the oldest have none for CPUs, and find one themselves
        cpu = importlib.import_module("vllm.platforms.cpu").CpuPlatform()
        platforms._current_platform = platforms.current_platform = cpu  # type: ignore[attr-defined]
    flexible = first_module("vllm.utils.argparse_utils", "vllm.utils").FlexibleArgumentParser
    commands = flexible(prog="vllm").add_subparsers(required=True, dest="subparser")
    serve = first_module("vllm.entrypoints.cli.serve", "vllm.scripts")
    if hasattr(serve, "ServeSubcommand"):
        parser: argparse.ArgumentParser = serve.ServeSubcommand().subparser_init(commands)
    else:  # before 0.7.3 the program's main() has the sub-command's own lines in it
        parser = commands.add_parser("serve")
        parser.add_argument("model_tag")
        parser.add_argument("--config")
        importlib.import_module("vllm.entrypoints.openai.cli_args").make_arg_parser(parser)
    return parser


def sglang_parser() -> argparse.ArgumentParser:
    """The parser behind `sglang serve`, or behind `python3 -m sglang.launch_server` where there is no such program."""
    parser = argparse.ArgumentParser(prog="sglang")
    module = importlib.import_module("sglang.srt.server_args")
    module.ServerArgs.add_cli_args(parser)
    serve = Path(str(module.__file__)).parents[1] / "cli" / "serve.py"
    if serve.exists() and "--model-type" in serve.read_text("utf-8"):
        parser.add_argument("--model-type")  # serve takes it out of the line before its parser reads the rest
    return parser


# What stands before the parser itself: vLLM rewrites -O3, -O=3 and -O 3 into --optimization-level 3.
EXTRA: Mapping[str, Mapping[str, str]] = {"vllm": {"-O": "--optimization-level"}}
# Fields that the engine reads as JSON behind its parser, which takes any text for them: vllm/config/model.py
# (ModelConfig refuses a text) and load.py, sglang/srt/configs/model_config.py and load_config.py.
READ_LATER: Mapping[str, Mapping[str, str]] = {
    "vllm": {"hf_overrides": "object", "model_loader_extra_config": "map"},
    # max_running_request is zero: srt/managers/tp_worker.py.
    "sglang": {
        "json_model_override_args": "object",
        "model_loader_extra_config": "map",
        "max_running_requests": "int>=1",
    },
}
PARSERS: Mapping[str, Callable[[], argparse.ArgumentParser]] = {"vllm": vllm_parser, "sglang": sglang_parser}


def argparse_options(engine: str) -> Iterator[Option]:
    """Every spelling that the parser knows, also those that its help does not show."""
    spellings: dict[tuple[int, bool], list[str]] = {}
    actions: dict[int, argparse.Action] = {}
    known = PARSERS[engine]()._option_string_actions
    for name, action in known.items():
        actions[id(action)] = action
        spellings.setdefault((id(action), name in negations(action)), []).append(name)
    for name, of in EXTRA.get(engine, {}).items():
        if name not in known and of in known:
            spellings[id(known[of]), False].append(name)
    for (which, _), names in spellings.items():
        action = actions[which]
        arity = "1" if action.nargs is None else str(action.nargs)
        repeats = isinstance(action, argparse._AppendAction | argparse._ExtendAction)
        kind = typed(action)
        kind = READ_LATER[engine].get(action.dest, kind) if kind in ("", "map", "int") else kind
        choices = listable(REGISTRIES[engine](action.dest) or tuple(map(str, action.choices or ())))
        if choices and (getattr(action.type, "__name__", "") == "_optional_type" or None in (action.choices or ())):
            choices = tuple(dict.fromkeys((*choices, "None")))
        if kind.startswith("count"):
            choices = ("auto",) if takes(action, "auto") else ()
        elif choices or arity == "0":
            kind = ""
        yield Option(tuple(names), arity, repeats, choices, kind)


def listable(choices: Sequence[str]) -> tuple[str, ...]:
    """The choices, none where one of them cannot stand in a list, or where all that is left of them is `None`."""
    strange = any(not re.fullmatch(r"[^\s@=][^\s@]*", choice) for choice in choices)
    return () if strange or set(choices) <= {"None"} else tuple(choices)


def typed(action: argparse.Action) -> str:
    """The type of an option's value, with its bounds; '' for a text, and for what a function of the engine reads."""
    kind: Any = action.type
    optional = "?" if getattr(kind, "__name__", "") == "_optional_type" else ""
    for _ in range(3):  # inside of optional_type and the like
        inner = [cell.cell_contents for cell in getattr(kind, "__closure__", None) or ()]
        if isinstance(kind, type) or len(inner) != 1 or not callable(inner[0]):
            break
        kind = inner[0]
    if kind in (int, float):
        return f"{kind.__name__}{optional}{bounds(action.dest)}"
    if takes(action, "{}") and not takes(action, "x") and not takes(action, "a=1"):
        return f"{'json' if takes(action, '3') else 'object'}{optional}"
    if takes(action, "{}") and not takes(action, "{x: 4}"):
        return "map"
    return f"count{optional}" if takes(action, "1k") and takes(action, "1") and not takes(action, "x") else ""


def takes(action: argparse.Action, value: str) -> bool:
    """Whether the function that reads an option's value takes this one."""
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            action.type(value)  # type: ignore[operator,misc]
        except (SystemExit, Exception):  # noqa: BLE001 - the engines raise what they like
            return False
    return True


@functools.cache
def bounds(field: str) -> str:
    """The bounds of a field in the dataclasses of vLLM's configuration, as `>0<=1`; '' where they disagree."""
    module = sys.modules.get("vllm.config")
    texts = set()
    for config in {id(value): value for value in vars(module or argparse).values()}.values():
        info = getattr(config, "__pydantic_fields__", {}).get(field) if isinstance(config, type) else None
        if info is not None:
            signs = {"Gt": (">", "gt"), "Ge": (">=", "ge"), "Lt": ("<", "lt"), "Le": ("<=", "le")}
            limits = {type(limit).__name__: limit for limit in info.metadata}
            texts.add(
                "".join(f"{sign}{getattr(limits[key], name)}" for key, (sign, name) in signs.items() if key in limits)
            )
    return texts.pop() if len(texts) == 1 else ""


def registered(places: Mapping[str, str]) -> tuple[str, ...]:
    """The names in the first registry that is there and not empty. `places`: by module, the path in it to a mapping, a
    list or a manager of parsers.
    """
    for module, path in places.items():
        try:
            value = operator.attrgetter(path)(importlib.import_module(module))
        except (ImportError, AttributeError, TypeError):
            continue
        names = list(value) if isinstance(value, dict | list | tuple) else []
        if path.endswith("_parsers"):  # those that were imported, and those that are on demand
            names += getattr(operator.attrgetter(path.rpartition(".")[0])(sys.modules[module]), "lazy_parsers", {})
        if names and all(isinstance(name, str) for name in names):
            return tuple(dict.fromkeys(names))
    return ()


def vllm_registry(field: str) -> tuple[str, ...]:
    """The values that vLLM looks up behind its parser."""
    if field == "tool_call_parser":
        manager = "ToolParserManager.tool_parsers"
        return registered({"vllm.tool_parsers": manager, "vllm.entrypoints.openai.tool_parsers": manager})
    if field == "reasoning_parser":
        manager = "ReasoningParserManager.reasoning_parsers"
        return registered({"vllm.reasoning": manager, "vllm.entrypoints.openai.reasoning_parsers": manager})
    if field == "quantization":
        return registered({"vllm.model_executor.layers.quantization": "QUANTIZATION_METHODS"})
    if field == "load_format":
        return registered({"vllm.model_executor.model_loader": "_LOAD_FORMAT_TO_MODEL_LOADER"})
    if field == "kv_cache_dtype":
        return registered({"vllm.config.cache": "KV_CACHE_DTYPES"})
    if field == "optimization_level":  # an IntEnum, of which pydantic takes the numbers alone
        levels = getattr(importlib.import_module("vllm.config.vllm"), "OptimizationLevel", ())
        return tuple(str(level.value) for level in levels)
    config, _, key = READ_BY.get(field, "").partition(".")
    built = getattr(importlib.import_module("vllm.config"), config, None) if config else None
    return named_values(lambda value: accepts(built, {key: value}), enums("vllm")) if built else ()


# Options of which a config class reads the value, by the name of an enum.
READ_BY: Mapping[str, str] = {
    "attention_backend": "AttentionConfig.backend",
    "mamba_backend": "MambaConfig.backend",
    "mm_encoder_attn_backend": "MultiModalConfig.mm_encoder_attn_backend",
}
ANY_CASE = "^"  # stands among values whose letters may be of another case
AUTO = "auto"  # what an enum is left out with


def accepts(built: Callable[..., object], content: Mapping[str, object]) -> bool:
    """Whether a class takes these values of its fields."""
    try:
        built(**content)
    except Exception:  # noqa: BLE001 - the engines raise what they like
        return False
    return True


def classes(engine: str) -> list[type]:
    """The classes in the modules of an engine that are there."""
    modules = [module for name, module in [*sys.modules.items()] if f"{name}.".startswith(f"{engine}.")]
    return [*{value: None for module in modules for value in vars(module).values() if isinstance(value, type)}]


def enums(engine: str) -> list[type[enum.Enum]]:
    """The enums of an engine."""
    return [cls for cls in classes(engine) if issubclass(cls, enum.Enum)]


def named_values(takes: Callable[[str], bool], enums: Iterable[type[enum.Enum]]) -> tuple[str, ...]:
    """The names of enums that something takes, which takes no other text, with `auto` where it takes that, and with
    `ANY_CASE` where it takes their letters in another case; nothing where it takes less than two.
    """
    names = sorted({name for members in enums for name in members.__members__} - {AUTO.upper()})
    accepted = [name for name in names if takes(name)]
    if len(accepted) < _FEWEST:
        return ()
    takes_others = all(takes(name.swapcase()) for name in accepted)
    return (*accepted, *([AUTO] if takes(AUTO) else []), *([ANY_CASE] if takes_others else []))


_FEWEST = 2  # names of an enum


# Values that SGLang looks up behind its parser: `getattr(logging, log_level.upper())` of its logger,
# and LOG_LEVELS of uvicorn.
SGLANG_REGISTRIES: Mapping[str, tuple[str, ...]] = {
    "log_level": ("^", "critical", "debug", "error", "info", "warning", "~fatal", "~notset", "~warn"),
    "log_level_http": ("^", "critical", "debug", "error", "info", "trace", "warning"),
}


def sglang_registry(field: str) -> tuple[str, ...]:
    """The values of a text that SGLang's parser takes in any form; none for others."""
    return SGLANG_REGISTRIES.get(field, ())


REGISTRIES: Mapping[str, Callable[[str], tuple[str, ...]]] = {"vllm": vllm_registry, "sglang": sglang_registry}


def negations(action: argparse.Action) -> set[str]:
    """The spellings that mean "no" of an option that can be switched on and off."""
    if not isinstance(action, argparse.BooleanOptionalAction):
        return set()
    spellings: Iterable[str] = getattr(action, "negative_option_strings", ())
    return set(spellings) or {name for name in action.option_strings if name.startswith("--no-")}


# --- llama-server -----------------------------------------------------------------------------------------------------


def llamacpp_help(server: str) -> Iterator[tuple[Option, str]]:
    """Each entry of `--help`: the option (negations apart) and what stands beside it."""
    text = subprocess.run([server, "--help"], capture_output=True, text=True, check=True).stdout
    yield from ((Option(option.names, option.arity), option.description) for option in read_help(text, "exact"))


def read_help(text: str, style: str) -> Iterable[Any]:
    """The options in a help text, as `llmaz presets learn` reads it."""
    sys.path.insert(0, str(ROOT))
    options: Iterable[Any] = importlib.import_module("renderer.engines.help_text").read_help(text, style).options
    return options


# A token of C++: a comment, a raw string, a string, a character, or anything else.
TOKEN = re.compile(r'(//[^\n]*|/\*.*?\*/)|R"\((.*?)\)"|"((?:\\.|[^"\\])*)"|(\'(?:\\.|[^\'\\])+\')|\w+|\S', re.DOTALL)


class Token(NamedTuple):
    """A word, a sign, or a string, which `text` holds without its quotes."""

    text: str
    string: bool = False


def tokens(source: str) -> Iterator[Token]:
    """The tokens of C++ less comments. Strings that stand side by side stay two."""
    for match in TOKEN.finditer(source):
        if match[1] is None:
            text = match[2] if match[2] is not None else match[3]
            yield Token(match[0]) if text is None else Token(text, string=True)


def closed(source: Sequence[Token], start: int) -> int:
    """The index behind what a bracket at `start - 1` encloses, its closing bracket included."""
    depth = 1
    while depth:
        if not source[start].string:
            depth += (source[start].text in "([{") - (source[start].text in ")]}")
        start += 1
    return start


def arguments(source: Sequence[Token]) -> list[list[Token]]:
    """The arguments of a call, of which `source` is all between its brackets."""
    parts: list[list[Token]] = [[]]
    i = 0
    while i < len(source):
        end = closed(source, i + 1) if not source[i].string and source[i].text in "([{" else i + 1
        if source[i] == Token(","):
            parts.append([])
        else:
            parts[-1] += source[i:end]
        i = end
    return parts


def llamacpp_options(folder: Path) -> Iterator[Option]:
    """The options of llama-server that still work, from its source: the calls of add_opt in common/arg.cpp.

    Options stand there as `common_arg({names}[, {negations}][, hint[, hint]], help, handler)`, followed by calls that
    say which programs have them.
    """
    source = list(tokens((folder / "common/arg.cpp").read_text("utf-8")))
    texts = [token.text for token in source]
    assigned = [i for i in range(2, len(texts)) if texts[i - 1 : i + 1] == ["=", "{"]]
    sets = {texts[i - 2]: words(source[i + 1 : closed(source, i + 1)]) for i in assigned}
    for i in range(len(texts)):
        if texts[i : i + 4] != ["add_opt", "(", "common_arg", "("]:
            continue
        inner = closed(source, i + 4)
        parts, calls = arguments(source[i + 4 : inner - 1]), source[inner : closed(source, i + 2) - 1]
        if not serves(calls, sets) or any("the argument has been removed" in token.text for token in source[i:inner]):
            continue
        groups = [tuple(token.text for token in part if token.string) for part in parts[:2] if part[0] == Token("{")]
        handler = parts[-1]
        arity = str(handled(handler))
        adds = arity != "0" and ADDS.search("".join(token.text for token in handler)) is not None
        adds = adds and not any(token.text == "hostnames" for token in handler)
        hinted = enumerated(parts[len(groups)][0], folder) if arity == "1" else ()
        others = compared(handler, folder) if arity == "1" else ()
        choices = (*hinted, *(value for value in others if value.removeprefix("~") not in hinted))
        for names in groups:
            yield Option(names, arity, adds, tuple(dict.fromkeys(choices)), number(handler))


def words(source: Sequence[Token]) -> set[str]:
    """The names and signs in a piece of source."""
    return {token.text for token in source if not token.string}


def serves(calls: Sequence[Token], sets: Mapping[str, set[str]]) -> bool:
    """Whether an option is one of the server, by `.set_examples({…})` or a set of that name, and `.set_excludes`."""
    examples, excludes = {"LLAMA_EXAMPLE_COMMON"}, set[str]()
    for i, token in enumerate(calls):
        if token.text in ("set_examples", "set_excludes"):
            names = words(calls[i + 2 : closed(calls, i + 2) - 1])
            names = names.union(*(sets.get(name, set()) for name in names))
            examples, excludes = (names, excludes) if token.text == "set_examples" else (examples, names)
    return bool(examples & {"LLAMA_EXAMPLE_COMMON", "LLAMA_EXAMPLE_SERVER"}) and "LLAMA_EXAMPLE_SERVER" not in excludes


def handled(handler: Sequence[Token]) -> int:
    """How many values a handler takes: its parameters, less the one that it writes to and the switch of a negation."""
    start = next(i for i, token in enumerate(handler) if token == Token("("))
    parameters = arguments(handler[start + 1 : closed(handler, start + 1) - 1])
    return sum(not {"common_params", "gpt_params", "bool"} & words(part) for part in parameters)


def enumerated(hint: Token, folder: Path) -> tuple[str, ...]:
    """The values that a hint names: `[on|off|auto]`, or all types of speculative decoding, where a function says it."""
    if hint.text == "common_speculative_all_types_str":
        text = (folder / "common/speculative.cpp").read_text("utf-8")
        return tuple(re.findall(r'\{"([\w-]+)", *COMMON_SPECULATIVE_TYPE_', text))
    match = re.fullmatch(r"[\[{<(](\w[\w.-]*(?:\|[\w.-]+)+)[\]}>)]", hint.text) if hint.string else None
    values = match[1].split("|") if match else []
    return () if all(value.isdigit() for value in values) else tuple(values)


# Functions of llama.cpp that take a few texts: by their names, the file, and what of the function's text says them.
READERS = {
    "is_truthy": ("common/arg.cpp", r'value == "(\w+)"'),
    "is_falsey": ("common/arg.cpp", r'value == "(\w+)"'),
    "is_autoy": ("common/arg.cpp", r'value == "(-?\w+)"'),
    "common_reasoning_format_from_name": ("common/chat.cpp", r'format == "([\w-]+)"'),
}


def compared(handler: Sequence[Token], folder: Path) -> tuple[str, ...]:
    """The values that a handler compares its value with, where all else that it does is read a number, or throw."""
    called, source = words(handler), (folder / "common/arg.cpp").read_text("utf-8")
    if "kv_cache_type_from_str" in called and (types := re.search(r"kv_cache_types = \{(.*?)\}", source, re.DOTALL)):
        return tuple(name.lower() for name in re.findall(r"GGML_TYPE_(\w+)", types[1]))
    synonyms = [name for name in READERS if name in called]
    texts: list[str] = []
    for name in synonyms:
        path, pattern = READERS[name]
        file = (folder / path).read_text("utf-8") if (folder / path).exists() else ""
        body = re.search(rf"\b{name}\([^)]*\) \{{(.*?)\n\}}", file, re.DOTALL)
        values = re.findall(pattern, body[1]) if body else []
        texts += [f"~{text}" if name.startswith("is_") else text for text in values]
    uses = value_uses(handler)
    texts += [handler[i + 3].text for i in uses if compares(handler, i)]
    rest = [i for i in uses if not compares(handler, i) and handler[i - 2].text not in {*synonyms, "stoi"}]
    return tuple(filter(None, texts)) if texts and all(is_message(handler, i) for i in rest) else ()


def value_uses(handler: Sequence[Token]) -> list[int]:
    """The indexes at which a handler uses its value, or a variable that is a copy of it."""
    begin, names = parameters_end(handler), {"value"}
    copies = set()
    for i in range(begin + 2, len(handler) - 1):
        if [token.text for token in handler[i - 1 : i + 2]] == ["=", "value", ";"]:
            names.add(handler[i - 2].text)
            copies |= {i - 2, i}
    named = (i for i, token in enumerate(handler) if not token.string and token.text in names)
    return [i for i in named if i > begin and i not in copies]


def is_message(handler: Sequence[Token], i: int) -> bool:
    """Whether the name at an index stands in a statement that throws."""
    start = max((j for j in range(i) if not handler[j].string and handler[j].text in ";{}"), default=0)
    return Token("throw") in handler[start:i]


def parameters_end(handler: Sequence[Token]) -> int:
    """The index behind the parameters of a handler."""
    return closed(handler, next(i for i, token in enumerate(handler) if token == Token("(")) + 1)


def compares(handler: Sequence[Token], i: int) -> bool:
    """Whether the name at an index is compared with a text."""
    return [token.text for token in handler[i + 1 : i + 3]] == ["=", "="] and handler[i + 3].string


def number(handler: Sequence[Token]) -> str:
    """`int`, `float`, `json` or `kv` where a handler takes its value as that, or compares it with some texts."""
    start = next(i for i, token in enumerate(handler) if token == Token("("))
    parameters = arguments(handler[start + 1 : parameters_end(handler) - 1])
    if len(parameters) == 2 and parameters[1][:1] == [Token("int")]:
        return "int"
    if Token("string_parse_kv_override") in handler:
        return "kv"
    uses = [i for i in value_uses(handler) if not compares(handler, i) and handler[i - 1].text != "."]
    reads = {" ".join(token.text for token in handler[i - 2 : i]) for i in uses if not is_message(handler, i)}
    types = {"stof (": "float", "stoi (": "int", "parse (": "json"}
    return types.get(reads.pop(), "") if len(parameters) == 2 and len(reads) == 1 else ""


# --- written texts ----------------------------------------------------------------------------------------------------


def help_options(text: str) -> Iterator[Option]:
    """From what `--help` of a program of argparse or clap prints: `-p, --port PORT` at the start of an entry."""
    style = "clap" if re.search(r"^ +-.* \[?<\w+>", text, re.MULTILINE) else "argparse"
    for option in read_help(text, style):
        yield Option(option.names, option.arity, choices=() if option.is_open else listable(option.values))


# What the configuration that trtllm-serve makes of an option refuses: validate_free_gpu_memory_fraction of
# tensorrt_llm/llmapi/llm_args.py.
CLICK_BOUNDS = {"--free_gpu_memory_fraction": ">=0<=1"}
# The registries of which `type=click.Choice(REGISTRY.keys())` has the names: tensorrt_llm/llmapi/reasoning_parser.py.
CLICK_REGISTRIES = {"ReasoningParserFactory": ("deepseek-r1", "nano-v3", "qwen3")}


def click_options(source: str) -> Iterator[Option]:
    """From the decorators of the function `serve`; click adds --help."""
    for node in ast.walk(ast.parse(Path(source).read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name == "serve":
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "option":
                    keywords = {word.arg: word.value for word in call.keywords}
                    words = {name: ast.unparse(value) for name, value in keywords.items()}
                    names = [str(ast.literal_eval(argument)) for argument in call.args]
                    flag = words.get("is_flag") == "True"
                    spelled = tuple(name for name in names if name.startswith("-"))
                    number = words["type"] if words.get("type") in ("int", "float") else ""
                    bounds = next((CLICK_BOUNDS[name] for name in spelled if name in CLICK_BOUNDS), "")
                    choices = click_choices(keywords.get("type"))
                    repeat = words.get("multiple") == "True"
                    yield Option(spelled, "0" if flag else "1", repeat, choices, number + bounds)
    yield Option(("--help",), "0")


def click_choices(value_type: ast.expr | None) -> tuple[str, ...]:
    """The values of a type that is a choice, with `~` before its aliases; none where they are not known."""
    if not isinstance(value_type, ast.Call) or "Choice" not in ast.unparse(value_type.func):
        return ()
    names, *aliases = value_type.args
    if not isinstance(names, ast.List):
        return CLICK_REGISTRIES.get(ast.unparse(names).partition(".")[0], ())
    return (*ast.literal_eval(names), *(f"~{alias}" for part in aliases for alias in ast.literal_eval(part)))


# What the processes that the launcher starts refuse, and a limit with which every request is: launcher/src/main.rs, and
# torch's set_per_process_memory_fraction in server/text_generation_server/utils/dist.py.
CLAP_BOUNDS = {
    "--cuda-memory-fraction": ">=0<=1",
    "--max-concurrent-requests": ">0",
    "--validation-workers": ">0",
}
RUST_TYPES = {"f32": "float", "u16": "int>=0<=65535", "u32": "int>=0", "u64": "int>=0", "usize": "int>=0"}
# An entry of a struct or an enum: what its `#[clap(…)]` says, its name, and its type.
_CLAP_ENTRY = re.compile(
    r"^    (?:#\[clap\((?P<says>.*)\)\]\n    )?(?P<name>\w+)(?:: (?P<type>[\w<>]+))?,$", re.MULTILINE
)


def clap_options(source: str) -> Iterator[Option]:
    """From the fields of `struct Args`; clap adds --help and --version. A letter of two options is the first one's."""
    text = re.sub(r"^ *///?.*\n", "", Path(source).read_text("utf-8"), flags=re.MULTILINE)
    bodies = {
        match[1]: match[2]
        for match in re.finditer(r"(?:struct|enum) (\w+) \{\n(.*?)^\}", text, re.DOTALL | re.MULTILINE)
    }
    letters: set[str] = set()
    for entry in _CLAP_ENTRY.finditer(bodies["Args"]):
        name, kind = f"--{entry['name'].replace('_', '-')}", entry["type"].removeprefix("Option<").rstrip(">")
        letter = f"-{entry['name'][0]}"
        is_short = "short" in re.split(r", ?", entry["says"]) and letter not in letters
        letters |= {letter} if is_short else set()
        names = (name, letter) if is_short else (name,)
        if entry["type"] == "bool":
            yield Option(names, "0")
            continue
        choices = ("true", "false") if kind == "bool" else clap_choices(bodies.get(kind, ""))
        number = RUST_TYPES.get(kind, "")
        bounds = CLAP_BOUNDS.get(name, "")
        yield Option(names, "1", False, choices, re.split("[<>]", number)[0] + bounds if bounds else number)
    yield from (Option(names, "0") for names in (("--help", "-h"), ("--version", "-V")))


def clap_choices(body: str) -> tuple[str, ...]:
    """The values of an enum: the names of its variants in kebab case, or those that they are given."""
    values = []
    for entry in _CLAP_ENTRY.finditer(body):
        named = re.search(r'name = "([^"]+)"', entry["says"] or "")
        values.append(named[1] if named else re.sub(r"(?<=.)(?=[A-Z])", "-", entry["name"]).lower())
    return tuple(values)


# --- releases ---------------------------------------------------------------------------------------------------------

# Builds of llama.cpp that no package has, between two that have the same options.
BETWEEN = {"b10621": ("b10615", "b10622"), "b10964": ("b10950", "b10970"), "b11146": ("b11138", "b11149")}


def release_options(engine: str, sources: Path, python: Path) -> list[Option]:
    """The options of a release, from its sources."""
    if engine == "llamacpp":
        return list(llamacpp_options(sources))
    first, *others = (printed_options(engine, sources, python, seed) for seed in HASH_SEEDS)
    return [functools.reduce(either, options) for options in zip(first, *others, strict=True)]


# vLLM takes one of an option's types out of a set, so its parser depends on the order of hashes.
HASH_SEEDS = ("0", "1", "2", "3")


def printed_options(engine: str, sources: Path, python: Path, seed: str) -> list[Option]:
    """The options that this script prints about the sources of a Python package."""
    environment = os.environ | {"PYTHONHASHSEED": seed}
    command = [str(python), __file__, engine, str(sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"{sources}: {done.stderr.strip()[-2000:]}")
    lines = done.stdout.splitlines()
    values = dict(line[1:].split(" ", 1) for line in lines if line.startswith("="))
    return [parsed(line, values) for line in lines if line.startswith("-")]


def either(option: Option, other: Option) -> Option:
    """What both take for a value of the option, or one of the two."""
    choices = {*option.choices, *other.choices} if option.choices and other.choices else ()
    return option._replace(choices=tuple(sorted(choices)), type=option.type if option.type == other.type else "")


def parsed(line: str, values: Mapping[str, str] = {}) -> Option:
    """The option of a line without a range. `values`: its choices, by its first name."""
    spelled, arity, *rest = line.split(" ")
    names = tuple(spelled.split(","))
    type_word = next((word for word in rest if word != "repeat"), "")
    return Option(names, arity, "repeat" in rest, tuple(values.get(names[0], "").split()), type_word)


def ranged(lists: Mapping[str, set[str]]) -> Iterator[str]:
    """The lines of all versions, each with the range of those that have it; `lists`: by version, the oldest first."""
    for line in sorted(set().union(*lists.values())):
        for span in spans(list(lists), [line in options for options in lists.values()]):
            yield f"{line} {span}" if span else line


def spans(versions: Sequence[str], has: Sequence[bool]) -> Iterator[str]:
    """The ranges of the versions that have something, as `since..until`; '' for all of them."""
    starts = [i for i, present in enumerate(has) if present and not (i and has[i - 1])]
    for start in starts:
        end = next((i for i in range(start, len(has)) if not has[i]), None)
        since, until = versions[start] if start else "", "" if end is None else versions[end]
        yield f"{since}..{until}" if since or until else ""


def value_lines(options: Mapping[str, Iterable[Option]]) -> Iterator[str]:
    """The lines of the values that options take; options with the same values share one. `options`: by version, the
    oldest first.
    """
    versions = list(options)
    choices: dict[str, dict[str, set[str]]] = {}  # by name and value, the versions
    for version, listing in options.items():
        for option in listing:
            name = option.line().split()[0].split(",")[0]
            for value in option.choices:
                choices.setdefault(name, {}).setdefault(value, set()).add(version)
    names: dict[str, list[str]] = {}
    for name, values in choices.items():
        by_span: dict[str, list[str]] = {}
        for value in sorted(values):
            for span in spans(versions, [version in values[value] for version in versions]):
                by_span.setdefault(span, []).append(value)
        words = [word for span in sorted(by_span) for word in (span and f"@{span}", *by_span[span]) if word]
        names.setdefault(" ".join(words), []).append(name)
    yield from sorted(f"={','.join(sorted(sharing))} {words}" for words, sharing in names.items())


def releases(engine: str, cache: Path) -> str:
    """The file with the options of every release of an engine. Records the newest of them in presets/releases.yaml."""
    sources = importlib.import_module("release_sources")
    options: dict[str, list[Option]] = {}

    def read(index: Any) -> None:
        for version in sources.versions(index, engine):
            folder = sources.fetch(index, engine, version, cache)
            options[version] = release_options(engine, folder, cache / "env" / "bin" / "python")
            print(f"{engine} {version}: {len(options[version])} options", file=sys.stderr)
        newest = sources.release(index, engine, version)
        sources.DAYS.write_text(newest.recorded(sources.DAYS.read_text("utf-8"), engine), "utf-8")

    sources.with_index(read)
    if engine == "llamacpp":
        for version, (before, behind) in BETWEEN.items():
            if set(options[before]) != set(options[behind]):
                raise SystemExit(f"{before} and {behind} differ, so nobody knows {version}")
            options[version] = options[before]
        options = {version: options[version] for version in sorted(options, key=lambda build: int(build[1:]))}
    return list_text(engine, options)


def list_text(engine: str, options: Mapping[str, Sequence[Option]]) -> str:
    """The file with these options of an engine; by version, the oldest first."""
    lists = {version: {option.line() for option in listing} for version, listing in options.items()}
    whose = {
        "llamacpp": "of llama-server by build, from the source of its parser",
        "vllm": "of `vllm serve` in every release, from its own parser",
        "sglang": "of its server in every release, from its own parser",
    }
    head = f"# {ENGINES[engine]}: the options {whose[engine]}."
    legend = "# Made by scripts/make_options.py, which says what a line means."
    known = f"{'samples' if engine == 'llamacpp' else 'versions'} {' '.join(lists)}"
    return "\n".join([head, legend, known, *ranged(lists), *value_lines(options), ""])


def read_list(text: str) -> dict[str, list[Option]]:
    """The options in such a file, by version, the oldest first."""
    known, *lines = [line for line in text.splitlines() if line and line[0] != "#"]
    versions = known.split()[1:]
    choices: dict[tuple[str, str], list[str]] = {}
    for line in (line for line in lines if line[0] == "="):
        names, *words = line[1:].split(" ")
        within: Sequence[str] = versions
        for word in words:
            if word[0] == "@":
                within = between(versions, word[1:])
                continue
            for key in itertools.product(names.split(","), within):
                choices.setdefault(key, []).append(word)
    options: dict[str, list[Option]] = {version: [] for version in versions}
    for line in (line for line in lines if line[0] != "="):
        rest, _, last = line.rpartition(" ")
        option, span = (parsed(rest), last) if ".." in last else (parsed(line), "..")
        for version in between(versions, span):
            options[version].append(option._replace(choices=tuple(choices.get((option.names[0], version), ()))))
    return options


def between(versions: Sequence[str], span: str) -> Sequence[str]:
    """The versions in a range `since..until`."""
    since, _, until = span.partition("..")
    return versions[versions.index(since) if since else 0 : versions.index(until) if until else None]


# --- the program ------------------------------------------------------------------------------------------------------


def written(head: str, lines: Iterable[str]) -> str:
    """The whole file."""
    legend = "# Made by scripts/make_options.py, which says what a line means."
    return "\n".join([f"# {head}", legend, *sorted(set(lines))])


def option_lines(options: Iterable[Option]) -> list[str]:
    """The lines of the options and of their choices."""
    return [line for option in options for line in (option.line(), option.values()) if line]


def main(engine: str, *words: str) -> str:
    """The list that was asked for."""
    if engine == "releases":
        engine, cache = words
        (BACKENDS / "flags" / f"{engine}.txt").write_text(releases(engine, Path(cache)), "utf-8")
        return f"presets/backends/flags/{engine}.txt"
    if engine in PARSERS:
        if words:
            importlib.import_module("stand_ins").install(engine, Path(words[0]))
        version = Path(words[0]).name if words else importlib.metadata.version(engine)
        with contextlib.redirect_stdout(sys.stderr):  # importing an engine says this and that
            options = list(argparse_options(engine))
        head = f"{engine} {version}, from its own parser under Python {platform.python_version()}."
        return written(head, option_lines(options))
    if engine == "help":
        engine, version, path = words
        options = list(help_options(Path(path).read_text("utf-8")))
        return written(f"{engine} {version}, from its --help.", option_lines(options))
    version, path = words
    if engine == "tensorrt-llm":
        return written(f"tensorrt-llm {version}, from the source of trtllm-serve.", option_lines(click_options(path)))
    if engine == "tgi":
        return written(f"tgi {version}, from the source of its launcher; never run.", option_lines(clap_options(path)))
    raise SystemExit(__doc__)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    print(main(*sys.argv[1:]))
