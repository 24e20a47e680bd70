#!/usr/bin/env python3
"""Makes the lists of names besides options that change with an engine's version, from the sources of its releases.

    .venv/bin/python -m scripts.make_names vllm variables CACHE     # writes presets/backends/flags/vllm.variables.txt
    .venv/bin/python -m scripts.make_names sglang variables CACHE

CACHE is the folder of scripts/make_options.py, into which that script or release_sources.py fetched the sources.

The line `versions …` holds the releases whose source tells, the oldest first: of others nothing is known. Each further
line is `GROUP RANGE NAME…`: a group of names, the versions that have them, as `since..until` (the first version, and
the first that has them no longer; `..` for all), and the names. A group may have several lines.

variables: what the engine reads from the environment, in the group `VARIABLES`. Names that stand only outside of the
module that lists all variables count as read by all versions: nobody says there that one has ended.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from packaging.version import Version

from scripts.make_options import BACKENDS, spans

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
    return ast.parse(path.read_text("utf-8"))


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


def neighbours(versions: Sequence[str], version: str) -> list[str]:
    """The one before a version and the one behind it, as far as there are such."""
    before = [other for other in versions if Version(other) < Version(version)]
    behind = [other for other in versions if Version(other) > Version(version)]
    return [*before[-1:], *behind[:1]]


# --- the lists --------------------------------------------------------------------------------------------------------

Found = Mapping[str, Mapping[str, set[str]]]  # names by version and group
KINDS: Mapping[str, tuple[str, Callable[[str, Mapping[str, Path]], Found]]] = {
    "variables": ("the environment variables that each release reads", variables),
}
_ENGINES = {"vllm": "vLLM", "sglang": "SGLang"}


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
    folders = sorted((Path(cache) / engine).iterdir(), key=lambda path: Version(path.name))
    title, find = KINDS[kind]
    by_version = find(engine, {path.name: path for path in folders if path.is_dir()})
    target = BACKENDS / "flags" / f"{engine}.{kind}.txt"
    head = f"# {_ENGINES[engine]}: {title}, from its own sources."
    legend = "# Made by scripts/make_names.py, which says what a line means."
    target.write_text("\n".join([head, legend, f"versions {' '.join(by_version)}", *lines(by_version), ""]), "utf-8")
    print(target.relative_to(BACKENDS.parent.parent))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
