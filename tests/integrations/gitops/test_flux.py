"""llmaz flux: objects that Flux' CRDs take, and health checks that say what those of Argo CD say."""

from __future__ import annotations

import functools
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from renderer.integrations.gitops import flux, health
from tests.inputs import CONFIG
from tests.integrations.gitops.test_argocd import CASES, CHAT, ENVIRONMENTS, URL, Case
from tests.paths import TESTS

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz

GOLDENS = TESTS / "data" / "flux" / "expected"
# Its older controllers write no status, and no expression of Flux' can tell that from one that is not there yet.
ONLY_OF_ARGO_CD = {"disaggregatedset.x-k8s.io_DisaggregatedSet"}
CHECKED = [case for case in CASES if case.check not in ONLY_OF_ARGO_CD]
SAYS = {"Healthy": "Current", "Suspended": "Current", "Progressing": "InProgress", "Degraded": "Failed"}


# --- health -----------------------------------------------------------------------------------------------------------


@functools.cache
def environment() -> Any:
    """CEL as Flux has it, as far as our checks go: the object's fields are variables, nothing has a type."""
    from cel_expr_python import cel  # type: ignore[import-untyped]

    return cel.NewEnv(variables=dict.fromkeys(("metadata", "spec", "status"), cel.Type.DYN))


def holds(expression: str, body: dict[str, Any]) -> bool:
    """Whether it is true. What cannot be evaluated is not: Flux asks again then."""
    data = {name: body[name] for name in ("metadata", "spec", "status") if name in body}
    try:
        return environment().compile(expression).eval(data=data).value() is True
    except RuntimeError:
        return False


def verdict(body: dict[str, Any]) -> str:
    """What Flux makes of an object, in the order of its StatusEvaluator."""
    group = body["apiVersion"].partition("/")[0]
    [check] = [
        candidate
        for candidate in flux.CHECKS
        if (candidate["apiVersion"].partition("/")[0], candidate["kind"]) == (group, body["kind"])
    ]
    observed = body.get("status", {}).get("observedGeneration")
    if observed is not None and observed != body["metadata"].get("generation", observed):
        return "InProgress"
    for key, status in (("inProgress", "InProgress"), ("failed", "Failed"), ("current", "Current")):
        if key in check and holds(check[key], body):
            return status
    return "InProgress"


@pytest.mark.parametrize("case", CHECKED, ids=lambda case: f"{case.kind.rpartition('/')[2]}: {case.name}")
def test_health(case: Case) -> None:
    assert verdict(case.body) == case.flux


@pytest.mark.parametrize("case", CHECKED, ids=lambda case: f"{case.kind.rpartition('/')[2]}: {case.name}")
def test_flux_and_argo_cd_agree(case: Case) -> None:
    """Flux knows no Suspended: what waits on purpose is done."""
    assert case.flux == SAYS[case.argocd["status"]]


def test_both_check_the_same_kinds() -> None:
    checked = {f"{check['apiVersion'].partition('/')[0]}_{check['kind']}" for check in flux.CHECKS}
    assert checked == set(health.CHECKS) - ONLY_OF_ARGO_CD


@pytest.mark.parametrize("check", flux.CHECKS, ids=lambda check: check["kind"])
def test_expressions_can_be_evaluated(check: dict[str, Any]) -> None:
    """With whatever a controller may leave out below status: an error would look like waiting."""
    bodies: list[dict[str, Any]] = [
        {"metadata": {}, "status": {}},
        {"metadata": {}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}},
        {"metadata": {"generation": 1}, "status": {"conditions": [], "parents": []}},
        {"metadata": {"generation": 1}, "status": {"parents": [{}, {"parentRef": {}}, {"conditions": []}]}},
    ]
    for body in bodies:
        for key in ("failed", "current"):
            if key in check:
                assert environment().compile(check[key]).eval(data=body).value() is False


# --- what is printed --------------------------------------------------------------------------------------------------

PRINTED = {
    "kustomization": ("", ["--repo-url", URL]),
    "kustomization-elsewhere": (
        CONFIG + "{output: {dir: out/manifests}}\n",
        ["--repo-url", "git@git.example:team/models.git", "--secret", "key", "--name", "models", "--revision", "live"],
    ),
    "kustomization-environments": (ENVIRONMENTS, ["--repo-url", URL, "--env", "dev", "--env", "prod"]),
    "kustomization-branches": (
        ENVIRONMENTS,
        ["--repo-url", URL, "--env", "dev", "--env", "prod", "--revision", "env/{env}"],
    ),
    "kustomization-oci": (
        ENVIRONMENTS,
        ["--repo-url", "oci://oci.example/models", "--env", "prod", "--path", ".", "--revision", "prod"],
    ),
    "kustomization-tag": ("", ["--repo-url", URL, "--revision", "refs/tags/v1"]),
    "kustomization-commit": ("", ["--repo-url", URL, "--revision", "0123456789abcdef0123456789abcdef01234567"]),
}


def faults(body: dict[str, Any]) -> list[str]:
    """What Flux' CRDs have against it."""
    import jsonschema

    schemas = json.loads((TESTS / "data" / "flux-crds.json").read_text("utf-8"))
    return [error.message for error in jsonschema.Draft7Validator(schemas[body["kind"]]).iter_errors(body)]


@pytest.mark.parametrize("name", PRINTED)
def test_kustomizations(name: str, folder: Path, llmaz: Llmaz, golden: Golden) -> None:
    config, words = PRINTED[name]
    (folder / "chat.yaml").write_text(CHAT, "utf-8")
    if config:
        (folder / "llmaz.yaml").write_text(config, "utf-8")
    done = llmaz("flux", "kustomization", *words)
    assert (done.code, done.err) == (0, "")
    golden(f"data/flux/expected/{name}.yaml", done.out)
    bodies = list(yaml.safe_load_all(done.out))
    there = {(body["kind"], body["metadata"]["name"]) for body in bodies}
    assert len(there) == len(bodies)
    for body in bodies:
        assert faults(body) == []
        if body["kind"] == "Kustomization":
            assert (body["spec"]["sourceRef"]["kind"], body["spec"]["sourceRef"]["name"]) in there


def test_the_schemas_refuse(folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(CHAT, "utf-8")
    source, kustomization = yaml.safe_load_all(llmaz("flux", "kustomization", "--repo-url", URL).out)
    source["spec"]["url"] = "git@git.example:team/models.git"
    kustomization["spec"]["healthCheckExprs"][0].pop("current")
    assert "does not match" in faults(source)[0]
    assert faults(kustomization) == ["'current' is a required property"]


def test_goldens_are_all_made(superfluous: Callable[[Path, set[Path]], list[Path]]) -> None:
    assert superfluous(GOLDENS, {GOLDENS / f"{name}.yaml" for name in PRINTED}) == []


def test_the_path_is_that_of_git(folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(CHAT, "utf-8")
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "remote", "add", "origin", URL], check=True)
    source, kustomization = yaml.safe_load_all(llmaz("flux", "kustomization").out)
    assert (source["spec"]["url"], kustomization["spec"]["path"]) == (URL, "./rendered")


def test_flux_reads_every_file_below_the_path(folder: Path, llmaz: Llmaz) -> None:
    """One file that is not an object would stop all of them."""
    (folder / "llmaz.yaml").write_text(CONFIG + "{namespace: llm, flavorPolicy: inftyai}\n")
    (folder / "chat.yaml").write_text(CHAT, "utf-8")
    assert llmaz("render").code == 0
    files = [path for path in (folder / "rendered").rglob("*") if path.is_file()]
    assert files
    for path in files:
        for body in yaml.safe_load_all(path.read_text("utf-8")):
            assert {"apiVersion", "kind", "metadata"} <= set(body)


@pytest.mark.parametrize(
    ("revision", "ref"),
    [
        ("v1.0.0", {"tag": "v1.0.0"}),
        ("1.2.3-rc.1+build", {"tag": "1.2.3-rc.1+build"}),
        ("v1", {"branch": "v1"}),
        ("v1.2", {"branch": "v1.2"}),
        ("release/v1.0.0", {"branch": "release/v1.0.0"}),
        ("refs/heads/v1.0.0", {"name": "refs/heads/v1.0.0"}),
        ("refs/tags/live", {"name": "refs/tags/live"}),
        ("a" * 40, {"commit": "a" * 40}),
        ("a" * 39, {"branch": "a" * 39}),
    ],
)
def test_what_a_revision_is(revision: str, ref: dict[str, str], folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(CHAT, "utf-8")
    source, _ = yaml.safe_load_all(llmaz("flux", "kustomization", "--repo-url", URL, "--revision", revision).out)
    assert source["spec"]["ref"] == ref
    assert faults(source) == []


def test_head_is_no_revision(folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(CHAT, "utf-8")
    done = llmaz("flux", "kustomization", "--repo-url", URL, "--revision", "HEAD")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "--revision: 'HEAD' cannot be used with Flux [E723]\n    hint: name a branch, a tag or a commit\n1 error\n"
    )


@pytest.mark.parametrize("flag", ["repo-url", "path", "revision", "env"])
def test_a_flag_without_a_value(flag: str, folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(CHAT, "utf-8")
    words = [] if flag == "repo-url" else ["--repo-url", URL]
    done = llmaz("flux", "kustomization", *words, f"--{flag}", "")
    assert (done.code, done.out) == (2, "")
    assert f"--{flag} has no value" in done.err


def test_an_artifact_is_read_as_the_recipe_pushes_it(folder: Path, llmaz: Llmaz) -> None:
    """docs/flux.md: the folder's content, tagged live."""
    (folder / "chat.yaml").write_text(CHAT, "utf-8")
    source, kustomization = yaml.safe_load_all(llmaz("flux", "kustomization", "--repo-url", "oci://oci.example/m").out)
    assert (source["spec"]["ref"], kustomization["spec"]["path"]) == ({"tag": "live"}, "./")


def test_a_cluster_gets_one_environment(folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(CHAT, "utf-8")
    (folder / "llmaz.yaml").write_text(ENVIRONMENTS, "utf-8")
    done = llmaz("flux", "kustomization", "--repo-url", URL)
    assert (done.code, done.out) == (2, "")
    assert "[E756]" in done.err
