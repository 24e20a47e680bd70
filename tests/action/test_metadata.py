"""action.yml, the installation, and the page about them."""

from __future__ import annotations

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from scripts.action import run as action
from tests.action.github import ROOT, Act, Hub, Repository, says
from tests.diagnostics.test_formats import commands

ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
TEMPLATES = sorted((ROOT / "docs" / "workflows").glob("*.yml"))


def test_the_metadata() -> None:
    """As GitHub documents it for a composite action."""
    assert set(ACTION) == {"name", "description", "author", "branding", "inputs", "outputs", "runs"}
    assert len(ACTION["description"]) <= 125  # more is cut in the Marketplace
    assert set(ACTION["branding"]) == {"icon", "color"}
    for name, input_definition in ACTION["inputs"].items():
        assert re.fullmatch(r"[a-z][a-z-]*", name)
        assert set(input_definition) == {"description", "required", "default"}, name
        assert input_definition["required"] is False
        assert isinstance(input_definition["default"], str), name
    steps = ACTION["runs"]["steps"]
    assert ACTION["runs"]["using"] == "composite"
    ids = {step.get("id") for step in steps}
    for name, output in ACTION["outputs"].items():
        assert set(output) == {"description", "value"}
        assert re.fullmatch(rf"\$\{{\{{ steps\.run\.outputs\.{name} \}}\}}", output["value"])
    assert "run" in ids
    for step in steps:
        assert set(step) <= {"name", "id", "shell", "env", "run"}  # no other action is used
        assert step["shell"] == "bash"


def test_no_expression_in_a_script() -> None:
    """What is in `${{ }}` is pasted into the script's text: a branch's name could be a command. By env only."""
    assert [step["run"] for step in ACTION["runs"]["steps"] if "${{" in step["run"]] == []
    for template in TEMPLATES:
        for job in yaml.safe_load(template.read_text("utf-8")).get("jobs", {}).values():
            assert [step["run"] for step in job["steps"] if "${{" in step.get("run", "")] == []


def test_every_input_reaches_the_script() -> None:
    """And under the name that it is read by."""
    passed: dict[str, str] = {}
    for step in ACTION["runs"]["steps"]:
        passed |= step["env"]
    assert passed == {
        "ACTION_REF": "${{ github.action_ref }}",
        "ACTION_REPOSITORY": "${{ github.action_repository }}",
        **{f"INPUT_{name.upper().replace('-', '_')}": f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]},
    }
    texts = [(ROOT / "scripts" / "action" / name).read_text("utf-8") for name in ("run.py", "install.sh")]
    read = set(re.findall(r'(?:text|flag)\("([a-z-]+)"', texts[0]))
    read |= {name.lower().replace("_", "-") for name in re.findall(r"INPUT_([A-Z_]+)", texts[1])}
    assert read == set(ACTION["inputs"])


def test_every_output_is_made(act: Act, monkeypatch: pytest.MonkeyPatch) -> None:
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    assert set(act().outputs) == set(ACTION["outputs"])


def test_the_defaults_are_those_of_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    variables = {
        f"INPUT_{name.upper().replace('-', '_')}": input_definition["default"]
        for name, input_definition in ACTION["inputs"].items()
    }
    temp = {"RUNNER_TEMP": str(tmp_path)}
    settings = action.settings({**variables, "INPUT_TOKEN": "", **temp})
    assert settings._replace(temp=tmp_path, folder=tmp_path) == action.settings(temp)._replace(
        temp=tmp_path, folder=tmp_path
    )


def test_the_steps_as_the_runner_runs_them(
    repository: Repository, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second step's own line in bash, by the environment that the first one would have made."""
    repository.change("backendName: llamacpp", "backendName: llamacp")
    head = repository.commit("wrong")
    event = tmp_path / "event.json"
    pull = {"number": 7, "base": {"sha": repository.base}, "head": {"sha": head, "repo": {"full_name": "o/r"}}}
    event.write_text(json.dumps({"pull_request": pull}))
    programs = tmp_path / "llmaz" / "bin"
    programs.mkdir(parents=True)
    packages = os.pathsep.join([str(ROOT), *(path for path in sys.path if "site-packages" in path)])
    (programs / "python").write_text(
        f'#!/bin/sh\nshift\nexec "{sys.executable}" "$@"\n'  # less -I, which would not see the checkout
    )
    shutil.copy(tmp_path / "bin" / "llmaz", programs)
    (programs / "python").chmod(0o755)
    environment = {
        **{key: os.environ[key] for key in os.environ if key.startswith(("GIT_", "LANG"))},
        "PATH": os.environ["PATH"].split(os.pathsep, 1)[1],
        "PYTHONPATH": packages,
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_API_URL": hub.address,
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_WORKSPACE": str(repository.folder),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "RUNNER_TEMP": str(tmp_path),
        "INPUT_TOKEN": "t",
    }
    script = ACTION["runs"]["steps"][1]["run"]
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr == ""
    assert commands(done.stdout)[0][1]["file"] == "chat.yaml"
    assert len(hub.comments) == 1


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({"INPUT_INSTALL": "--index-url=http://evil.example x"}, "no options of pip"),
        ({"INPUT_INSTALL": "llmaz\n  -r x"}, "no options of pip"),
        ({"INPUT_PYTHON": "no-such-python"}, "actions/setup-python"),
    ],
)
def test_what_is_not_installed(variables: dict[str, str], text: str, tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "RUNNER_TEMP": str(tmp_path),
        "INPUT_PYTHON": sys.executable,
        **variables,
    }
    script = ROOT / "scripts" / "action" / "install.sh"
    done = subprocess.run([script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    ((kind, _, message),) = commands(done.stdout)
    assert kind == "error"
    assert text in message
    assert list(tmp_path.iterdir()) == []


def write_wheel(path: Path, version: str) -> None:
    """A wheel with nothing but the command, which says its version."""
    info = f"llmaz_renderer-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as opened:
        opened.writestr("renderer.py", f"def main():\n    print('llmaz {version}')\n")
        opened.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: llmaz-renderer\nVersion: {version}\n")
        opened.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        opened.writestr(f"{info}/entry_points.txt", "[console_scripts]\nllmaz = renderer:main\n")
        opened.writestr(f"{info}/RECORD", "")


def test_what_is_installed(tmp_path: Path) -> None:
    """A wheel with nothing but the command: it alone is on the PATH of later steps, and nothing of an earlier run."""
    wheel, temp, github_path = tmp_path / "llmaz_renderer-1-py3-none-any.whl", tmp_path / "temp dir", tmp_path / "path"
    write_wheel(wheel, "1")
    (temp / "llmaz" / "path").mkdir(parents=True)  # of an earlier run on the same machine
    environment = {
        "PATH": os.environ["PATH"],
        "RUNNER_TEMP": str(temp),
        "GITHUB_PATH": str(github_path),
        "INPUT_PYTHON": sys.executable,
        "INPUT_INSTALL": f"\n  {wheel}  \n\n",
    }
    done = subprocess.run(
        [ROOT / "scripts" / "action" / "install.sh"], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "llmaz 1\n"), done.stderr
    (folder,) = github_path.read_text("utf-8").splitlines()
    assert [path.name for path in Path(folder).iterdir()] == ["llmaz"]
    assert subprocess.run([Path(folder) / "llmaz"], capture_output=True, check=True).stdout == b"llmaz 1\n"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of a GitHub that has the folder `site`."""
    (tmp_path / "site").mkdir()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path / "site")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as listener:
        thread = threading.Thread(target=listener.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{listener.server_port}"
        listener.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("ref", "content", "source"),
    [
        ("v1.2.3", "wheel", "the release"),
        ("v1", "wheel", "the release"),
        ("v1.2.3", "", "the checkout"),  # a copy of the repository without releases
        ("v1.2.3", "<html>Log in</html>", "the checkout"),
        ("v2", "wheel", "the checkout"),
        ("main", "wheel", "the checkout"),
        ("0123456789012345678901234567890123456789", "wheel", "the checkout"),
        ("", "wheel", "the checkout"),
    ],
)
def test_what_a_ref_installs(ref: str, content: str, source: str, server: str, tmp_path: Path) -> None:
    """The release of the action's own tag. pip only says what it would install."""
    action_folder, temp = tmp_path / "action", tmp_path / "temp"
    for path in ("scripts/action", "renderer"):
        (action_folder / path).mkdir(parents=True)
    script = Path(shutil.copy(ROOT / "scripts" / "action" / "install.sh", action_folder / "scripts" / "action"))
    (action_folder / "renderer" / "__init__.py").write_text('"""Text."""\n\n__version__ = "1.2.3"\n')
    (action_folder / "pyproject.toml").write_text('[project]\nname = "llmaz-renderer"\nversion = "1.2.3"\n')
    wheel = tmp_path / "site" / "team/llmaz-renderer/releases/download/v1.2.3/llmaz_renderer-1.2.3-py3-none-any.whl"
    wheel.parent.mkdir(parents=True)
    if content == "wheel":
        write_wheel(wheel, "1.2.3")
    elif content:
        wheel.write_text(content)
    python = tmp_path / "python"  # makes an environment whose pip prints the last of its words
    python.write_text(
        "#!/bin/sh\n"
        f'[ "$3" = venv ] || exec "{sys.executable}" "$@"\n'
        'mkdir -p "$5/bin" && cd "$5/bin"\n'
        "printf '#!/bin/sh\\nshift $(($# - 1)); echo \"$1\"\\n' >python\n"
        "printf '#!/bin/sh\\n' >llmaz && chmod +x python llmaz\n"
    )
    python.chmod(0o755)
    environment = {
        "PATH": os.environ["PATH"],
        "RUNNER_TEMP": str(temp),
        "INPUT_PYTHON": str(python),
        "GITHUB_SERVER_URL": server,
        "ACTION_REPOSITORY": "team/llmaz-renderer",
        "ACTION_REF": ref,
        "no_proxy": "127.0.0.1",
    }
    done = subprocess.run([script], env=environment, capture_output=True, text=True, check=False)
    sources = {"the release": temp / "llmaz" / wheel.name, "the checkout": action_folder}
    assert (done.returncode, done.stdout) == (0, f"{sources[source]}\n"), done.stderr


def table(name: str) -> list[list[str]]:
    """The rows of a table of docs/github.md."""
    text = (ROOT / "docs" / "github.md").read_text("utf-8")
    part = text.partition(f"<!-- {name} -->\n")[2].partition(f"<!-- /{name} -->")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in part.splitlines()[2:]]


def test_the_page_names_every_input_and_output() -> None:
    """With its default."""
    inputs = {row[0].strip("`"): row[1].strip("`") for row in table("inputs")}
    defaults = {name: input_definition["default"] for name, input_definition in ACTION["inputs"].items()}
    defaults |= {"token": "the job's"}
    assert inputs == {name: default or "–" for name, default in defaults.items()}
    assert [row[0].strip("`") for row in table("outputs")] == list(ACTION["outputs"])
