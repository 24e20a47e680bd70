#!/usr/bin/env python3
"""Makes the lists of names besides options that change with an engine's version, from the sources of its releases.

    .venv/bin/python -m scripts.make_names vllm variables CACHE     # writes presets/backends/flags/vllm.variables.txt
    .venv/bin/python -m scripts.make_names sglang variables CACHE
    .venv/bin/python -m scripts.make_names vllm keys CACHE
    .venv/bin/python -m scripts.make_names llamacpp architectures CACHE

CACHE is the folder of scripts/make_options.py, into which that script or release_sources.py fetched the sources.

The line `versions …` holds the releases whose source tells, the oldest first: of others nothing is known. Each further
line is `GROUP RANGE NAME…`: a group of names, the versions that have them, as `since..until` (the first version, and
the first that has them no longer; `..` for all), and the names. A group may have several lines.

architectures: the architectures of models that generate text, by their names in config.json, in the group
`ARCHITECTURES`, which the engine got code for later than in the first release, and has still. llama.cpp has names of
its own; what an architecture may become of them, its converters say.

keys: the keys of an option's JSON where the engine refuses every other key, in a group with the option's name, or with
`--option.key` for a map in it; and the values of a key that takes no others, in the group `--option.key=`, with `^`
among them where their letters may be of another case, and the numbers if it takes some. That is
tried with the engine's own parser or class, from its sources, by the Python of make_options.py (scripts/stand_ins.py).

metrics: the names that stand in quotes in the package, in the group `METRICS`, without the `_total` of counters.
Releases of which only a part was fetched are left out.

variables: what the engine reads from the environment, in the group `VARIABLES`. Names that stand only outside of the
module that lists all variables count as read by all versions: nobody says there that one has ended.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path

from packaging.version import Version

from scripts import make_options
from scripts.make_options import BACKENDS, ROOT, spans

_WIDTH = 160
# Releases of which only a wheel was looked into: what stands outside of the list of variables was not fetched.
_WHEELS = frozenset(["0.15.0", "0.15.1"])


# --- variables --------------------------------------------------------------------------------------------------------


def vllm_variables(sources: Path) -> set[str]:
    """The variables in the dictionary of vllm/envs.py, from which the engine takes all of them."""
    for node in ast.walk(_parsed(sources / "vllm" / "envs.py")):
        target = getattr(node, "target", None) or (getattr(node, "targets", None) or [None])[0]
        value = getattr(node, "value", None)
        if getattr(target, "id", "") == "environment_variables" and isinstance(value, ast.Dict):
            names = {str(key.value) for key in value.keys if isinstance(key, ast.Constant)}
            return {name for name in names if name.startswith("VLLM_")}
    raise SystemExit(f"{sources}: no dictionary of variables")


def sglang_variables(sources: Path) -> set[str]:
    """The variables that sglang/srt/environ.py reads: the fields of Envs, their old names, and those that it copies to
    a field. Not those that it only warns about: they stand in calls and in a registry without a replacement.
    """
    path = sources / "sglang" / "srt" / "environ.py"
    if not path.exists():  # there is no such list before 0.5.3
        return set()
    tree = _parsed(path)
    fields = {
        target.id
        for body in (node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Envs")
        for node in body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    only_warned = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", "")
            alone = name == "_print_deprecated_env" and len(node.args) == 1
            if name == "_warn_deprecated_env_to_cli_flag" or alone:
                only_warned.add(_text(node.args[0]))
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                called = isinstance(value, ast.Call) and getattr(value.func, "id", "") == "_DeprecatedEnv"
                if called and isinstance(value, ast.Call) and not value.args:
                    only_warned |= {_text(key)} if not {"replacement"} & {w.arg for w in value.keywords} else set()
    texts = {_text(node) for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return {name for name in fields | (texts - only_warned) if re.fullmatch(r"SGLANG_[A-Z0-9_]+", name)}


def quoted(sources: Path, prefix: str, but: str) -> set[str]:
    """The names with a prefix that stand in quotes anywhere else in the package, tests apart."""
    pattern = re.compile(rf"""["']({prefix}[A-Z0-9_]*[A-Z0-9])["']""")
    names: set[str] = set()
    for path in sources.rglob("*.py"):
        if path.name != but and not {"test", "tests"} & set(path.parts):
            names.update(pattern.findall(path.read_text("utf-8", errors="replace")))
    return names


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8-sig"))


def _text(node: ast.AST | None) -> str:
    value = node.value if isinstance(node, ast.Constant) else ""
    return value if isinstance(value, str) else ""


def variables(engine: str, releases: Mapping[str, Path]) -> dict[str, dict[str, set[str]]]:
    """The variables of each release that tells them."""
    prefix, module, read = {
        "vllm": ("VLLM_", "envs.py", vllm_variables),
        "sglang": ("SGLANG_", "environ.py", sglang_variables),
    }[engine]
    listed = {version: names for version, path in releases.items() if (names := read(path))}
    elsewhere = {version: quoted(releases[version], prefix, module) for version in listed}
    known = set[str]().union(*listed.values())
    always = set[str]().union(*elsewhere.values()) - known
    whole = [version for version in listed if engine != "vllm" or version not in _WHEELS]
    by_version: dict[str, dict[str, set[str]]] = {}
    for version, names in listed.items():
        around = [elsewhere[other] for other in neighbours(whole, version)]
        beside = elsewhere[version] | (set.intersection(*around) if version not in whole else set())
        by_version[version] = {"VARIABLES": names | (beside & known) | always}
    return by_version


# --- keys -------------------------------------------------------------------------------------------------------------

_UNKNOWN, _UNKNOWN_NUMBER = "zz_unknown", 98_765
_DEEPEST = 2  # maps in maps that are looked into
# Options whose text the parser reads as a map of any keys, and the class that is made of it later.
_CLASSES = {"--speculative-config": ("vllm.config", "SpeculativeConfig")}
Read = Callable[[Mapping[str, object]], object]


def answer(read: Read, content: Mapping[str, object]) -> str:
    """What an engine objects to in the content of an option; '' where it takes it."""
    try:
        read(content)
    except BaseException as error:  # noqa: BLE001 - the engines raise what they like
        return str(error)
    return ""


def nested(path: Sequence[str], content: object) -> dict[str, object]:
    """The content below a path of keys."""
    *above, last = path
    inner = {last: content}
    for key in reversed(above):
        inner = {key: inner}
    return inner


def refuses(read: Read, path: Sequence[str]) -> bool:
    """Whether a key is refused as an unknown one."""
    place = re.escape(".".join(path))
    objection = answer(read, nested(path, None))
    by_class = re.search(rf"unexpected keyword argument '{re.escape(path[-1])}'", objection)
    return bool(
        by_class
        or re.search(rf"^{place}\n +[^\n]*(unexpected_keyword_argument|extra_forbidden)", objection, re.MULTILINE)
    )


def closed_values(read: Read, path: Sequence[str], enums: Iterable[type[Enum]]) -> set[str]:
    """The texts and numbers that a key takes, where all that is said of any other text is that it is none of them, or
    where names of the engine's enums are among them; with `ANY_CASE` where their letters may be of another case.
    """

    def takes(value: object) -> bool:
        """Whether nothing is said of the key, though the class may want others beside it."""
        objection = answer(read, nested(path, value))
        return not objection or ("validation error" in objection and not objections_to(read, path, value))

    if takes(_UNKNOWN):
        return set()
    values = listed_values(read, path, _UNKNOWN)
    values = values or (set() if is_typed(read, path) else {*make_options.named_values(takes, enums)})
    values |= {*filter(str.isdigit, listed_values(read, path, _UNKNOWN_NUMBER))} if values else set()
    return values if all(re.fullmatch(r"[^\s@=]+", value) for value in values) else set()


def listed_values(read: Read, path: Sequence[str], unknown: object) -> set[str]:
    """The texts and numbers that an engine names where it objects to an unknown value, and to nothing else."""
    objections = objections_to(read, path, unknown)
    kinds = ("[type=literal_error", "[type=enum")
    listed = [text.partition(kind)[0] for text in objections for kind in kinds if kind in text]
    if any(not any(kind in text for kind in (*kinds, "[type=none_required")) for text in objections):
        return set()
    texts = {value for text in listed for value in re.findall(r"'([^']*)'", text)}
    numbers = {value for text in listed for value in re.findall(r"\b\d+\b", re.sub(r"'[^']*'|\([^)]*\)", "", text))}
    takes_others = any(not answer(read, nested(path, value.swapcase())) for value in texts if value.swapcase() != value)
    return {*texts, *numbers, *([make_options.ANY_CASE] if takes_others else [])}


def is_typed(read: Read, path: Sequence[str]) -> bool:
    """Whether what a key takes is no text."""
    return any(re.search(r"\[type=\w+_(type|parsing)\b", text) for text in objections_to(read, path, _UNKNOWN))


def objections_to(read: Read, path: Sequence[str], value: object) -> list[str]:
    """What is said of a key with a value."""
    place = re.escape(".".join(path))
    return re.findall(rf"^{place}(?:\.\S+)?\n +([^\n]*)", answer(read, nested(path, value)), re.MULTILINE)


def json_readers(engine: str) -> dict[str, Read]:
    """By option, the function that reads its JSON: the parser's, or that of a class that is made of it later."""
    readers: dict[str, Read] = {}
    for name, action in make_options.PARSERS[engine]()._option_string_actions.items():
        if name.startswith("--") and name == next(n for n in action.option_strings if n.startswith("--")):
            if name in _CLASSES:
                module, cls = _CLASSES[name]
                built = getattr(importlib.import_module(module), cls, None)
                if built is not None:
                    readers[name] = functools.partial(_built, built)
            elif callable(action.type) and make_options.typed(action).startswith(("json", "object")):
                readers[name] = functools.partial(_parsed_by, action.type)
    return readers


def _built(class_: Callable[..., object], content: Mapping[str, object]) -> object:
    return class_(**content)


def _parsed_by(parse: Callable[[str], object], content: Mapping[str, object]) -> object:
    return parse(json.dumps(content))


def fields_of(cls: object) -> set[str]:
    """The fields of a dataclass or of a model."""
    annotated = vars(cls).get("__pydantic_fields__", {}).values()
    aliases = [
        alias for field in annotated for alias in (field.alias, field.validation_alias) if isinstance(alias, str)
    ]
    return {*vars(cls).get("__dataclass_fields__", {}), *vars(cls).get("__pydantic_fields__", {}), *aliases}


def print_keys(engine: str, sources: str, candidates: Sequence[str]) -> None:
    """Prints a JSON map of the groups of a release. `candidates`: keys to try, of any release."""
    importlib.import_module("scripts.stand_ins").install(engine, Path(sources))
    groups: dict[str, list[str]] = {}
    with contextlib.redirect_stdout(sys.stderr):
        readers = json_readers(engine)
        known = {name for cls in make_options.classes(engine) for name in fields_of(cls)}
        tried, enums = sorted(known.union(candidates)), make_options.enums(engine)
        for option, read in readers.items():
            try_keys(read, option, (), tried, groups, enums)
    print(json.dumps({"groups": groups, "fields": sorted(known)}))


def try_keys(
    read: Read,
    option: str,
    path: tuple[str, ...],
    tried: Sequence[str],
    groups: dict[str, list[str]],
    enums: Sequence[type[Enum]],
) -> None:
    """Adds the groups of an option's JSON, or of a map in it."""
    closed = refuses(read, (*path, _UNKNOWN))
    place = ".".join((option, *path))
    keys = [key for key in tried if not refuses(read, (*path, key))] if closed else []
    if keys:
        groups[place] = keys
    for key in keys if closed or path else tried:
        if values := closed_values(read, (*path, key), enums):
            groups[f"{place}.{key}="] = sorted(values)
        if closed and len(path) + 1 < _DEEPEST:
            try_keys(read, option, (*path, key), tried, groups, enums)


def keys(engine: str, releases: Mapping[str, Path]) -> dict[str, dict[str, set[str]]]:
    """The keys of each release. Twice, since a key may be known though no class of the release has it any more."""
    fields: set[str] = set()
    groups: dict[str, dict[str, set[str]]] = {}
    for _ in range(2):
        before = sorted(fields)
        for version, path in releases.items():
            python = path.parents[1] / "env" / "bin" / "python"
            command = [str(python), "-m", "scripts.make_names", "try", engine, str(path), *before]
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
            if done.returncode:
                raise SystemExit(f"{path}: {done.stderr.strip()[-2000:]}")
            result = json.loads(done.stdout.splitlines()[-1])
            fields.update(result["fields"])
            groups[version] = {group: set(names) for group, names in result["groups"].items()} | connectors(path)
            print(version, {group: len(names) for group, names in groups[version].items()}, file=sys.stderr)
    return groups


# By key of an option's JSON, the factory that raises for a name that nobody registers with it.
_FACTORIES = {
    "--kv-transfer-config.kv_connector=": "kv_transfer/kv_connector/factory.py",
    # What MultiConnector puts together.
    "--kv-transfer-config.kv_connector_extra_config.connectors.kv_connector=": "kv_transfer/kv_connector/factory.py",
    "--ec-transfer-config.ec_connector=": "ec_transfer/ec_connector/factory.py",
}


def connectors(sources: Path) -> dict[str, set[str]]:
    """The names that each factory of a release knows, by group."""
    groups: dict[str, set[str]] = {}
    for group, place in _FACTORIES.items():
        path = sources / "vllm" / "distributed" / place
        if path.exists():
            calls = [node for node in ast.walk(_parsed(path)) if isinstance(node, ast.Call)]
            names = {_text(call.args[0]) for call in calls if getattr(call.func, "attr", "") == "register_connector"}
            groups |= {group: names} if names else {}
    return groups


# --- metrics ----------------------------------------------------------------------------------------------------------


def metrics(engine: str, releases: Mapping[str, Path]) -> dict[str, dict[str, set[str]]]:
    """The metrics of each release whose whole source is there."""
    pattern = re.compile(rf"""["']({engine}:[a-z][a-z0-9_]*[a-z0-9])["']""")
    by_version: dict[str, dict[str, set[str]]] = {}
    for version, sources in releases.items():
        if engine == "vllm" and version in _WHEELS:
            continue
        paths = [path for path in sources.rglob("*.py") if not {"test", "tests"} & set(path.parts)]
        names = {name for path in paths for name in pattern.findall(path.read_text("utf-8", errors="replace"))}
        by_version[version] = {"METRICS": {name.removesuffix("_total") for name in names}}
    return by_version


def neighbours(versions: Sequence[str], version: str) -> list[str]:
    """The one before a version and the one behind it, as far as there are such."""
    before = [other for other in versions if Version(other) < Version(version)]
    behind = [other for other in versions if Version(other) > Version(version)]
    return [*before[-1:], *behind[:1]]


# --- architectures ----------------------------------------------------------------------------------------------------

_ARCHITECTURE = re.compile(r"(?!Eagle)[A-Z]\w+For(CausalLM|ConditionalGeneration)")


def vllm_architectures(sources: Path) -> set[str]:
    """The keys of the dictionaries in vllm/model_executor/models/registry.py that lead to a module and a class."""
    path = sources / "vllm" / "model_executor" / "models" / "registry.py"
    if not path.exists():  # before 0.6.3
        return set()
    names = set()
    for node in ast.walk(_parsed(path)):
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            names |= {_text(key) for key, value in pairs if isinstance(value, ast.Tuple)}
    return names


def sglang_architectures(sources: Path) -> set[str]:
    """The classes that modules of sglang/srt/models name as EntryClass."""
    names = set()
    for path in (sources / "sglang" / "srt" / "models").glob("*.py"):
        for node in _parsed(path).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "EntryClass":
                names |= {name.id for name in ast.walk(node.value) if isinstance(name, ast.Name)}
    return names


def llamacpp_architectures(sources: Path, converted: Mapping[str, set[str]]) -> set[str]:
    """The architectures of which a name of src/llama-arch.cpp is made. `converted`: those, by such a name."""
    path = sources / "src" / "llama-arch.cpp"
    if not path.exists():  # before b4447
        return set()
    text = path.read_text("utf-8").partition("LLM_ARCH_NAMES")[2].partition("};")[0]
    names = map(_plain, re.findall(r'LLM_ARCH_\w+, *"([^"]+)"', text))
    return set[str]().union(*(converted.get(name, ()) for name in names))


def converted_architectures(releases: Iterable[Path]) -> dict[str, set[str]]:
    """The architectures that a converter of llama.cpp registers, by what it makes of them."""
    converted: dict[str, set[str]] = {}
    for path in (
        path
        for sources in releases
        for path in (*sources.glob("conversion/*.py"), *sources.glob("convert_hf_to_gguf.py"))
    ):
        for node in _parsed(path).body:
            if isinstance(node, ast.ClassDef):
                calls = [call for call in node.decorator_list if isinstance(call, ast.Call)]
                registered = [call for call in calls if getattr(call.func, "attr", "") == "register"]
                of_text = {_text(arg) for call in registered for arg in call.args}
                for field in node.body:
                    if isinstance(field, ast.Assign) and getattr(field.targets[0], "id", "") == "model_arch":
                        name = _plain(getattr(field.value, "attr", ""))
                        if name != _PROJECTOR:
                            converted.setdefault(name, set()).update(of_text)
    return converted


_PROJECTOR = "mmproj"  # the part of a model that reads images, which has no architecture


def _plain(name: str) -> str:
    """A name as both the converter and the engine have it."""
    return re.sub(r"[-_]", "", name).lower()


def architectures(engine: str, releases: Mapping[str, Path]) -> dict[str, dict[str, set[str]]]:
    """The architectures of each release that tells them."""
    if engine == "llamacpp":
        converted = converted_architectures(releases.values())
        read: Callable[[Path], set[str]] = functools.partial(llamacpp_architectures, converted=converted)
    else:
        read = {"vllm": vllm_architectures, "sglang": sglang_architectures}[engine]
    known = {version: names for version, path in releases.items() if (names := read(path))}
    first, *_, newest = known.values()
    later = set(filter(_ARCHITECTURE.fullmatch, newest - first))
    return {version: {"ARCHITECTURES": names & later} for version, names in known.items()}


# --- the lists --------------------------------------------------------------------------------------------------------

Found = Mapping[str, Mapping[str, set[str]]]  # names by version and group
KINDS: Mapping[str, tuple[str, Callable[[str, Mapping[str, Path]], Found]]] = {
    "architectures": ("the architectures of models that each release has code for", architectures),
    "keys": ("the keys and values of options' JSON that each release takes", keys),
    "metrics": ("the metrics that each release reports", metrics),
    "variables": ("the environment variables that each release reads", variables),
}


def lines(by_version: Found) -> Iterator[str]:
    """The lines of all versions; those of one group and one range in one, or in several where it is long."""
    versions = list(by_version)
    for group in sorted({group for groups in by_version.values() for group in groups}):
        by_range: dict[str, list[str]] = {}
        for name in sorted(set[str]().union(*(groups.get(group, ()) for groups in by_version.values()))):
            for span in spans(versions, [name in by_version[version].get(group, ()) for version in versions]):
                by_range.setdefault(span or "..", []).append(name)
        for span, names in sorted(by_range.items(), key=lambda item: _order(versions, item[0])):
            head = f"{group} {span} "
            yield from (head + part for part in _wrapped(names, _WIDTH - len(head)))


def _wrapped(names: list[str], width: int) -> list[str]:
    return textwrap.wrap(" ".join(names), width, break_long_words=False, break_on_hyphens=False)


def _order(versions: list[str], span: str) -> tuple[int, int]:
    since, _, until = span.partition("..")
    return versions.index(since) if since else -1, versions.index(until) if until else len(versions)


def main(engine: str, kind: str, cache: str) -> None:
    folders = sorted((Path(cache) / engine).iterdir(), key=lambda path: Version(path.name.removeprefix("b")))
    title, find = KINDS[kind]
    by_version = find(engine, {path.name: path for path in folders if path.is_dir()})
    target = BACKENDS / "flags" / f"{engine}.{kind}.txt"
    head = f"# {make_options.ENGINES[engine]}: {title}, from its own sources."
    legend = "# Made by scripts/make_names.py, which says what a line means."
    target.write_text("\n".join([head, legend, f"versions {' '.join(by_version)}", *lines(by_version), ""]), "utf-8")
    print(target.relative_to(BACKENDS.parent.parent))


if __name__ == "__main__":
    if sys.argv[1:2] == ["try"]:
        print_keys(sys.argv[2], sys.argv[3], sys.argv[4:])
    elif len(sys.argv) == 4:
        main(*sys.argv[1:])
    else:
        raise SystemExit(__doc__)
