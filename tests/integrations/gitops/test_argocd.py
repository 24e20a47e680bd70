"""llmaz argocd: health checks run as Argo CD does, Applications that its CRDs take, and the plugin as Argo CD calls it.

`scripts/tools.sh healthlua` builds the program that runs the checks. Without it they are skipped, in CI they fail.
"""

from __future__ import annotations

import fnmatch
import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml

from renderer import __version__, schema_validation
from renderer.integrations.gitops import health, plugin
from tests.inputs import CONFIG
from tests.paths import ROOT, TESTS
from tests.programs import tool

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz

GOLDENS = TESTS / "data" / "argocd" / "expected"
URL = "https://git.example/team/models.git"
ENVIRONMENTS = CONFIG + "{environments: {dev: {config: {namespace: dev}}, prod: {config: {namespace: prod}}}}\n"
CODER = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: coder, namespace: code}
spec: {modelClaim: {modelName: qwen3-8b}, replicas: 2}
"""
CHAT = (ROOT / "examples" / "quickstart" / "chat.yaml").read_text("utf-8")


# --- health -----------------------------------------------------------------------------------------------------------


class Case(NamedTuple):
    """An object as a cluster holds it, and what Argo CD and Flux are to say of it."""

    kind: str
    name: str
    body: dict[str, Any]
    argocd: Mapping[str, str]
    flux: str

    @property
    def check(self) -> str:
        """The kind as argocd-cm writes it."""
        group, _, kind = self.kind.split("/")
        return f"{group}_{kind}"


def cases() -> list[Case]:
    """What stands in tests/data/argocd/health."""
    all_cases = []
    for file in sorted((TESTS / "data" / "argocd" / "health").glob("*.yaml")):
        document = yaml.safe_load(file.read_text("utf-8"))
        for case in document["cases"]:
            for of in document["kinds"]:
                version, _, kind = of.rpartition("/")
                body = {"apiVersion": version, "kind": kind, **case["object"]}
                all_cases.append(Case(of, case["name"], body, case["argocd"], case["flux"]))
    return all_cases


CASES = cases()


def lua(script: Path, bodies: Sequence[Any]) -> list[dict[str, str]]:
    """What the script says of each object."""
    stdin = "".join(json.dumps(body) + "\n" for body in bodies)
    done = subprocess.run([tool("healthlua"), script], input=stdin, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


@functools.cache
def verdicts() -> list[dict[str, str]]:
    """Of all cases, in their order."""
    answers: dict[int, dict[str, str]] = {}
    for check in {case.check for case in CASES}:
        which = [i for i, case in enumerate(CASES) if case.check == check]
        script = Path(health.path(health.CHECKS[check]))
        answers.update(zip(which, lua(script, [CASES[i].body for i in which]), strict=True))
    return [answers[i] for i in range(len(CASES))]


@pytest.mark.parametrize("i", range(len(CASES)), ids=lambda i: f"{CASES[i].check.partition('_')[2]}: {CASES[i].name}")
def test_health(i: int) -> None:
    assert verdicts()[i] == CASES[i].argocd


def test_cases_show_every_check_and_every_answer() -> None:
    assert {case.check for case in CASES} == set(health.CHECKS)
    for check in health.CHECKS:
        assert {"Healthy", "Progressing"} <= {case.argocd["status"] for case in CASES if case.check == check}
    assert {case.argocd["status"] for case in CASES} == {"Healthy", "Progressing", "Degraded", "Suspended"}


def test_every_file_of_a_check_is_used() -> None:
    assert {path.stem for path in Path(health.FOLDER).iterdir()} == set(health.CHECKS.values())


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("return 1", "expect table output from Lua script, not number"),
        ("return {status = 'Fine'}", "invalid health status"),
        ("return {status = io.open('/etc/passwd')}", "attempt to index a non-table object(nil) with key 'open'"),
        ("os.execute('id') return {}", "attempt to index a non-table object(nil) with key 'execute'"),
        ("return {status = string.upper('healthy')}", "attempt to index a non-table object(nil) with key 'upper'"),
        ("if obj.status.conditions then end return {}", "attempt to index a non-table object(nil)"),
        ("this is no Lua", "parse error"),
        ("while true do end", "context deadline exceeded"),
    ],
)
def test_the_program_refuses_what_argo_cd_refuses(script: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "check.lua").write_text(script)
    [answer] = lua(tmp_path / "check.lua", [{"metadata": {}}])
    assert message in answer["error"]


def test_the_program_runs_what_lua_5_1_refuses(tmp_path: Path) -> None:
    """Argo CD's own checks use goto."""
    (tmp_path / "check.lua").write_text("for _ = 1, 2 do goto on ::on:: end return {status = 'Healthy'}")
    assert lua(tmp_path / "check.lua", [{}]) == [{"status": "Healthy"}]


@pytest.mark.parametrize("form", ["configmap", "values"])
def test_health_is_printed(form: str, llmaz: Llmaz, golden: Golden) -> None:
    done = llmaz("argocd", "health", "--form", form)
    assert (done.code, done.err) == (0, "")
    golden(f"data/argocd/expected/health-{form}.yaml", done.out)
    [settings] = yaml.safe_load_all(done.out)
    data = settings["data"] if form == "configmap" else settings["configs"]["cm"]
    for kind, check in health.CHECKS.items():
        assert data[f"resource.customizations.health.{kind}"] == Path(health.path(check)).read_text("utf-8")
    [types] = [yaml.safe_load(text) for key, text in data.items() if "knownTypeFields" in key]
    assert {known["type"] for known in types} == {"core/v1/PodTemplateSpec"}
    for known in types:  # the fields are there, and hold pod templates
        body: Any = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "imag": "i"}]}}
        for part in reversed(known["field"].split(".")):
            body = {part: body}
        lws = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", **body}
        paths = [
            finding.path
            for finding in schema_validation.findings("output/leaderworkerset.x-k8s.io/leaderworkerset_v1", lws)
        ]
        assert (*known["field"].split("."), "spec", "containers", 0, "imag") in paths


# --- Applications -----------------------------------------------------------------------------------------------------


def documents(text: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(text))


@pytest.fixture
def written(folder: Path) -> Callable[[str], None]:
    """Writes the quickstart beside a RenderConfig."""

    def write(config: str) -> None:
        (folder / "chat.yaml").write_text(CHAT, "utf-8")
        if config:
            (folder / "llmaz.yaml").write_text(config, "utf-8")

    return write


PRINTED = {
    "application": ("", ["application"]),
    "application-elsewhere": (
        CONFIG + "{output: {dir: out/manifests}}\n",
        ["application", "--name", "models", "--revision", "release", "--project", "llm", "--destination-name", "eu-1"],
    ),
    "application-environments": (ENVIRONMENTS, ["application", "--destination-name", "{env}-cluster"]),
    "application-one-environment": (ENVIRONMENTS, ["application", "--env", "prod"]),
    "application-oci": (
        ENVIRONMENTS,
        ["application", "--env", "prod", "--repo-url", "oci://oci.example/models", "--path", ".", "--revision", "prod"],
    ),
    "applicationset": ("", ["applicationset"]),
    "applicationset-app-layout": (
        CONFIG + "{output: {layout: app}}\n",
        ["applicationset", "--create-namespaces", "--hand-over", "demo/chat"],
    ),
    "applicationset-environments": (
        ENVIRONMENTS,
        ["applicationset", "--destination-server", "https://{env}.example:6443", "--revision", "env/{env}"],
    ),
}


@pytest.mark.parametrize("name", PRINTED)
def test_applications(name: str, written: Callable[[str], None], llmaz: Llmaz, golden: Golden) -> None:
    config, words = PRINTED[name]
    written(config)
    done = llmaz("argocd", words[0], *([] if "--repo-url" in words else ["--repo-url", URL]), *words[1:])
    assert (done.code, done.err) == (0, "")
    golden(f"data/argocd/expected/{name}.yaml", done.out)
    bodies = documents(done.out)
    names = [(body["kind"], body["metadata"]["name"]) for body in bodies]
    assert len(set(names)) == len(names)
    assert "sync-wave" not in done.out
    for body in bodies:
        assert faults(body) == []


def faults(body: dict[str, Any]) -> list[str]:
    """What Argo CD's CRDs have against it."""
    import jsonschema

    schemas = json.loads((TESTS / "data" / "argocd-crds.json").read_text("utf-8"))
    messages = [error.message for error in jsonschema.Draft7Validator(schemas[body["kind"]]).iter_errors(body)]
    if body["kind"] == "ApplicationSet":  # its CRD leaves the template to that of Application
        template = {"apiVersion": body["apiVersion"], "kind": "Application", **body["spec"]["template"]}
        messages += faults(template)
    return messages


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda spec: spec["source"].update(recurse=True), "Additional properties are not allowed"),
        (lambda spec: spec["syncPolicy"]["retry"].update(limit="10"), "is not of type 'integer'"),
        (lambda spec: spec.pop("destination"), "'destination' is a required property"),
    ],
)
def test_the_schemas_refuse(
    change: Callable[[dict[str, Any]], Any], message: str, written: Callable[[str], None], llmaz: Llmaz
) -> None:
    written("")
    body = documents(llmaz("argocd", "application", "--repo-url", URL).out)[0]
    change(body["spec"])
    assert any(message in fault for fault in faults(body))


def test_goldens_are_all_made(superfluous: Callable[[Path, set[Path]], list[Path]]) -> None:
    names = [*PRINTED, "health-configmap", "health-values", "plugin-config", "plugin-patch"]
    expected = {GOLDENS / f"{name}.yaml" for name in names} | {GOLDENS / "Dockerfile"}
    assert superfluous(GOLDENS, expected) == []


def takes(pattern: str, path: str) -> bool:
    """Argo CD's glob of a directory: * is any text."""
    import re

    branches = pattern.strip("{}").split(",")
    return any(re.fullmatch(re.escape(branch).replace(r"\*", ".*"), path) for branch in branches)


@pytest.mark.parametrize("packed", [False, True], ids=["a route each", "packed"])
@pytest.mark.parametrize("layout", ["file", "app", "object"])
def test_every_rendered_file_is_of_one_application(layout: str, packed: bool, folder: Path, llmaz: Llmaz) -> None:
    """Whatever the layout, cluster-scoped files and passThrough included: nobody syncs a file twice, or none."""
    spec = f"{{namespace: llm, flavorPolicy: inftyai, output: {{layout: {layout}}}, passThrough: [extra/**]"
    spec += ", gateway: {routeLayout: packed}}\n" if packed else "}\n"
    (folder / "llmaz.yaml").write_text(CONFIG + spec, "utf-8")
    (folder / "chat.yaml").write_text(CHAT, "utf-8")
    (folder / "extra").mkdir()
    (folder / "extra" / "map.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: llm}\n")
    done = llmaz("render")
    assert done.code == 0, done.err
    files = [str(path.relative_to(folder / "rendered")) for path in (folder / "rendered").rglob("*.yaml")]
    assert {"_cluster.yaml", "_extra/extra/map.yaml"} < set(files)
    assert any("/_routes-" in file for file in files) == packed
    for command in ("application", "applicationset"):
        applications = documents(llmaz("argocd", command, "--repo-url", URL).out)
        for file in files:
            owners = [application["metadata"]["name"] for application in applications if owns(application, file)]
            assert len(owners) == 1, (command, file, owners)
            if owners == ["llmaz-shared"]:
                watched = applications[1]["metadata"]["annotations"][
                    "argocd.argoproj.io/manifest-generate-paths"
                ].split(";")
                assert any(fnmatch.fnmatch(file, pattern) or file.startswith(f"{pattern}/") for pattern in watched)


def owns(body: dict[str, Any], file: str) -> bool:
    """Whether the Application, or one that the set makes, syncs the file of the rendered tree."""
    if body["kind"] == "Application":
        directory = body["spec"]["source"]["directory"]
        return takes(directory.get("include", "*"), file) and not takes(directory.get("exclude", "_"), file)
    selected = []
    for entry in body["spec"]["generators"][0]["git"]["directories"]:
        below = entry["path"].removeprefix("rendered/").split("/")
        parts = file.split("/")[:-1][: len(below)]
        if len(parts) == len(below) and all(star in ("*", part) for star, part in zip(below, parts, strict=True)):
            selected.append(not entry.get("exclude"))
    return bool(selected) and all(selected)


def test_the_repository_and_the_folder_are_those_of_git(folder: Path, llmaz: Llmaz) -> None:
    (folder / "teams" / "a").mkdir(parents=True)
    (folder / "teams" / "a" / "llmaz.yaml").write_text(CONFIG + "{namespace: llm}\n")
    (folder / "teams" / "a" / "chat.yaml").write_text(CHAT)
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "remote", "add", "origin", "https://me:secret@git.example/team/models.git"], check=True)
    os.chdir(folder / "teams" / "a")
    done = llmaz("argocd", "application")
    assert done.code == 0, done.err
    source = documents(done.out)[0]["spec"]["source"]
    assert (source["repoURL"], source["path"]) == (URL, "teams/a/rendered")
    assert "secret" not in done.out


def test_two_environments_that_would_make_one_application(written: Callable[[str], None], llmaz: Llmaz) -> None:
    written(CONFIG + "{environments: {prod: {config: {}}, prod-shared: {config: {}}}}\n")
    done = llmaz("argocd", "application", "--repo-url", URL, "--destination-name", "{env}")
    assert done.code == 2
    assert "[E725]" in done.err


@pytest.mark.parametrize(("base", "dev", "prod"), [("app", "app", "file"), ("file", "app", "object")])
def test_each_environment_has_its_own_layout(
    base: str, dev: str, prod: str, folder: Path, written: Callable[[str], None], llmaz: Llmaz
) -> None:
    layers = [f"{name}: {{config: {{output: {{layout: {of}}}}}}}" for name, of in (("dev", dev), ("prod", prod))]
    written(CONFIG + f"{{output: {{layout: {base}}}, environments: {{{', '.join(layers)}}}}}\n")
    words = ["argocd", "applicationset", "--repo-url", URL]
    both = documents(llmaz(*words, "--destination-name", "{env}").out)
    assert llmaz("render").code == 0
    for name, of in (("dev", dev), ("prod", prod)):
        [alone] = [body for body in documents(llmaz(*words, "--env", name).out) if body["kind"] == "ApplicationSet"]
        [application_set] = [body for body in both if body["metadata"]["name"] == f"llmaz-{name}"]
        generators = application_set["spec"]["generators"]
        assert alone["spec"]["generators"] == generators
        path = generators[0]["git"]["directories"][0]["path"]
        assert path == f"rendered/{name}/*" + ("/*" if of == "app" else "")
        assert [child for child in folder.glob(path) if child.is_dir()]


def test_an_environment_whose_config_is_wrong(written: Callable[[str], None], llmaz: Llmaz) -> None:
    written(CONFIG + "{environments: {dev: {config: {output: {layout: flat}}}}}\n")
    done = llmaz("argocd", "applicationset", "--repo-url", URL)
    assert (done.code, done.out) == (2, "")
    assert "llmaz.yaml:4:" in done.err


EMPTY = ("destination-name", "destination-server", "repo-url", "path", "revision", "env", "hand-over")


@pytest.mark.parametrize("value", ["", " "])
@pytest.mark.parametrize("flag", EMPTY)
def test_a_flag_without_a_value(flag: str, value: str, written: Callable[[str], None], llmaz: Llmaz) -> None:
    """As of a variable that is not set: the default would be another cluster, or another commit."""
    written("")
    for command in ("application", "applicationset"):
        done = llmaz("argocd", command, *([] if flag == "repo-url" else ["--repo-url", URL]), f"--{flag}", value)
        assert (done.code, done.out) == (2, "")
        assert f"--{flag} has no value" in done.err


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("https://ghp_t0ken@git.example/m.git", "the URL holds a user, which may be a token"),
        ("HTTPS://ghp_t0ken@git.example/m.git", "the URL holds a user, which may be a token"),
        ("https://git.example/m.git?private_token=ghp_t0ken", "the URL holds a token"),
        ("ssh://me:ghp_t0ken@git.example/m.git", "the URL holds a password"),
        ("https://me:ghp_@t0ken@git.example/m.git", "the URL holds a password"),
        ("oci://oci.example/m:v1", "includes a version of the artifact"),
        ("oci://oci.example:5000/m@sha256:00", "includes a version of the artifact"),
    ],
)
def test_urls_that_hold_too_much(url: str, message: str, written: Callable[[str], None], llmaz: Llmaz) -> None:
    written("")
    done = llmaz("argocd", "application", "--repo-url", url)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert "t0ken" not in done.err


def test_urls_that_hold_no_secret(written: Callable[[str], None], llmaz: Llmaz) -> None:
    written("")
    urls = [
        "ssh://git@git.example/m.git",
        "git@git.example:m.git",
        "https://git.example:8443/a@b/m",
        "oci://o.e:5000/m",
    ]
    for url in urls:
        done = llmaz("argocd", "application", "--repo-url", url)
        assert (done.code, documents(done.out)[0]["spec"]["source"]["repoURL"]) == (0, url)


def test_an_artifact_is_read_as_the_recipe_pushes_it(written: Callable[[str], None], llmaz: Llmaz) -> None:
    """docs/flux.md: the folder's content, tagged live."""
    written(ENVIRONMENTS)
    words = ["argocd", "application", "--repo-url", "oci://oci.example/m", "--destination-name", "{env}"]
    sources = [body["spec"]["source"] for body in documents(llmaz(*words).out)]
    assert [source["path"] for source in sources] == ["dev", "dev", "prod", "prod"]
    assert {source["targetRevision"] for source in sources} == {"live"}
    written(CONFIG + "{namespace: llm}\n")
    source = documents(llmaz(*words[:4]).out)[0]["spec"]["source"]
    assert (source["path"], source["targetRevision"]) == (".", "live")


def test_who_is_handed_over_is_there(written: Callable[[str], None], llmaz: Llmaz) -> None:
    written("")
    words = ["argocd", "application", "--repo-url", URL, "--hand-over"]
    done = llmaz(*words, "demo/chta")
    assert (done.code, done.out) == (2, "")
    assert "'demo/chta' is not rendered from this input [E723]\n    hint: did you mean 'demo/chat'?" in done.err
    assert llmaz(*words, "llm/chat").code == 2
    assert llmaz(*words, "demo/chat").code == 0
    assert llmaz(*words, "demo/chat-l4").code == 0  # a variant


def test_a_deployment_is_handed_over(folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(CHAT + "  workload: {kind: Deployment}\n", "utf-8")
    words = ["argocd", "application", "--repo-url", URL, "--hand-over"]
    for name in ("demo/chat", "demo/chat-l4"):
        (ignored,) = documents(llmaz(*words, name).out)[0]["spec"]["ignoreDifferences"]
        assert (ignored["group"], ignored["kind"]) == ("apps", "Deployment")


def test_a_hand_over_without_input(folder: Path, llmaz: Llmaz) -> None:
    words = ["argocd", "application", "--repo-url", URL, "--hand-over", "demo/chat"]
    assert llmaz(*words).code == 0
    (folder / "chat.yaml").write_text(CHAT.replace("modelName:", "modelNme:"), "utf-8")
    assert llmaz(*words).code == 0


def test_one_destination_or_the_other(written: Callable[[str], None], llmaz: Llmaz) -> None:
    written("")
    done = llmaz("argocd", "application", "--destination-name", "a", "--destination-server", "https://b")
    assert (done.code, done.out) == (2, "")
    assert "cannot be used together" in done.err


# --- the plugin -------------------------------------------------------------------------------------------------------


def called(folder: Path, path: str, *words: str, **environment: str) -> tuple[int, bytes, str]:
    """Runs a command of the plugin as Argo CD does: in the Application's folder of a copy. `path`: that folder."""
    around = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "ARGOCD_APP_NAME": "llmaz",
        "ARGOCD_APP_SOURCE_PATH": path,
        "KUBE_VERSION": "1.36.3",
        **environment,
    }
    done = subprocess.run(
        [sys.executable, "-m", "renderer", *words], cwd=folder / path, env=around, capture_output=True, check=False
    )
    return done.returncode, done.stdout, done.stderr.decode()


GENERATE = ("argocd", "generate")


def joined(folder: Path) -> bytes:
    """The files below a folder, in the order of their paths."""
    files = sorted(path for path in folder.rglob("*.yaml"))
    assert files
    return b"---\n".join(
        file.read_bytes() for file in sorted(files, key=lambda path: path.relative_to(folder).as_posix())
    )


def repository(folder: Path, config: str | None) -> None:
    """A repository whose models lie in teams/a."""
    models = folder / "teams" / "a"
    models.mkdir(parents=True)
    (models / "chat.yaml").write_text(CHAT)
    (models / "more").mkdir()
    (models / "more" / "coder.yaml").write_text(CODER)
    if config is not None:
        (models / "llmaz.yaml").write_text(config)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)


@pytest.mark.parametrize(
    "config", [None, CONFIG + "{namespace: llm, gateway: {mode: backend}, flavorPolicy: inftyai}\n"]
)
@pytest.mark.parametrize("bare", [True, False], ids=["without .git", "with .git"])
def test_generate_prints_the_bytes_of_the_files(
    config: str | None, bare: bool, folder: Path, tmp_path: Path, llmaz: Llmaz
) -> None:
    repository(folder, config)
    os.chdir(folder / "teams" / "a")
    done = llmaz("render")
    assert done.code == 0, done.err
    copy = tmp_path / "_cmp_server" / "9d1f"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(".git", "rendered") if bare else None)
    code, out, err = called(copy, "teams/a", *GENERATE)
    assert (code, err) == (0, "")
    assert out == joined(Path.cwd() / done.folder)
    assert b"# Rendered by llmaz from " + (b"chat.yaml" if config else b"teams/a/chat.yaml") in out


def test_generate_at_the_top_and_again(folder: Path, llmaz: Llmaz) -> None:
    """The path is `.`, and what is rendered in the repository already does not matter."""
    (folder / "chat.yaml").write_text(CHAT)
    (folder / "llmaz.yaml").write_text(CONFIG + "{namespace: llm}\n")
    assert llmaz("render").code == 0
    first, second = called(folder, ".", *GENERATE), called(folder, ".", *GENERATE)
    assert first == second == (0, joined(folder / "rendered"), "")


def test_generate_where_the_path_is_a_link(folder: Path, llmaz: Llmaz) -> None:
    repository(folder, CONFIG + "{namespace: llm}\n")
    (folder / "live").symlink_to("teams/a")
    os.chdir(folder / "teams" / "a")
    assert llmaz("render").code == 0
    assert called(folder, "live", *GENERATE) == (0, joined(folder / "teams" / "a" / "rendered"), "")


def test_generate_of_an_environment(folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(CHAT)
    (folder / "llmaz.yaml").write_text(ENVIRONMENTS)
    assert llmaz("render").code == 0
    parameters = json.dumps([{"name": "environment", "string": "prod"}])
    by_parameter = called(folder, ".", *GENERATE, ARGOCD_APP_PARAMETERS=parameters, PARAM_ENVIRONMENT="prod")
    by_variable = called(folder, ".", *GENERATE, ARGOCD_ENV_LLMAZ_ENVIRONMENT="prod", ARGOCD_APP_PARAMETERS="null")
    assert by_parameter == by_variable == (0, joined(folder / "rendered" / "prod"), "")
    assert called(folder, ".", *GENERATE, ARGOCD_ENV_LLMAZ_ENVIRONMENT="dev")[1] == joined(folder / "rendered" / "dev")
    code, out, err = called(folder, ".", *GENERATE)
    assert (code, out) == (2, b"")
    assert "[E756]" in err
    code, out, err = called(folder, ".", *GENERATE, LLMAZ_ENVIRONMENT="prod")  # it lacks the prefix
    assert (code, out) == (2, b"")


def test_generate_with_overrides(folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(CHAT)
    parameters = json.dumps([{"name": "set", "array": ["hardening=off", "schedulerName=mine"]}])
    code, out, err = called(folder, ".", *GENERATE, ARGOCD_APP_PARAMETERS=parameters)
    assert (code, err) == (0, "")
    assert out.decode() == llmaz("render", "--stdout", "--set", "hardening=off", "--set", "schedulerName=mine").out


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("[{", "it is not JSON"),
        ('{"environment": "prod"}', "not a list of parameters"),
        ('["prod"]', "not a list of parameters"),
        ('[{"name": "enviroment", "string": "prod"}]', "there is no parameter 'enviroment', only environment and set"),
        ('[{"name": "environment", "string": 1}]', "the parameter 'environment' holds 1, which is not a string"),
        ('[{"name": "set", "array": "a=b"}]', "the parameter 'set' is not an array"),
        ('[{"name": "set", "string": "a=b"}]', "the parameter 'set' is given as string, where array is expected"),
        ('[{"name": "set", "map": {"a": "b"}}]', "the parameter 'set' is given as map, where array is expected"),
        ('[{"name": "set", "array": ["a=b"], "map": {"a": "b"}}]', "'set' is given as map, where array is expected"),
        ('[{"name": "environment", "array": []}]', "'environment' is given as array, where string is expected"),
        ('[{"name": "environment", "map": {}}]', "'environment' is given as map, where string is expected"),
        ('[{"name": "set", "array": []}, {"name": "set", "array": ["a=b"]}]', "the parameter 'set' is there twice"),
    ],
)
def test_parameters_that_are_wrong(parameters: str, message: str, folder: Path) -> None:
    (folder / "chat.yaml").write_text(CHAT)
    code, out, err = called(folder, ".", *GENERATE, ARGOCD_APP_PARAMETERS=parameters)
    assert (code, out) == (2, b"")
    assert message in err
    assert "[E726]" in err


@pytest.mark.parametrize("path", ["teams/b", "/etc", "../here", "re"])
def test_a_path_that_is_not_the_end_of_the_folder(path: str, folder: Path) -> None:
    (folder / "chat.yaml").write_text(CHAT)
    code, out, err = called(folder, ".", *GENERATE, ARGOCD_APP_SOURCE_PATH=path)
    assert (code, out) == (2, b"")
    assert "is not the end of the current folder" in err
    assert "[E726]" in err


def test_a_fault_of_the_input_prints_nothing(folder: Path) -> None:
    (folder / "chat.yaml").write_text(CHAT.replace("modelName:", "modelNme:"))
    code, out, err = called(folder, ".", *GENERATE)
    assert (code, out) == (2, b"")
    assert "chat.yaml:" in err


def test_nothing_to_print_is_an_error(folder: Path) -> None:
    (folder / "notes").mkdir()
    code, out, err = called(folder, "notes", *GENERATE)
    assert (code, out) == (2, b"")
    assert "[E123]" in err


def test_parameters_are_announced(folder: Path) -> None:
    (folder / "llmaz.yaml").write_text(CONFIG + "{namespace: llm}\n")
    code, out, err = called(folder, ".", "argocd", "parameters", ARGOCD_APP_PARAMETERS="[{")
    assert (code, err) == (0, "")
    parameters = json.loads(out)
    assert [parameter["name"] for parameter in parameters] == ["environment", "set"]
    assert [parameter["required"] for parameter in parameters if parameter["name"] == "environment"] == [False]
    (folder / "llmaz.yaml").write_text(ENVIRONMENTS)
    [first, _] = json.loads(called(folder, ".", "argocd", "parameters")[1])
    assert (first["name"], first["tooltip"], first["required"]) == ("environment", "one of dev, prod", True)


@pytest.mark.parametrize("part", ["config", "patch", "dockerfile"])
def test_plugin_is_printed(part: str, llmaz: Llmaz, golden: Golden) -> None:
    more = ["--image", "registry.example/llmaz-plugin@sha256:" + "0" * 64] if part == "patch" else []
    done = llmaz("argocd", "plugin", part, *more)
    assert (done.code, done.err) == (0, "")
    golden(f"data/argocd/expected/{'Dockerfile' if part == 'dockerfile' else f'plugin-{part}.yaml'}", done.out)


def test_the_commands_of_the_plugin_are_ours(llmaz: Llmaz) -> None:
    spec: Any = plugin.config()["spec"]
    assert "discover" not in spec  # else Argo CD asks it of named plugins too
    for step in (spec["generate"], spec["parameters"]["dynamic"]):
        assert step["command"][0] == "llmaz"
        assert llmaz(*step["command"][1:], "--help").code == 0


def test_patch_names_the_image_of_this_version(llmaz: Llmaz) -> None:
    [body] = documents(llmaz("argocd", "plugin", "patch").out)
    [container] = body["spec"]["template"]["spec"]["containers"]
    assert container["image"] == plugin.IMAGE
    assert plugin.IMAGE.endswith(f":{__version__}")
    done = llmaz("argocd", "plugin", "patch", "--image", "")
    assert (done.code, done.out) == (2, "")
    assert "--image has no value" in done.err


def test_pages_name_our_image() -> None:
    repository = plugin.IMAGE.partition(":")[0]
    for page in ("argocd.md", "gitlab.md"):
        text = (ROOT / "docs" / page).read_text("utf-8")
        assert f"{repository}:{__version__}" in text, page


def test_the_patch_makes_a_pod(llmaz: Llmaz) -> None:
    """What it adds; the volumes that the repo-server has already are given."""
    [body] = documents(llmaz("argocd", "plugin", "patch", "--image", "i").out)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": body["spec"]["template"]["spec"]}
    assert schema_validation.findings("output/core/pod_v1", pod) == []
    mounted = {mount["name"] for mount in pod["spec"]["containers"][0]["volumeMounts"]}
    assert mounted - {volume["name"] for volume in pod["spec"]["volumes"]} == {"var-files", "plugins"}


def test_the_page_shows_a_source_that_argo_cd_takes() -> None:
    """docs/argocd.md: a plugin's source, with parameters that there are."""
    page = (ROOT / "docs" / "argocd.md").read_text("utf-8")
    [block] = [text for text in page.split("```yaml\n")[1:] if text.lstrip().startswith("source:")]
    source = yaml.safe_load(block.partition("```")[0])["source"]
    body = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": "models"},
        "spec": {"project": "llm", "source": source, "destination": {"name": "eu"}},
    }
    assert faults(body) == []
    config: Any = plugin.config()
    assert source["plugin"]["name"] == config["metadata"]["name"]
    parameters = source["plugin"]["parameters"]
    assert [parameter["name"] for parameter in parameters] == [parameter["name"] for parameter in plugin.parameters(())]
    call = plugin.parse_call({"ARGOCD_APP_PARAMETERS": json.dumps(parameters)}, "/repository")
    assert (call.environment, call.overrides) == ("prod", ("gateway.mode=off",))
