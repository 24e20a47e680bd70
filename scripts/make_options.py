#!/usr/bin/env python3
"""Makes the lists of an engine's options that presets/backends/flags/ keeps, from the engine itself.

Of every release, from its sources, without torch, a GPU or a build:

    python3.11 -m venv CACHE/env && CACHE/env/bin/pip install msgspec packaging pydantic PyYAML
    .venv/bin/python scripts/make_options.py releases vllm CACHE      # writes presets/backends/flags/vllm.txt
    .venv/bin/python scripts/make_options.py releases sglang CACHE
    .venv/bin/python scripts/make_options.py releases llamacpp CACHE

CACHE is a folder outside of the repository: what is fetched into it (release_sources.py) stays there. The parsers of
vLLM and SGLang are built with stand-ins for what is missing (stand_ins.py); of llama.cpp common/arg.cpp is read.

Of one version, printed:

    ENGINE_PYTHON scripts/make_options.py vllm                        # with the Python that the engine is installed for
    ENGINE_PYTHON scripts/make_options.py sglang
    CACHE/env/bin/python scripts/make_options.py vllm CACHE/vllm/0.8.5
    python3 scripts/make_options.py tgi VERSION launcher.md           # the launcher's --help, or its reference page
    python3 scripts/make_options.py tensorrt-llm VERSION serve.py     # the source of trtllm-serve (click decorators)

Each line is `--name[,alias…] ARITY [repeat] [{choices}] [since..until]`: the first long name, the other spellings of
the same option (long and short), and how many values follow: `0` (a flag), a number, `?` (none or one), `*` (any
number), `+` (one or more). `repeat` says that an option given twice means both. `{a,b}` are the values that it takes,
told where a preset gives the option a fixed word, or where another version takes the option without a value.
`since..until`: the first version that has this line, and the first that has it no longer; either may be left out. What
differs by version has several lines. Spellings that switch an option off stand on a line of their own. The line
`versions …` holds every release, the oldest first, `samples …` those that were looked at.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import importlib.metadata
import itertools
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BACKENDS = ROOT / "presets" / "backends"
# What a handler of llama-server calls when it adds a value to those given before.
ADDS = re.compile(r"params\.\S+\.(push_back|emplace_back|insert)\(|parse_(kv_override|tensor_buffer_overrides)\(")


class Option(NamedTuple):
    """One line of a list: all spellings, in the engine's order, and how many values follow."""

    names: tuple[str, ...]
    arity: str
    repeat: bool = False
    choices: tuple[str, ...] = ()

    def line(self) -> str:
        """The line, long names first."""
        names = sorted(self.names, key=lambda name: not name.startswith("--"))
        choices = f" {{{','.join(sorted(self.choices))}}}" if self.choices else ""
        return f"{','.join(names)} {self.arity}{' repeat' * self.repeat}{choices}"


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
        yield Option(tuple(names), arity, repeats, tuple(map(str, action.choices or ())))


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
    for entry in re.split(r"\n(?=-)", text):
        match = re.match(r"(-[^\s,]+(?:, +-[^\s,]+)*)(?: (\S.*?))?(?: {3,}|\n)(.*)", entry + "\n", re.DOTALL)
        if entry.startswith("-----") or match is None:
            continue
        names = match[1].replace(",", " ").split()
        # Two hints stand for two values: `START END`.
        arity = "0" if not match[2] else "2" if re.fullmatch(r"[A-Z]+ [A-Z]+", match[2]) else "1"
        description = " ".join(match[3].split())
        off = switched_off(names)
        for group in ([name for name in names if name not in off], off):
            if group:
                yield Option(tuple(group), arity), description


def switched_off(names: list[str]) -> list[str]:
    """Those names of an entry that mean "no": all from the first -n… behind a long name, if a --no-… is among them."""
    if names[0].startswith("--no-") or not any(name.startswith("--no-") for name in names):
        return []
    long = next(i for i, name in enumerate(names) if name.startswith("--"))
    return names[next(i for i in range(long, len(names)) if names[i].startswith(("-n", "--no-"))) :]


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
        choices = enumerated(parts[len(groups)][0], folder) if arity != "0" else ()
        for names in groups:
            yield Option(names, arity, adds, choices)


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
    return tuple(match[1].split("|")) if match else ()


# --- written texts ----------------------------------------------------------------------------------------------------


def clap_options(page: str) -> Iterator[Option]:
    """From the long help of a clap program: `-p, --port <PORT>` at the start of an entry."""
    entry = re.compile(r"^ {2,6}(?:(-\w), )?(--[\w-]+)(?: (<\w+>))?$", re.MULTILINE)
    for short, name, value in entry.findall(Path(page).read_text("utf-8")):
        yield Option((name, *([short] if short else [])), "1" if value else "0")


def click_options(source: str) -> Iterator[Option]:
    """From the decorators of the function `serve`; click adds --help."""
    for node in ast.walk(ast.parse(Path(source).read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name == "serve":
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "option":
                    keywords = {word.arg: ast.unparse(word.value) for word in call.keywords}
                    names = [str(ast.literal_eval(argument)) for argument in call.args]
                    flag = keywords.get("is_flag") == "True"
                    spelled = tuple(name for name in names if name.startswith("-"))
                    yield Option(spelled, "0" if flag else "1", keywords.get("multiple") == "True")
    yield Option(("--help",), "0")


# --- releases ---------------------------------------------------------------------------------------------------------

# Builds of llama.cpp that no package has, between two that have the same options.
BETWEEN = {"b10621": ("b10615", "b10622"), "b10964": ("b10950", "b10970"), "b11146": ("b11138", "b11149")}


def release_options(engine: str, sources: Path, python: Path) -> list[Option]:
    """The options of a release, from its sources."""
    if engine == "llamacpp":
        return list(llamacpp_options(sources))
    done = subprocess.run([python, __file__, engine, sources], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{sources}: {done.stderr.strip()[-2000:]}")
    return [parsed(line) for line in done.stdout.splitlines() if line.startswith("-")]


def parsed(line: str) -> Option:
    """The option of a line without a range."""
    names, arity, *rest = line.split(" ")
    choices = rest[-1][1:-1].split(",") if rest and rest[-1].startswith("{") else []
    return Option(tuple(names.split(",")), arity, "repeat" in rest, tuple(choices))


def worded(preset: Mapping[str, Any]) -> set[str]:
    """The options to which a preset gives a fixed word."""
    entries = [*preset["spec"]["recommendedConfigs"], *preset["spec"]["engine"]["derived"]]
    lines = [entry.get("args") or [] for entry in entries]
    pairs = [pair for line in lines for pair in itertools.pairwise(line)]
    return {name for name, value in pairs if name.startswith("-") and not value.startswith(("-", "{{"))}


def ranged(lists: Mapping[str, set[str]]) -> Iterator[str]:
    """The lines of all versions, each with the range of those that have it; `lists`: by version, the oldest first."""
    versions = list(lists)
    lines = sorted(set().union(*lists.values()))
    for line in lines:
        has = [line in options for options in lists.values()]
        starts = [i for i, present in enumerate(has) if present and not (i and has[i - 1])]
        for start in starts:
            end = next((i for i in range(start, len(has)) if not has[i]), None)
            since, until = versions[start] if start else "", "" if end is None else versions[end]
            yield f"{line} {since}..{until}" if since or until else line


def listed(options: Mapping[str, Iterable[Option]], with_words: set[str]) -> dict[str, set[str]]:
    """The lines of each version, without the choices that nobody needs: those of `with_words` stay, and those of
    options that are flags in another version.
    """
    options = {version: list(listing) for version, listing in options.items()}
    flags = {name for listing in options.values() for option in listing if option.arity == "0" for name in option.names}
    with_choices = with_words | flags
    return {
        version: {
            (option if with_choices & set(option.names) else option._replace(choices=())).line() for option in listing
        }
        for version, listing in options.items()
    }


def releases(engine: str, cache: Path) -> str:
    """The file with the options of every release of an engine."""
    yaml, sources = importlib.import_module("yaml"), importlib.import_module("release_sources")
    with_words = worded(yaml.safe_load((BACKENDS / f"{engine}.yaml").read_text("utf-8")))
    options: dict[str, list[Option]] = {}

    def read(index: Any) -> None:
        for version in sources.versions(index, engine):
            folder = sources.fetch(index, engine, version, cache)
            options[version] = release_options(engine, folder, cache / "env" / "bin" / "python")
            print(f"{engine} {version}: {len(options[version])} options", file=sys.stderr)

    sources.with_index(read)
    lists = listed(options, with_words)
    if engine == "llamacpp":
        for version, (before, behind) in BETWEEN.items():
            if lists[before] != lists[behind]:
                raise SystemExit(f"{before} and {behind} differ, so nobody knows {version}")
            lists[version] = lists[before]
        lists = {version: lists[version] for version in sorted(lists, key=lambda build: int(build[1:]))}
    heads = {
        "llamacpp": "# llama.cpp: the options of llama-server by build, from the source of its parser.",
        "vllm": "# vLLM: the options of `vllm serve` in every release, from its own parser.",
        "sglang": "# SGLang: the options of its server in every release, from its own parser.",
    }
    legend = "# Made by scripts/make_options.py, which says what a line means."
    known = f"{'samples' if engine == 'llamacpp' else 'versions'} {' '.join(lists)}"
    return "\n".join([heads[engine], legend, known, *ranged(lists), ""])


# --- the program ------------------------------------------------------------------------------------------------------


def written(head: str, lines: Iterable[str]) -> str:
    """The whole file."""
    legend = "# Made by scripts/make_options.py, which says what a line means."
    return "\n".join([f"# {head}", legend, *sorted(lines)])


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
            lines = [option.line() for option in argparse_options(engine)]
        return written(f"{engine} {version}, from its own parser under Python {platform.python_version()}.", lines)
    version, path = words
    if engine == "tgi":
        return written(
            f"tgi {version}, from the help of its launcher.", [option.line() for option in clap_options(path)]
        )
    if engine == "tensorrt-llm":
        lines = [option.line() for option in click_options(path)]
        return written(f"tensorrt-llm {version}, from the source of trtllm-serve.", lines)
    raise SystemExit(__doc__)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    print(main(*sys.argv[1:]))
