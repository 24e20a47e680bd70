"""Workflows and hooks that people copy: what they may do, and that they do it.

`scripts/tools.sh actionlint` builds the judge of workflows; without it its tests are skipped, in CI they fail.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.action.github import ROOT, Repository
from tests.programs import tool

ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
TEMPLATES = sorted((ROOT / "docs" / "workflows").glob("*.yml"))


def test_actionlint_is_content() -> None:
    files = [*(ROOT / ".github" / "workflows").glob("*.yml"), *(path for path in TEMPLATES if path.stem != "gitlab-ci")]
    done = subprocess.run(
        [tool("actionlint"), "-no-color", "-shellcheck=", "-pyflakes=", *files],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_actionlint_would_say_no(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "workflows" / "llmaz.yml").read_text("utf-8")
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(text.replace("runs-on:", "run-on:"))
    assert wrong.read_text() != text
    assert subprocess.run([tool("actionlint"), wrong], capture_output=True, check=False).returncode == 1


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_a_template_is_careful(template: Path) -> None:
    """Rights are named, other actions are pinned by commit, and forks' code never gets a token that may write."""
    text = template.read_text("utf-8")
    parsed = yaml.safe_load(text)
    assert "pull_request_target" not in text
    if template.stem == "gitlab-ci":
        return
    assert parsed["permissions"] == {} or set(parsed["permissions"].values()) == {"read"}
    assert all("permissions" in job for job in parsed["jobs"].values())
    if any("run" in step for job in parsed["jobs"].values() for step in job["steps"]):
        assert parsed["defaults"] == {"run": {"shell": "bash"}}  # unsaid, the runner's bash has no pipefail
    for used in re.findall(r"uses: (\S+)(?: # (v[\d.]+))?", text):
        assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", used[0]) or used[0] == "OWNER/llmaz-renderer@REF", used
    for step in (step for job in parsed["jobs"].values() for step in job["steps"]):
        inputs = step.get("with", {})
        if "actions/checkout@" in step.get("uses", "") and "persist-credentials" not in inputs:
            assert template.stem in ("commit", "upgrade", "engine-upgrade"), "only who pushes needs them"


def test_the_release_is_careful() -> None:
    """As a template; only the jobs that push, upload or publish may write, each to one thing."""
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    parsed = yaml.safe_load(text)
    assert parsed["permissions"] == {}
    assert parsed["defaults"] == {"run": {"shell": "bash"}}
    writes = {
        name: {right for right, access in job["permissions"].items() if access == "write"}
        - {"id-token", "attestations"}
        for name, job in parsed["jobs"].items()
    }
    assert writes == {"build": set(), "image": set(), "push": {"packages"}, "pypi": set(), "github": {"contents"}}
    assert [used for used in re.findall(r"uses: (\S+)", text) if not re.search(r"@[0-9a-f]{40}$", used)] == []
    for step in (step for job in parsed["jobs"].values() for step in job["steps"]):
        assert "actions/checkout@" not in step.get("uses", "") or step["with"]["persist-credentials"] is False
        assert not re.search(r"\$\{\{ (?!matrix\.)", step.get("run", ""))


def inputs_of(template: Path) -> set[str]:
    parsed = yaml.safe_load(template.read_text("utf-8"))
    steps = [step for job in parsed.get("jobs", {}).values() for step in job["steps"]]
    return {key for step in steps if step.get("uses", "").startswith("OWNER/") for key in step.get("with", {})}


def test_templates_use_inputs_that_are_there() -> None:
    used: set[str] = set().union(*map(inputs_of, TEMPLATES))
    assert used
    assert used <= set(ACTION["inputs"])


def test_pages_show_the_templates() -> None:
    """Word by word, to be copied from either."""
    shown = "".join((ROOT / "docs" / page).read_text("utf-8") for page in ("github.md", "gitlab.md", "upgrade.md"))
    assert len(TEMPLATES) == 6
    assert [path.name for path in TEMPLATES if f"```yaml\n{path.read_text('utf-8')}```\n" not in shown] == []


def steps_of(name: str) -> list[str]:
    """The scripts of a template, in order."""
    parsed = yaml.safe_load((ROOT / "docs" / "workflows" / name).read_text("utf-8"))
    return [step["run"] for job in parsed["jobs"].values() for step in job["steps"] if "run" in step]


def bash(script: str, folder: Path, **variables: str) -> tuple[int, str]:
    """A script as the runner runs a step."""
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_commit_renders_and_pushes(repository: Repository, tmp_path: Path) -> None:
    (script,) = steps_of("commit.yml")
    origin, clone = tmp_path / "origin.git", tmp_path / "clone"
    repository.change("8192", "4096")
    repository.add("more")
    repository.git("switch", "--quiet", "--create", "to/pic'$(touch${IFS}evil)")
    source = repository.commit("not rendered")
    branch = repository.git("branch", "--show-current")
    repository.git("clone", "--quiet", "--bare", str(repository.folder), str(origin))
    repository.git("clone", "--quiet", "--branch", branch, str(origin), str(clone))
    repository.git("-C", str(clone), "checkout", "--quiet", "--detach")  # as a checkout of head.sha is
    code, output = bash(script, clone, BRANCH=branch)
    assert code == 0, output
    assert not (clone / "evil").exists()
    repository.git("fetch", "--quiet", str(origin), branch)
    assert repository.git("log", "-1", "--format=%P %an %s %(trailers)", "FETCH_HEAD").split("\n")[0] == (
        f"{source} github-actions[bot] Render Rendered-from: {source}"
    )
    changed = repository.git("diff", "--name-only", source, "FETCH_HEAD").split()
    assert changed == ["rendered/demo/chat.yaml", "rendered/demo/more.yaml"]
    tip = repository.git("rev-parse", "FETCH_HEAD")
    assert bash(script, clone, BRANCH=branch)[0] == 0  # nothing to do
    repository.git("fetch", "--quiet", str(origin), branch)
    assert repository.git("rev-parse", "FETCH_HEAD") == tip


def test_commit_never_overwrites(repository: Repository, tmp_path: Path) -> None:
    """Somebody pushed meanwhile."""
    (script,) = steps_of("commit.yml")
    origin, clone = tmp_path / "origin.git", tmp_path / "clone"
    repository.change("8192", "4096")
    repository.commit("not rendered")
    repository.git("clone", "--quiet", "--bare", str(repository.folder), str(origin))
    repository.git("clone", "--quiet", str(origin), str(clone))
    repository.change("4096", "2048")
    newer = repository.commit("meanwhile")
    repository.git("push", "--quiet", str(origin), "main")
    code, output = bash(script, clone, BRANCH="main")
    assert code == 1
    assert "rejected" in output
    assert repository.git("ls-remote", str(origin), "main").split()[0] == newer


GH = """\
#!/bin/sh
printf '%s\\n' "$*" >>"$GH_LOG"
[ "$2" != list ] || cat "$GH_COUNT"
"""
LLMAZ = """\
#!/bin/sh
case "$1" in
  --version) echo "llmaz 0.2.0" ;;
  diff) echo "$*" ;;
  *) exec "{python}" -m renderer "$@" ;;
esac
"""


@pytest.mark.parametrize("environments", ["", "dev prod"])
def test_the_pull_request_of_an_upgrade(
    environments: str, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is opened once, and then edited; its text is the difference of each environment."""
    _, script = steps_of("upgrade.yml")
    folder, origin, programs = repository.folder, tmp_path / "origin.git", tmp_path / "programs"
    programs.mkdir()
    for name, text in (("gh", GH), ("llmaz", LLMAZ.format(python=sys.executable))):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    (folder / "requirements.txt").write_text("other==1\nllmaz-renderer==0.1.0\n")
    rendered = folder / "rendered" / "demo" / "chat.yaml"
    golden = rendered.read_text("utf-8")
    rendered.write_text(golden.replace("8192", "4096"), "utf-8")  # as the older version rendered it
    repository.commit("older")
    repository.git("clone", "--quiet", "--bare", str(folder), str(origin))
    repository.git("remote", "add", "origin", str(origin))
    log, count = tmp_path / "gh.log", tmp_path / "count"
    variables = {"RUNNER_TEMP": str(tmp_path), "GH_LOG": str(log), "GH_COUNT": str(count), "ENVIRONMENTS": environments}
    for answer in ("0\n", "1\n"):
        count.write_text(answer)
        code, output = bash(script, folder, **variables)
        assert code == 0, output
        changed = repository.git("diff", "--name-only", "HEAD~1", "HEAD").split()
        assert changed == ["rendered/demo/chat.yaml", "requirements.txt"]
        assert (folder / "requirements.txt").read_text() == "other==1\nllmaz-renderer==0.2.0\n"
        assert rendered.read_text("utf-8") == golden
        assert repository.git("rev-parse", "HEAD") == repository.git("ls-remote", str(origin), "llmaz-0.2.0").split()[0]
        repository.git("reset", "--quiet", "--hard", "HEAD~1")
    calls = [line.split(" --")[0] for line in log.read_text().splitlines()]
    assert calls == ["pr list", "pr create", "pr list", "pr edit llmaz-0.2.0"]
    words = [f"diff --llmaz 0.1.0{name and ' --env '}{name} --format markdown" for name in environments.split() or [""]]
    assert (tmp_path / "upgrade.md").read_text().splitlines()[1:] == words
    (folder / "requirements.txt").write_text("llmaz-renderer==0.2.0\n")
    log.unlink()
    assert bash(script, folder, **variables)[0] == 0
    assert not log.exists()


APP = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {{name: gpu, namespace: demo}}
spec:
  modelClaim: {{modelName: qwen3-8b}}
  backendRuntimeConfig:
    version: {tag} # of all
    args: [{args}]
"""


@pytest.mark.parametrize(("args", "is_left"), [("--guided-decoding-backend=auto", False), ("--swap-space=4", True)])
def test_the_pull_request_of_a_new_engine(
    args: str, is_left: bool, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the text of the upgrade; what is left to people breaks its checks, and opens it all the same."""
    _, script = steps_of("engine-upgrade.yml")
    folder, origin, programs = repository.folder, tmp_path / "origin.git", tmp_path / "programs"
    programs.mkdir()
    for name, text in (("gh", GH), ("llmaz", f'#!/bin/sh\nexec "{sys.executable}" -m renderer "$@"\n')):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    (folder / "gpu.yaml").write_text(APP.format(tag="v0.10.0", args=args))
    assert bash("llmaz render", folder)[0] == 0
    repository.commit("older")
    repository.git("clone", "--quiet", "--bare", str(folder), str(origin))
    repository.git("remote", "add", "origin", str(origin))
    log, count = tmp_path / "gh.log", tmp_path / "count"
    variables = {"RUNNER_TEMP": str(tmp_path), "GH_LOG": str(log), "GH_COUNT": str(count), "ENGINES": "vllm=0.33.0"}
    base = repository.git("rev-parse", "HEAD")
    for answer in ("0\n", "1\n"):
        count.write_text(answer)
        code, output = bash(script, folder, **variables)
        assert code == 0, output
        changed = repository.git("diff", "--name-only", base, "HEAD").split()
        assert changed == ["gpu.yaml", *([] if is_left else ["rendered/demo/gpu.yaml"])]
        new = args.replace("--guided-decoding-backend", "--structured-outputs-config.backend")
        assert (folder / "gpu.yaml").read_text() == APP.format(tag="v0.33.0", args=new)
        assert (
            repository.git("rev-parse", "HEAD") == repository.git("ls-remote", str(origin), "upgrade-vllm").split()[0]
        )
        repository.git("checkout", "--quiet", base)
    calls = [line.split(" --")[0] for line in log.read_text().splitlines()]
    assert calls == ["pr list", "pr create", "pr list", "pr edit upgrade-vllm"]
    text = (tmp_path / "vllm.md").read_text()
    assert text.startswith("### vllm 0.10.0 &#8594; 0.33.0: 1 place · 1 break")
    assert ("Here it is mended" in text) is not is_left
    log.unlink()
    assert bash(script, folder, **{**variables, "ENGINES": "vllm=0.10.0"})[0] == 0  # nothing is to be done
    assert not log.exists()
    assert bash(script, folder, **{**variables, "ENGINES": "sglang"})[0] == 2  # nothing here runs it


ORAS = """\
#!/bin/sh
printf '%s\\n' "$*" >>"$ORAS"
[ "$1" != login ] || cat >>"$ORAS"
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the template's runner has GNU tar")
def test_an_artifact_of_what_is_rendered(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same bytes for the same input, whoever makes it and when."""
    import tarfile

    (script,) = steps_of("oci.yml")
    program = tmp_path / "bin" / "oras"
    program.write_text(ORAS)
    program.chmod(0o755)
    shutil.rmtree(repository.folder / "rendered")
    variables = {
        "ARTIFACT": "ghcr.io/Org/Repo/rendered",
        "ACTOR": "somebody",
        "TOKEN": "t0k",
        "GITHUB_SHA": repository.base,
        "GITHUB_REF_NAME": "main",
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_REPOSITORY": "Org/Repo",
        "ORAS": str(tmp_path / "oras.log"),
    }
    code, output = bash(script, repository.folder, **variables)
    assert code == 0, output
    assert "t0k" not in output
    login, _, push, tag = (tmp_path / "oras.log").read_text("utf-8").replace("t0k", "t0k\n").splitlines()
    artifact = f"ghcr.io/org/repo/rendered:{repository.base}"
    assert login == "login ghcr.io --username somebody --password-stdin"
    assert push.startswith(f"push {artifact} --annotation org.opencontainers.image.created=20")
    assert push.endswith(" rendered.tar.gz:application/vnd.oci.image.layer.v1.tar+gzip")
    assert f"org.opencontainers.image.revision=main@sha1:{repository.base}" in push
    assert tag == f"tag {artifact} main"
    packed = (repository.folder / "rendered.tar.gz").read_bytes()
    with tarfile.open(repository.folder / "rendered.tar.gz") as opened:
        assert opened.getnames() == [".", "./demo", "./demo/chat.yaml"]
        inside = opened.extractfile("./demo/chat.yaml")
        assert inside
        assert inside.read() == (repository.folder / "rendered" / "demo" / "chat.yaml").read_bytes()
    shutil.rmtree(repository.folder / "rendered")
    (repository.folder / "rendered.tar.gz").unlink()
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    old = os.umask(0o077)
    try:
        assert bash(script, repository.folder, **variables)[0] == 0
    finally:
        os.umask(old)
    assert (repository.folder / "rendered.tar.gz").read_bytes() == packed
    repository.change("backendName: llamacpp", "backendName: llamacp")
    (tmp_path / "oras.log").unlink()
    assert bash(script, repository.folder, **variables)[0] == 2
    assert not (tmp_path / "oras.log").exists()


def test_the_gitlab_jobs(repository: Repository) -> None:
    """Their scripts, line by line, as a GitLab runner runs them: good, stale and wrong."""
    jobs = yaml.safe_load((ROOT / "docs" / "workflows" / "gitlab-ci.yml").read_text("utf-8"))
    check, compare = jobs["llmaz"], jobs["llmaz diff"]
    report = repository.folder / check["artifacts"]["reports"]["codequality"]
    variables = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": repository.base, "CI_COMMIT_SHA": "HEAD"}
    lines = "\n".join(check["script"])
    assert bash(lines, repository.folder)[0] == 0
    assert json.loads(report.read_text("utf-8")) == []
    repository.change("8192", "4096")
    repository.commit("stale")
    code, output = bash(lines, repository.folder)
    assert (code, "rendered/demo/chat.yaml: stale" in output) == (1, True)
    (item,) = json.loads(report.read_text("utf-8"))
    assert item["location"] == {"path": "rendered/demo/chat.yaml", "lines": {"begin": 1}}
    assert bash("\n".join(compare["script"]), repository.folder, **variables)[0] == 0
    assert "4096" in (repository.folder / compare["artifacts"]["paths"][0]).read_text("utf-8")
    repository.change("backendName: llamacpp", "backendName: llamacp")
    code, output = bash(lines, repository.folder)
    assert (code, "chat.yaml:24:" in output) == (2, True)
    repository.commit("wrong")
    assert bash("\n".join(compare["script"]), repository.folder, **variables)[0] == 2
    assert compare["artifacts"]["when"] == "always"
    assert "chat.yaml:24:" in (repository.folder / compare["artifacts"]["paths"][0]).read_text("utf-8")
    (item,) = json.loads(report.read_text("utf-8"))
    assert item["severity"] == "critical"
    assert item["location"] == {"path": "chat.yaml", "lines": {"begin": 24}}


RENDERING = ("llmaz-validate", "llmaz-render", "llmaz-check")
ENGINE = """\
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: b}
spec: {containers: [{name: engine, image: "vllm/vllm-openai:v0.24.0", args: [--no-such-option]}]}
"""


def hook(repository: Repository, name: str, *args: str) -> tuple[int, str]:
    """The hook's entry line, as pre-commit runs it."""
    import shlex

    (entry,) = [definition["entry"] for definition in HOOKS if definition["id"] == name]
    done = subprocess.run(
        [*shlex.split(entry), *args], cwd=repository.folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_the_hooks_are_of_the_documented_shape() -> None:
    assert [definition["id"] for definition in HOOKS] == [
        "llmaz-validate",
        "llmaz-render",
        "llmaz-check",
        "llmaz-manifests",
    ]
    for definition in HOOKS:
        assert {"id", "name", "entry", "language"} <= set(definition)
        assert definition["language"] == "python"
        assert definition["pass_filenames"] is False
        assert definition["always_run"] is True  # a deleted file alone starts no hook otherwise


def test_hooks_on_a_clean_tree(repository: Repository) -> None:
    for name in RENDERING:
        assert hook(repository, name, "--strict")[0] == 0, name


def test_hooks_on_a_wrong_input(repository: Repository) -> None:
    repository.change("backendName: llamacpp", "backendName: llamacp")
    for name in RENDERING:
        code, output = hook(repository, name)
        assert code == 2, name
        assert "chat.yaml:24:" in output


def test_the_hook_about_manifests_of_others(repository: Repository) -> None:
    assert hook(repository, "llmaz-manifests", "rendered")[0] == 0
    (repository.folder / "pod.yaml").write_text(ENGINE)
    code, output = hook(repository, "llmaz-manifests", "pod.yaml")
    assert code == 2
    assert "pod.yaml:4:78: spec.containers[0].args[0]: vllm 0.24.0 has no option '--no-such-option' [E430]" in output


def test_hooks_on_a_change(repository: Repository) -> None:
    repository.change("8192", "4096")
    assert hook(repository, "llmaz-validate")[0] == 0
    assert hook(repository, "llmaz-check")[0] == 1
    assert hook(repository, "llmaz-render")[0] == 0  # pre-commit itself sees that a file changed
    assert repository.git("status", "--short").split() == ["M", "chat.yaml", "M", "rendered/demo/chat.yaml"]
    assert hook(repository, "llmaz-check")[0] == 0


def test_hooks_on_a_new_file(repository: Repository) -> None:
    """Which pre-commit would not see, and `git commit -a` would not commit."""
    repository.add("more")
    (repository.folder / "untracked.yaml").write_text("nobody's: file\n")
    repository.git("add", "more.yaml")
    for _ in range(2):
        code, output = hook(repository, "llmaz-render")
        assert code == 1
        assert "rendered/demo/more.yaml" in output
        assert "untracked.yaml" not in output
        assert "git add" in output
    assert hook(repository, "llmaz-check")[0] == 1
    repository.git("add", "rendered")
    assert hook(repository, "llmaz-render")[0] == 0
    assert hook(repository, "llmaz-check")[0] == 0


def test_hooks_on_a_deleted_file(repository: Repository) -> None:
    repository.add("more")
    repository.llmaz("render")
    repository.commit("more")
    repository.git("rm", "--quiet", "more.yaml")
    assert hook(repository, "llmaz-check")[0] == 1
    assert hook(repository, "llmaz-render")[0] == 0
    assert not (repository.folder / "rendered" / "demo" / "more.yaml").exists()
