"""llmaz init: what it writes renders at the first try, its tools take it, and nothing is ever overwritten.

Goldens of tests/data/init/expected hold all that is written but the chart, which is a copy. Tools that are missing skip
their tests, in CI they fail.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import renderer
from renderer import load, scaffold
from renderer.scaffold import writer
from renderer.scaffold.contents import FILES
from tests.paths import ROOT, TESTS
from tests.programs import tool

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz, Outcome

CHART = ROOT / "charts" / "llmaz"
GOLDENS = TESTS / "data" / "init" / "expected"
URL = "https://git.example/team/models.git"
ACTION = f"acme/llmaz-renderer@{'0123456789' * 4}"


def git(*words: str, cwd: Path | None = None) -> str:
    done = subprocess.run(["git", *words], cwd=cwd, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def files(folder: Path) -> dict[str, str]:
    """Path and text of every file below a folder, that of git aside."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    by_name = {path.relative_to(folder).as_posix(): path for path in sorted(paths)}
    return {name: path.read_text("utf-8") for name, path in by_name.items() if not name.startswith(".git/")}


def documents(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text("utf-8")))


# --- at the first try -------------------------------------------------------------------------------------------------


def nowhere() -> None:
    """A folder in no repository."""


def empty_repository() -> None:
    """No commit, no remote."""
    git("init", "--quiet", "--initial-branch", "main")


def cloned() -> None:
    """A remote that is read by ssh, and a branch of another name."""
    git("init", "--quiet", "--initial-branch", "trunk")
    git("remote", "add", "origin", "git@github.com:acme/models.git")


@pytest.mark.parametrize("where", [nowhere, empty_repository, cloned], ids=lambda where: where.__name__)
@pytest.mark.parametrize("demo", [True, False], ids=["demo", "gpu"])
@pytest.mark.parametrize("engine", ["argocd", "flux", "none"])
def test_it_renders_at_the_first_try(
    engine: str, demo: bool, where: Callable[[], None], folder: Path, llmaz: Llmaz
) -> None:
    where()
    done = llmaz("init", "--gitops", engine, *(["--cpu-demo"] if demo else []))
    assert done.code == 0, done.err
    done = llmaz("render", "--strict")
    assert (done.code, done.warnings) == (0, ""), done.err
    assert done.counts["apps"] == 1
    done = llmaz("validate", "--strict")
    assert (done.code, done.err) == (0, "1 app, 10 objects: valid\n")
    done = llmaz("render", "--check", "--strict")
    assert (done.code, done.err) == (0, "1 app, 10 objects: rendered/ is up to date\n")
    done = llmaz("check", "rendered", "--strict")
    assert done.code == 0, done.err
    bodies = [body for path in (folder / "rendered").rglob("*.yaml") for body in documents(path)]
    spaces = {body["metadata"]["name"] for body in bodies if body["kind"] == "Namespace"}
    assert spaces == {body["metadata"].get("namespace") for body in bodies} - {None}
    assert "replace/this" not in "".join(files(folder / "rendered").values())


def test_the_demo_asks_for_little(folder: Path, llmaz: Llmaz) -> None:
    """For no accelerator, and for less than a laptop has."""
    assert llmaz("init", "--cpu-demo").code == 0
    assert llmaz("render").code == 0
    [sets] = [
        body for body in documents(folder / "rendered" / "llm" / "chat.yaml") if body["kind"] == "LeaderWorkerSet"
    ]
    pod = sets["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    [runner] = pod["containers"]
    assert runner["resources"] == {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"memory": "2Gi"}}
    assert sets["spec"]["replicas"] == 1
    [proxy] = [
        body for body in documents(folder / "rendered/llmaz-system/_shared.yaml") if body["kind"] == "EnvoyProxy"
    ]
    assert proxy["spec"]["provider"]["kubernetes"]["envoyDeployment"]["replicas"] == 1


@pytest.mark.parametrize("demo", [[], ["--cpu-demo"]], ids=["gpu", "demo"])
def test_the_model_is_the_preset(demo: list[str], folder: Path, llmaz: Llmaz) -> None:
    llmaz("init", *demo)
    [model] = (folder / "models").iterdir()
    done = llmaz("presets", "diff", model.stem, "--exit-code")
    assert (done.code, done.out) == (0, ""), done.out
    [playground] = documents(folder / "playgrounds" / "chat.yaml")
    assert playground["spec"]["modelClaim"]["modelName"] == model.stem


# --- goldens ----------------------------------------------------------------------------------------------------------

PRINTED: dict[str, list[str]] = {
    "argocd-cpu-demo": [".", "--cpu-demo", "--repo-url", URL],
    "argocd-elsewhere": [
        "fleet", "--repo-url", URL, "--branch", "release/1.0", "--namespace", "models", "--engine-namespace", "gitops",
        "--project", "llm", "--destination", "https://eu.example:6443", "--action", ACTION,
    ],
    "flux": ["fleet", "--gitops", "flux", "--repo-url", URL, "--ci", "none"],
    "flux-by-ssh": [
        ".", "--gitops", "flux", "--cpu-demo", "--repo-url", "git@gitlab.example:team/models.git", "--branch", "v1.0.0",
    ],
    "none": [".", "--gitops", "none", "--ci", "gitlab", "--namespace", "llmaz-system"],
}  # fmt: skip


@pytest.mark.parametrize("name", PRINTED)
def test_what_is_written(name: str, folder: Path, llmaz: Llmaz, golden: Golden) -> None:
    done = llmaz("init", *PRINTED[name])
    assert done.code == 0, done.err
    golden(f"data/init/expected/{name}/_output.txt", done.err + done.out)
    written = files(folder / PRINTED[name][0])
    chart = {path: text for path, text in written.items() if path.startswith("platform/llmaz/")}
    assert chart == {f"platform/llmaz/{path}": text for path, text in files(CHART).items()}
    for path, text in written.items():
        if path not in chart and path != "bootstrap/argocd-cm.yaml":  # tested below
            golden(f"data/init/expected/{name}/{path.replace('.git', 'dot-git')}", text)
            assert text.endswith("\n")
            assert not text.endswith("\n\n")


def test_goldens_are_all_made(folder: Path, llmaz: Llmaz, superfluous: Callable[[Path, set[Path]], list[Path]]) -> None:
    expected = set()
    for name, words in PRINTED.items():
        repository = folder / name
        llmaz("init", repository / words[0], *words[1:])
        paths = [path for path in files(repository / words[0]) if not path.startswith("platform/llmaz/")]
        expected |= {GOLDENS / name / path.replace(".git", "dot-git") for path in paths if "argocd-cm" not in path}
        expected.add(GOLDENS / name / "_output.txt")
    assert superfluous(GOLDENS, expected) == []


def test_the_settings_of_argo_cd(folder: Path, llmaz: Llmaz) -> None:
    """What `llmaz argocd health` prints, and one check more: that of Application, in the chart's words."""
    llmaz("init", "--engine-namespace", "gitops")
    [settings] = documents(folder / "bootstrap" / "argocd-cm.yaml")
    assert settings["data"].pop("resource.customizations.health.argoproj.io_Application") == (
        CHART / "files" / "application.lua"
    ).read_text("utf-8")
    [health] = list(yaml.safe_load_all(llmaz("argocd", "health", "--namespace", "gitops").out))
    assert settings == health


# --- what the tools say -----------------------------------------------------------------------------------------------


def faults(body: dict[str, Any]) -> list[str]:
    """What the CRDs of Argo CD and Flux have against it; a field that they do not know is a fault."""
    import jsonschema

    group, _, version = body["apiVersion"].partition("/")
    file = TESTS / "data" / "schemas" / group / f"{body['kind'].lower()}_{version}.json"
    return [error.message for error in jsonschema.Draft7Validator(json.loads(file.read_text())).iter_errors(body)]


@pytest.mark.parametrize("below", ["", "teams/a b"], ids=["the top", "a folder"])
@pytest.mark.parametrize("engine", ["argocd", "flux"])
def test_bootstrap(engine: str, below: str, folder: Path, llmaz: Llmaz) -> None:
    """Valid, and every path in it leads to what is there."""
    git("init", "--quiet", "--initial-branch", "main")
    repository = folder / below
    assert llmaz("init", repository, "--gitops", engine, "--repo-url", URL).code == 0
    os.chdir(repository)
    assert llmaz("render").code == 0
    bodies = [body for path in (repository / "bootstrap").rglob("*.yaml") for body in documents(path)]
    bodies = [body for body in bodies if body["kind"] != "ConfigMap"]
    assert [fault for body in bodies for fault in faults(body)] == []
    assert {body["metadata"]["namespace"] for body in bodies} == {"argocd" if engine == "argocd" else "flux-system"}
    named = {(body["kind"], body["metadata"]["name"]): body["spec"] for body in bodies}
    assert len(named) == len(bodies)
    paths = {name: folder / spec["path"] for (_, name), spec in named.items() if "path" in spec}
    paths |= {name: folder / spec["source"]["path"] for (_, name), spec in named.items() if "source" in spec}
    if engine == "argocd":
        assert set(paths) == {"llmaz-bootstrap", "llmaz-platform", "llmaz-shared", "llmaz"}
        helm = named["Application", "llmaz-platform"]["source"]["helm"]
        chart, values = paths["llmaz-platform"], [paths["llmaz-platform"] / file for file in helm["valueFiles"]]
        assert {spec["source"]["repoURL"] for spec in named.values()} == {URL}
        assert {spec["source"]["targetRevision"] for spec in named.values()} == {"main"}
    else:
        assert set(paths) == {"llmaz-bootstrap", "llmaz"}
        release = named["HelmRelease", "llmaz-platform"]["chart"]["spec"]
        chart, values = folder / release["chart"], [folder / file for file in release["valuesFiles"]]
        assert values.pop(0) == chart / "values.yaml"  # named, since Flux leaves out what is not
        [source] = [key for key in named if key[0] == "GitRepository"]
        [told_to_chart] = documents(repository / "platform" / "values.yaml")
        assert told_to_chart["flux"]["self"] == {"name": source[1], "chart": release["chart"]}
        used = [spec["sourceRef"] for spec in (*named.values(), release) if "sourceRef" in spec]
        assert {(reference["kind"], reference["name"]) for reference in used} == {source}
        assert len(used) == 3
        assert [dependency["name"] for dependency in named["Kustomization", "llmaz"]["dependsOn"]] == [
            "llmaz-bootstrap"
        ]
        assert [check["name"] for check in named["Kustomization", "llmaz-bootstrap"]["healthChecks"]] == [
            "llmaz-platform"
        ]
    assert (chart / "Chart.yaml").is_file()
    assert [file.resolve() for file in values] == [(repository / "platform" / "values.yaml").resolve()]
    assert list(paths["llmaz-bootstrap"].iterdir())
    assert paths["llmaz"] == repository / "rendered"
    assert (paths["llmaz"] / "llm" / "chat.yaml").is_file()


def test_models_are_what_llmaz_argocd_and_flux_print(folder: Path, llmaz: Llmaz) -> None:
    """But for their order among others."""
    wave = "argocd.argoproj.io/sync-wave"
    for engine in ("argocd", "flux"):
        os.chdir(folder)
        assert llmaz("init", engine, "--gitops", engine, "--repo-url", URL).code == 0
        os.chdir(folder / engine)
        bodies = documents(folder / engine / "bootstrap" / "apps" / "models.yaml")
        words = ["argocd", "application"] if engine == "argocd" else ["flux", "kustomization"]
        printed = list(yaml.safe_load_all(llmaz(*words, "--repo-url", URL, "--revision", "main").out))
        if engine == "argocd":
            assert [body["metadata"]["annotations"].pop(wave) for body in bodies] == ["2", "3"]
            assert bodies == [printed[1], printed[0]]
        else:
            source = documents(folder / engine / "bootstrap" / "root.yaml")[0]
            assert bodies[0]["spec"].pop("dependsOn")
            assert [source, *bodies] == printed


def test_a_name_for_the_cluster(folder: Path, llmaz: Llmaz) -> None:
    """Applications stay where Argo CD is; what they make goes there."""
    assert llmaz("init", "--repo-url", URL, "--destination", "eu-1").code == 0
    shared, models = documents(folder / "bootstrap" / "apps" / "models.yaml")
    assert shared["spec"]["destination"] == models["spec"]["destination"] == {"name": "eu-1"}
    for file in ("root.yaml", "apps/platform.yaml"):
        [body] = documents(folder / "bootstrap" / file)
        assert body["spec"]["destination"] == {"server": "https://kubernetes.default.svc", "namespace": "argocd"}
        assert faults(body) == []
    [values] = documents(folder / "platform" / "values.yaml")
    assert values["argocd"]["destination"] == {"name": "eu-1"}


def test_a_component_that_is_not_well_holds_up_no_model(folder: Path, llmaz: Llmaz) -> None:
    """Each commit upgrades the chart, whose revision is the commit's, and the models wait for that release."""
    assert llmaz("init", "--gitops", "flux", "--repo-url", URL).code == 0
    [platform] = documents(folder / "bootstrap" / "apps" / "platform.yaml")
    spec = platform["spec"]
    assert spec["chart"]["spec"]["reconcileStrategy"] == "Revision"
    assert "disableWait" not in spec["install"]
    assert spec["upgrade"]["disableWait"] is True
    assert faults(platform) == []


def test_no_two_applications_own_a_namespace(folder: Path, llmaz: Llmaz) -> None:
    """Argo CD would let each take it from the other, for ever. That of the chart's own objects is made unowned."""
    assert llmaz("init", "--repo-url", URL).code == 0
    [platform] = documents(folder / "bootstrap" / "apps" / "platform.yaml")
    assert "CreateNamespace=true" in platform["spec"]["syncPolicy"]["syncOptions"]
    there = platform["spec"]["destination"]["namespace"]
    owned = {body["metadata"]["name"] for body in documents(folder / "extra" / "namespaces.yaml")}
    assert there in owned
    more = folder / "more.yaml"
    more.write_text("redis: {enabled: true}\ndashboards: {enabled: true}\n", "utf-8")
    files = [f"--values={file}" for file in (folder / "platform" / "values.yaml", more)]
    command = [tool("helm"), "template", "llmaz", str(folder / "platform" / "llmaz"), "--namespace", there, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"HOME": str(folder)})
    assert done.returncode == 0, done.stderr
    objects = [body for body in yaml.safe_load_all(done.stdout) if body]
    assert {body["kind"] for body in objects} >= {"Application", "Deployment", "ConfigMap"}
    assert owned.isdisjoint(body["metadata"]["name"] for body in objects if body["kind"] == "Namespace")


def test_the_schemas_would_say_no(folder: Path, llmaz: Llmaz) -> None:
    llmaz("init", "--repo-url", URL)
    [body] = documents(folder / "bootstrap" / "apps" / "platform.yaml")
    body["spec"]["source"]["valueFiles"] = body["spec"]["source"].pop("helm")["valueFiles"]
    assert faults(body)


@pytest.mark.parametrize(
    "words",
    [
        ["argocd"],
        ["argocd", "--cpu-demo"],
        ["argocd", "--destination", "https://eu.example:6443", "--project", "llm", "--engine-namespace", "gitops"],
        ["argocd", "--destination", "eu-1"],
        ["flux"],
        ["flux", "--cpu-demo", "--engine-namespace", "gitops"],
        ["none"],
    ],
    ids=" ".join,
)
def test_helm_takes_the_platform(words: list[str], folder: Path, llmaz: Llmaz) -> None:
    """With its values, which the chart's schema has to know."""
    engine = words[0]
    assert llmaz("init", "--gitops", *words).code == 0
    chart = ["platform/llmaz", "--values", "platform/values.yaml"]
    done = subprocess.run([tool("helm"), "template", "llmaz", *chart], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert ("memory: 128Mi" in done.stdout) == ("--cpu-demo" in words)
    kinds = {body["kind"] for body in yaml.safe_load_all(done.stdout) if body}
    assert ("Application" in kinds, "HelmRelease" in kinds) == (engine == "argocd", engine == "flux")


# --- workflows --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ours", "theirs"), [("github.yml", "llmaz.yml"), ("gitlab.yml", "gitlab-ci.yml")])
def test_workflows_are_those_of_the_pages(ours: str, theirs: str) -> None:
    assert Path(FILES, ours).read_text("utf-8") == (ROOT / "docs" / "workflows" / theirs).read_text("utf-8")


@pytest.mark.parametrize("below", [".", "teams/a b"], ids=["the top", "a folder"])
@pytest.mark.parametrize("branch", ["main", "trunk", "1.0", "on", "team/a-b_c"])
def test_actionlint_takes_the_workflow(branch: str, below: str, folder: Path, llmaz: Llmaz) -> None:
    git("init", "--quiet", "--initial-branch", branch)
    assert llmaz("init", below, "--action", ACTION).code == 0
    [file] = (folder / ".github" / "workflows").iterdir()
    done = subprocess.run([tool("actionlint"), "-no-color", "-shellcheck=", "-pyflakes=", file], check=False)
    assert done.returncode == 0
    workflow: dict[Any, Any] = documents(file)[0]
    assert workflow[True]["push"] == {"branches": [branch]}  # YAML 1.1 reads `on` so
    step = workflow["jobs"]["llmaz"]["steps"][-1]
    assert step["uses"] == ACTION
    assert step["with"].get("working-directory", ".") == below
    inputs = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["inputs"]
    assert set(step["with"]) <= set(inputs)


@pytest.mark.parametrize("below", [".", "teams/a b"], ids=["the top", "a folder"])
def test_gitlab_jobs(below: str, folder: Path, llmaz: Llmaz, tmp_path: Path) -> None:
    """Their scripts, as a runner runs them at the top of the repository: good, then stale."""
    git("init", "--quiet", "--initial-branch", "main")
    assert llmaz("init", below, "--repo-url", "https://gitlab.example/team/models.git").code == 0
    os.chdir(folder / below)
    assert llmaz("render").code == 0
    os.chdir(folder)
    git("add", ".")
    git("-c", "user.name=me", "-c", "user.email=me@example.com", "commit", "--quiet", "--message", "all")
    jobs = yaml.safe_load((folder / ".gitlab-ci.yml").read_text("utf-8"))
    for job in jobs.values():
        assert f"llmaz-renderer=={renderer.__version__}" in job["before_script"][0]
        assert re.fullmatch(r"python:\d+\.\d+\.\d+", job["image"])
    shell = Shell(tmp_path)
    assert shell.run("\n".join(jobs["llmaz"]["script"]))[0] == 0
    assert json.loads((folder / "gl-code-quality-report.json").read_text("utf-8")) == []
    playground = folder / below / "playgrounds" / "chat.yaml"
    playground.write_text(playground.read_text("utf-8").replace("16384", "8192"))
    code, output = shell.run("\n".join(jobs["llmaz"]["script"]))
    assert code == 1, output
    assert "llm/chat.yaml: stale" in output
    environment = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": "HEAD", "CI_COMMIT_SHA": "HEAD"}
    code, output = shell.run("\n".join(jobs["llmaz diff"]["script"]), environment)
    assert code == 0, output
    assert (folder / "llmaz.md").read_text("utf-8").startswith("<!-- llmaz -->\n")


def test_a_folder_that_no_workflow_can_name(folder: Path, llmaz: Llmaz) -> None:
    """E765, and nothing is written."""
    git("init", "--quiet")
    done = llmaz("init", "a: #1")
    assert (done.code, "[E765]" in done.err) == (2, True)
    assert files(folder) == {}
    assert llmaz("init", "a: #1", "--ci", "none", "--gitops", "flux").code == 0
    [root] = [body for body in documents(folder / "a: #1/bootstrap/root.yaml") if body["kind"] == "Kustomization"]
    assert root["spec"]["path"] == "./a: #1/bootstrap/apps"


# --- the next commands ------------------------------------------------------------------------------------------------


class Shell:
    """Runs scripts as a new user would, with the program and a kubectl that only notes what it is told."""

    def __init__(self, folder: Path) -> None:
        programs = folder / "programs"
        programs.mkdir()
        self.noted = programs / "kubectl.txt"
        for name, script in {
            "llmaz": f'exec "{sys.executable}" -m renderer "$@"',
            "kubectl": f"""printf '%s\\n' "$PWD: $*" >>'{self.noted}'""",
        }.items():
            (programs / name).write_text(f"#!/bin/sh\n{script}\n")
            (programs / name).chmod(0o755)
        # The cluster's address of the repository leads to a folder here.
        settings = {f"url.{folder}/origin.git.insteadOf": URL, "user.name": "me", "user.email": "me@example.com"}
        self._around = {
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "GIT_CONFIG_COUNT": str(len(settings)),
            **{f"GIT_CONFIG_KEY_{i}": key for i, key in enumerate(settings)},
            **{f"GIT_CONFIG_VALUE_{i}": value for i, value in enumerate(settings.values())},
        }

    def run(self, script: str, more: dict[str, str] | None = None) -> tuple[int, str]:
        """Exit code, and all that is printed. Nobody is there to answer a question."""
        done = subprocess.run(
            ["sh", "-ec", script],
            env={**self._around, **(more or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return done.returncode, done.stdout.decode()


@pytest.mark.parametrize("where", ["nowhere", "an empty repository", "a clone", "a folder of a clone"])
@pytest.mark.parametrize("engine", ["argocd", "flux", "none"])
def test_the_next_commands(engine: str, where: str, folder: Path, tmp_path: Path, llmaz: Llmaz) -> None:
    """Typed as they are printed, they lead to a commit in the remote that holds all of it, and to kubectl."""
    shell = Shell(tmp_path)
    git("init", "--quiet", "--bare", "--initial-branch", "main", str(tmp_path / "origin.git"))
    if where != "nowhere":
        git("init", "--quiet", "--initial-branch", "main")
    if where.endswith("clone"):
        git("remote", "add", "origin", URL)
    target = {"nowhere": "it's new", "a folder of a clone": "teams/a"}.get(where, ".")
    code, output = shell.run(f'llmaz init "{target}" --engine {engine} --cpu-demo --repo-url {URL}')
    assert code == 0, output
    commands = output.partition("Next:\n")[2].splitlines()
    assert len(commands) == 3
    code, output = shell.run("\n".join(commands))
    assert code == 0, output
    top = folder if where != "nowhere" else folder / target
    pushed = set(git("ls-tree", "-r", "-z", "--name-only", "main", cwd=tmp_path / "origin.git").split("\0")) - {""}
    assert pushed == set(files(top))
    assert git("status", "--short", cwd=top) == ""
    assert any(path.endswith("rendered/llm/chat.yaml") for path in pushed)
    assert any(path.startswith(".github/") for path in pushed)
    log = shell.noted.read_text("utf-8")
    for file in re.findall(r"(?:--patch-file|--filename) (\S+)", log):
        assert (folder / target / file).exists()
    assert log.count(f"{folder / target}: ") == len(log.splitlines()) == (1 if engine == "flux" else 2)


@pytest.mark.parametrize("name", PRINTED)
def test_the_page_of_the_new_repository(name: str, folder: Path, llmaz: Llmaz) -> None:
    """It names what is there, and holds the commands that were printed."""
    repository = folder / PRINTED[name][0]
    done = llmaz("init", *PRINTED[name])
    page = (repository / "README.md").read_text("utf-8")
    os.chdir(repository)
    llmaz("render")
    table = re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)
    tops = {path.name for path in repository.iterdir()} - {"README.md", ".github", ".gitlab-ci.yml", "platform"}
    assert tops <= {path.strip("/") for path in table}
    assert [path for path in [*table, *re.findall(r"`(\.git\S+)`", page)] if not (repository / path).exists()] == []
    commands = re.findall(r"(?:^  | && )(.+?)(?= && |$)", done.out, re.MULTILINE)
    assert len(commands) > 4
    assert [command for command in commands if f"   {command}\n" not in page and not command.startswith("cd ")] == []
    gateway = documents(repository / "rendered" / "llmaz-system" / "_shared.yaml")
    [service] = [
        body["spec"]["provider"]["kubernetes"]["envoyService"]["name"]
        for body in gateway
        if body["kind"] == "EnvoyProxy"
    ]
    [values] = documents(CHART / "values.yaml")
    forward = f"kubectl --namespace {values['envoyGateway']['namespace']} port-forward service/{service} 8080:80\n"
    assert forward in page
    assert forward in (ROOT / "docs" / "getting-started.md").read_text("utf-8")
    names = [line.split()[0] for line in llmaz("routes").out.splitlines()[3:] if line]
    assert [f'"model": "{name}"' in page for name in names[:1]] == [True]
    assert "{{" not in page


@pytest.mark.parametrize(
    ("target", "enters"),
    [
        ("new/", "cd new && "),
        ("a/../b", "cd b && "),
        ("./-x", "cd ./-x && "),
        ("./", ""),
        ("it's", "cd 'it'\"'\"'s' && "),
    ],
)
def test_where_the_next_commands_go(target: str, enters: str, folder: Path, llmaz: Llmaz) -> None:
    done = llmaz("init", target)
    assert done.out.splitlines()[1] == f"  {enters}llmaz render"


def test_what_nobody_said_is_said(folder: Path, llmaz: Llmaz) -> None:
    """In which files something has to be written in, and no others."""
    done = llmaz("init", "new")
    assert "--repo-url is not set" in done.err
    assert "--action is not set" in done.err
    marks = {"replace/this.git": "bootstrap/", "Say where the action is": ".github/workflows/llmaz.yml"}
    for mark, place in marks.items():
        holding = {path for path, text in files(folder / "new").items() if mark in text} - {"README.md"}
        assert holding
        assert all(path.startswith(place) for path in holding)
    done = llmaz("init", "told", "--repo-url", URL, "--action", ACTION)
    assert done.err.count("\n") == 1
    assert not any(mark in text for mark in marks for text in files(folder / "told").values())


# --- nothing is overwritten, and no wrong flag is taken ---------------------------------------------------------------


def refused(done: Outcome, *messages: str) -> None:
    assert done.code == 2, done.err
    assert "Traceback" not in done.err
    for message in messages:
        assert message in done.err


def test_a_second_time(folder: Path, llmaz: Llmaz) -> None:
    """Every file is in the way, whatever else is wished."""
    assert llmaz("init").code == 0
    before = files(folder)
    done = llmaz("init", "--cpu-demo")
    refused(done)
    assert done.err.count("[E760]") == 1
    assert files(folder) == before
    done = llmaz("init", "--force")
    refused(done, "No such option")


@pytest.mark.parametrize("what", ["file", "folder", "link to nothing"])
def test_whatever_is_in_the_way(what: str, folder: Path, llmaz: Llmaz) -> None:
    target = folder / "bootstrap" / "root.yaml"
    target.parent.mkdir()
    if what == "file":
        target.write_text("ours")
    elif what == "folder":
        target.mkdir()
    else:
        target.symlink_to("nowhere")
    refused(llmaz("init"), "bootstrap/root.yaml: already exists [E760]")
    assert [path for path in folder.rglob("*") if path not in (target, target.parent)] == []


def test_workflows_of_the_repository_around(folder: Path, llmaz: Llmaz) -> None:
    git("init", "--quiet")
    (folder / ".github" / "workflows").mkdir(parents=True)
    (folder / ".github" / "workflows" / "llmaz.yml").write_text("ours")
    refused(llmaz("init", "new"), ".github/workflows/llmaz.yml: already exists [E760]")
    assert not (folder / "new").exists()
    assert llmaz("init", "new", "--ci", "none").code == 0


def test_other_files_stay(folder: Path, llmaz: Llmaz) -> None:
    """A folder that holds something else is fine."""
    (folder / "models").mkdir()
    (folder / "models" / "notes.txt").write_text("ours")
    (folder / "LICENSE").write_text("ours")
    assert llmaz("init").code == 0
    assert (folder / "models" / "notes.txt").read_text() == (folder / "LICENSE").read_text() == "ours"


def test_a_disk_that_gets_full(folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    """E140, and what was written before goes again."""
    (folder / "models").mkdir()
    write_file, count = writer.write_file, 0

    def full(target: str, text: str) -> None:
        nonlocal count
        count += 1
        if count == 9:
            raise OSError(28, "No space left on device")
        write_file(target, text)

    monkeypatch.setattr(writer, "write_file", full)
    refused(llmaz("init"), "cannot be written: No space left on device [E140]")
    assert count == 9
    assert list(folder.rglob("*")) == [folder / "models"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--gitops", "argo"], "'argo' is not one of 'argocd', 'flux', 'none'"),
        (["--ci", "jenkins"], "'jenkins' is not one of"),
        (["--gitops", "flux", "--project", "llm"], "--project needs --gitops argocd"),
        (["--gitops", "none", "--destination", "eu"], "--destination needs --gitops argocd"),
        (["--secret", "key"], "--secret needs --gitops flux"),
        (["--ci", "gitlab", "--action", ACTION], "--action needs --ci github"),
        (["--repo-url", ""], "--repo-url has no value"),
        (["--branch", " "], "--branch has no value"),
        ([""], "DIR has no value"),
        (["a", "b"], "unexpected extra argument"),
        (["--repo-url", "file:///srv/models.git"], "[E723]"),
        (["--repo-url", "https://token@git.example/models.git"], "[E723]"),
        (["--repo-url", "https://git.example/my models.git"], "[E723]"),
        (["--branch", "refs/heads/main"], "[E761]"),
        (["--branch", "HEAD"], "[E761]"),
        (["--branch", "-x"], "[E761]"),
        (["--branch", "a.lock"], "[E761]"),
        (["--branch", 'x"]\n  evil: ["'], "[E761]"),
        (["--destination", "ftp://eu"], "[E763]"),
        (["--destination", "https://user:word@eu"], "[E763]"),
        (["--destination", "eu 1"], "[E763]"),
        (["--action", "acme/llmaz@"], "[E764]"),
        (["--action", "acme/llmaz@v1 # x"], "[E764]"),
        (["--namespace", "a" * 64], "[E721]"),
        (["--namespace", "llm/x"], "[E721]"),
        (["--gitops", "flux", "--secret", "A"], "[E721]"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_flags(words: list[str], message: str, folder: Path, llmaz: Llmaz) -> None:
    refused(llmaz("init", *words), message)
    assert list(folder.iterdir()) == []


def test_a_remote_that_no_cluster_reaches(folder: Path, llmaz: Llmaz) -> None:
    """Is no default; a password in its URL is not handed on."""
    git("init", "--quiet")
    git("remote", "add", "origin", "/srv/models.git")
    refused(llmaz("init", "new"), "'/srv/models.git' is not an address", "--repo-url")
    assert llmaz("init", "new", "--repo-url", URL).code == 0
    git("remote", "set-url", "origin", "https://me:word@git.example/team/models.git")
    assert llmaz("init", "other", "--ci", "none").code == 0
    assert URL in (folder / "other" / "bootstrap" / "root.yaml").read_text()
    assert not any("word@" in text for text in files(folder / "other").values())


def test_without_git(folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    assert llmaz("init", "new").code == 0


def test_a_detached_head(folder: Path, llmaz: Llmaz) -> None:
    git("init", "--quiet", "--initial-branch", "trunk")
    git("-c", "user.name=me", "-c", "user.email=me@example.com", "commit", "--quiet", "--allow-empty", "-m", "one")
    git("checkout", "--quiet", "--detach")
    assert llmaz("init", "--repo-url", URL).code == 0
    [root] = documents(folder / "bootstrap" / "root.yaml")
    assert root["spec"]["source"]["targetRevision"] == "main"


def test_through_a_link(folder: Path, tmp_path: Path, llmaz: Llmaz) -> None:
    """A folder of a repository that is reached from outside: its workflow lies at the repository's top."""
    repository = tmp_path / "repository"
    (repository / "teams").mkdir(parents=True)
    git("init", "--quiet", cwd=repository)
    (tmp_path / "link").symlink_to(repository / "teams")
    assert llmaz("init", "../link", "--repo-url", URL).code == 0
    assert (repository / ".github" / "workflows" / "llmaz.yml").is_file()
    [root] = documents(repository / "teams" / "bootstrap" / "root.yaml")
    assert root["spec"]["source"]["path"] == "teams/bootstrap/apps"


def test_nothing_floats_and_nothing_is_secret(folder: Path, llmaz: Llmaz) -> None:
    """In all that is rendered of it too; the chart has tests of its own."""
    floating = re.compile(r":latest\b|(?i:revision|ref|branch|tag|version): \"?(?:HEAD|latest|[*^~>])", re.MULTILINE)
    secret = re.compile(r"(?im)^\s*(?:password|token|api-?key|secret[-_ ]?key): \S")
    for i, words in enumerate((["--gitops", "flux"], ["--cpu-demo"], ["--ci", "gitlab"])):
        os.chdir(folder)
        llmaz("init", str(i), *words)
        os.chdir(folder / str(i))
        assert llmaz("render").code == 0
    texts = {path: text for path, text in files(folder).items() if "/platform/llmaz/" not in path}
    assert [path for path, text in texts.items() if floating.search(text) or secret.search(text)] == []
    for wrong in ("image: a:latest\n", "targetRevision: HEAD\n", 'version: "*"\n'):
        assert floating.search(wrong)
    assert secret.search("  apiKey: abc\n")


def test_every_flag_has_a_default() -> None:
    """So no question is asked."""
    from renderer.cli.init import init

    assert [option.name for option in init.params if option.required or getattr(option, "prompt", None)] == []


def test_the_room_is_shipped() -> None:
    assert {path.name for path in Path(FILES).iterdir()} == {
        "README.md", "argocd.md", "flux.md", "none.md", "cpu-demo.yaml", "gpu.yaml", "github.yml", "gitlab.yml",
    }  # fmt: skip
    assert set(scaffold.__all__) == {
        *("ACTION", "ScaffoldOptions", "commands", "contents"),
        *("missing", "scaffold_options", "top_level_entries", "write"),
    }
    assert load.PRESETS


# --- llmaz check ------------------------------------------------------------------------------------------------------

ENVIRONMENTS = """\
  environments:
    dev: {config: {gateway: {hostnames: [dev.example.com]}}}
    prod: {config: {gateway: {hostnames: [prod.example.com]}}}
"""


@pytest.mark.parametrize("environments", ["", ENVIRONMENTS], ids=["one", "environments"])
@pytest.mark.parametrize(
    "flags",
    ["", "--gitops flux", "--gitops none", "--ci gitlab", "--cpu-demo", "--gitops flux --ci gitlab --cpu-demo"],
)
def test_check_knows_what_init_wrote(flags: str, environments: str, folder: Path, llmaz: Llmaz) -> None:
    assert llmaz("init", *flags.split(), "--repo-url", URL).code == 0
    config = folder / "llmaz.yaml"
    config.write_text(config.read_text("utf-8") + environments)
    if environments:
        (folder / "bootstrap/apps/models.yaml").unlink(missing_ok=True)  # which is for one cluster
    checked = [llmaz("check", "."), llmaz("check", "--strict", ".")]
    assert llmaz("render").code == 0
    checked += [llmaz("check", "."), llmaz("check", "--strict", ".")]
    for done in checked:
        first, *rest = done.err.splitlines()
        assert (done.code, first[:11], len(rest)) == (0, "not checked", 1), done.err


def test_check_names_what_ignore_names_where_it_is_asked(folder: Path, llmaz: Llmaz) -> None:
    assert llmaz("init", "--repo-url", URL).code == 0
    names = ["argoproj.io/v1alpha1/Application (4 objects)", "platform/values.yaml", "platform/llmaz"]
    brief, verbose = llmaz("check", ".").err, llmaz("check", "-v", ".").err
    assert not any(name in brief for name in names)
    assert all(name in verbose for name in names)
    assert names[0] in llmaz("check", "bootstrap").err
    assert llmaz("check", "--strict", "bootstrap").code == 2


def test_check_takes_the_copy_of_a_file_that_is_passed_through(folder: Path, llmaz: Llmaz) -> None:
    assert llmaz("init", "--repo-url", URL).code == 0
    assert llmaz("render").code == 0
    copy = folder / "rendered/_extra/extra/namespaces.yaml"
    copy.write_text(copy.read_text("utf-8").replace("kind: Namespace", "kind: Namespace\nspec: {finalizers: 1}"))
    done = llmaz("check", ".")
    assert done.code == 2
    assert "rendered/_extra/extra/namespaces.yaml:" in done.err
    copy.unlink()
    assert llmaz("check", ".").code == 0


@pytest.mark.parametrize(
    ("engine", "command", "option"),
    [
        ("argocd", "argocd application", ["--destination-name", "{env}"]),
        ("flux", "flux kustomization", ["--env", "prod"]),
    ],
)
def test_environments_come_later(engine: str, command: str, option: list[str], folder: Path, llmaz: Llmaz) -> None:
    """The steps of docs/environments.md."""
    git("init", "-q", "-b", "main", cwd=folder)
    git("remote", "add", "origin", URL, cwd=folder)
    assert llmaz("init", "--gitops", engine).code == 0
    config = folder / "llmaz.yaml"
    config.write_text(config.read_text("utf-8") + ENVIRONMENTS)
    before = [llmaz("render").err, llmaz("check", ".").err]
    assert all("bootstrap/apps/models.yaml:" in err and "[W727]" in err for err in before)
    words = [*command.split(), "--revision", "main", *option]
    page = (ROOT / "docs" / "environments.md").read_text("utf-8")
    assert f"llmaz {' '.join(words)} >".replace("{env}", "'{env}'") in page
    (folder / "bootstrap/apps/models.yaml").write_text(llmaz(*words).out)
    assert "W727" not in llmaz("render").err
    done = llmaz("check", ".")
    assert (done.code, len(done.err.splitlines())) == (0, 2), done.err
