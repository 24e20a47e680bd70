"""What Helm installs is what `render --to helm --check` judges: each file is given to the real Helm as well."""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from renderer.integrations.helm.installed_files import hidden_files, ignore_rules, is_installed
from tests.inputs import CONFIG
from tests.integrations.test_helm import helm as helm  # a fixture

if TYPE_CHECKING:
    from tests.conftest import Llmaz

Helm: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]
OBJECT = 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: "EVIL"}\n'
# A template that shows what others have made of its values and of a partial.
VICTIM = (
    'kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata: {x: {{ .Values.x }}, y: {{ include "y" . }}}\n'
    '{{ define "y" }}old{{ end }}'
)
ACTS = "templates/", "crds/", "charts/"
FILES = [
    "templates/x.yaml",
    "templates/x.YAML",
    "templates/x.txt",
    "templates/x.tpl",
    "templates/noext",
    "templates/x.yaml.bak",
    "templates/notes.txt",
    "templates/_d/x.yaml",
    "templates/sub/x",
    "templates/.x.yaml",
    "templates/.d/x.yaml",
    "templates/sub/.x.yaml",
    "templates/sub/.d/x.yaml",
    "templates/x.yaml.llmaz-2147483646",
    "crds/x.yaml",
    "crds/x.YAML",
    "crds/.x.yaml",
    "crds/_x.json",
    "crds/sub/.d/x.yml",
    "charts/s/templates/x.yaml",
    "charts/s/templates/x.txt",
    "charts/.s/templates/x.yaml",
    "charts/_s/templates/x.yaml",
    "charts/s.tgz",
    "charts/s-1.2.3.tgz",
    "charts/.s.tgz",
    "charts/_s.tgz",
    "charts/s.tgz.prov",
    ".templates/x.yaml",
    "Templates/x.yaml",
    "x.yaml",
    "files/x.yaml",
]
# Files without an object of their own: what they do to the objects of others.
ACTIONS = {
    "templates/sub/NOTES.txt": '{{ $_ := set .Values "x" "EVIL" }}',
    "templates/sub/myNOTES.txt": '{{ $_ := set .Values "x" "EVIL" }}',
    "templates/NOTES.txt": '{{ $_ := set .Values "x" "EVIL" }}',
    "templates/sub/_partial": '{{ define "y" }}EVIL{{ end }}',
    "templates/_y.tpl": '{{ define "y" }}EVIL{{ end }}',
    "templates/.y.tpl": '{{ define "y" }}EVIL{{ end }}',
}


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    folder = tmp_path / "c"
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: c\nversion: 0.1.0\n")
    (folder / "values.yaml").write_text("x: old\n")
    (folder / "templates" / "victim.yaml").write_text(VICTIM)
    return folder


def place(chart: Path, name: str, text: str) -> None:
    """The file in the chart; a subchart around it, in an archive for a name of one."""
    file, subchart = chart / name, "apiVersion: v2\nname: s\nversion: 1.2.3\n"
    file.parent.mkdir(parents=True, exist_ok=True)
    if ".tgz" in name:
        with tarfile.open(file, "w:gz") as archive:
            for path, data in (("s/Chart.yaml", subchart), ("s/templates/x.yaml", text)):
                entry = tarfile.TarInfo(path)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data.encode()))
    else:
        file.write_text(text)
        if name.startswith("charts/"):
            (chart.joinpath(*name.split("/")[:2]) / "Chart.yaml").write_text(subchart)


@pytest.mark.parametrize("name", [*FILES, *ACTIONS])
def test_what_helm_installs_is_judged(name: str, chart: Path, helm: Helm) -> None:
    place(chart, name, ACTIONS.get(name, OBJECT))
    done = helm("template", "r", chart, "--include-crds")
    assert done.returncode == 0, done.stderr
    acts = "EVIL" in done.stdout
    if name == "templates/sub/_partial":  # which definition wins is a matter of names; that it may is enough
        acts = True
    assert is_installed(name) == acts


@pytest.mark.parametrize("name", ["templates", "crds"])
def test_helm_follows_links_to_folders(name: str, chart: Path, helm: Helm) -> None:
    elsewhere = chart.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "x.yaml").write_text(OBJECT)
    if name == "templates":
        (chart / "templates" / "victim.yaml").unlink()
        (chart / "templates").rmdir()
    (chart / name).symlink_to(elsewhere)
    assert "EVIL" in helm("template", "r", chart, "--include-crds").stdout
    assert is_installed(name)


@pytest.mark.parametrize(
    ("rules", "path"),
    [
        ("x.yaml", "templates/llm/x.yaml"),
        ("*.yaml", "templates/llm/x.yaml"),
        ("?.yaml", "templates/llm/x.yaml"),
        ("[w-y].yaml", "templates/llm/x.yaml"),
        ("[^a].yaml", "templates/llm/x.yaml"),
        ("[^x].yaml", "templates/llm/x.yaml"),
        (r"\x.yaml", "templates/llm/x.yaml"),
        ("llm", "templates/llm/x.yaml"),
        ("llm/", "templates/llm/x.yaml"),
        ("x.yaml/", "templates/llm/x.yaml"),
        ("/templates/llm", "templates/llm/x.yaml"),
        ("templates/llm/x.yaml", "templates/llm/x.yaml"),
        ("templates/*/x.yaml", "templates/llm/x.yaml"),
        ("templates/*", "templates/llm/x.yaml"),
        ("templates/*.yaml", "templates/llm/x.yaml"),
        ("/x.yaml", "templates/llm/x.yaml"),
        ("llm/x.yaml", "templates/llm/x.yaml"),
        ("/templates/*.yaml", "templates/x.yaml"),
        ("# x.yaml\n\n  x.yaml  ", "templates/x.yaml"),
        ("#x.yaml", "templates/x.yaml"),
        ("!templates", "templates/x.yaml"),
        ("!*", "templates/x.yaml"),
        ("!*/", "templates/x.yaml"),
        ("*.bak\n*.swp\n.git/\n*~", "templates/x.yaml"),
        ("\ufeffx.yaml", "templates/x.yaml"),
        ("x.yaml\r", "templates/x.yaml"),
    ],
)
def test_helm_ignore(rules: str, path: str, chart: Path, helm: Helm) -> None:
    """What a `.helmignore` hides from Helm is told, and nothing else."""
    (chart / "templates" / "victim.yaml").unlink()
    place(chart, path, OBJECT)
    (chart / ".helmignore").write_text(f"{rules}\n", "utf-8")
    done = helm("template", "r", chart)
    hidden = done.returncode != 0 or "EVIL" not in done.stdout
    paths = ["Chart.yaml", path, "values.yaml"]  # in the order in which they are looked at
    rule_of_file = {file: rule.text for rule, file in hidden_files(ignore_rules(f"{rules}\n"), paths)}
    assert bool(rule_of_file) == hidden, (done.stdout, done.stderr)


# --- as told ----------------------------------------------------------------------------------------------------------

QUICK = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat, namespace: demo}
spec:
  modelClaim: {modelName: qwen3-8b}
"""


@pytest.fixture
def written(folder: Path, llmaz: Llmaz) -> Path:
    """The folder of a chart of ours."""
    (folder / "llmaz.yaml").write_text(f"{CONFIG}\n  gateway: {{mode: backend}}\n")
    (folder / "chat.yaml").write_text(QUICK)
    assert llmaz("render", "--to", "helm").code == 0
    return folder / "chart"


@pytest.mark.parametrize("name", [name for name in (*FILES, *ACTIONS) if name.startswith(ACTS)])
def test_the_check_tells_each(name: str, written: Path, llmaz: Llmaz) -> None:
    place(written, name, ACTIONS.get(name, OBJECT))
    done = llmaz("render", "--to", "helm", "--check", "--format", "json")
    diagnostics = {(diagnostic["file"], diagnostic["code"]) for diagnostic in json.loads(done.out)}
    assert ((f"chart/{name}", "E129") in diagnostics) == is_installed(name)
    assert done.code == (2 if is_installed(name) else 0)
    (written.parent / "llmaz.yaml").write_text(
        f"{CONFIG}\n  gateway: {{mode: backend}}\n  output: {{foreign: [{name}, charts/s/**]}}\n"
    )
    done = llmaz("render", "--to", "helm", "--check")
    assert done.code == 0, done.err


def test_links_in_the_chart(written: Path, llmaz: Llmaz) -> None:
    (written / "crds").symlink_to("../elsewhere")
    (written / "templates" / "more").symlink_to("../../elsewhere")
    done = llmaz("render", "--to", "helm", "--check")
    assert done.code == 2
    assert "chart/crds: not written by llmaz" in done.err
    assert "chart/templates/more: not written by llmaz" in done.err


def test_templates_that_helm_ignores(written: Path, llmaz: Llmaz) -> None:
    (written / ".helmignore").write_text("*.swp\n\nchat.*\n")
    done = llmaz("render", "--to", "helm", "--check")
    assert (done.code, done.err.splitlines()[0]) == (
        2,
        "chart/.helmignore:3:1: 'chat.*' hides templates/demo/chat.yaml from Helm [E860]",
    )
    wrote = llmaz("render", "--to", "helm")
    assert (wrote.code, "[W860]" in wrote.err) == (0, True)
    (written / ".helmignore").unlink()
    os.symlink("../chat.yaml", written / ".helmignore")
    assert "chart/.helmignore: cannot be read" in llmaz("render", "--to", "helm", "--check").err
    (written / ".helmignore").unlink()
    (written / ".helmignore").write_text("*.swp\n")
    assert llmaz("render", "--to", "helm", "--check").code == 0


def test_what_a_killed_run_left_is_deleted(written: Path, llmaz: Llmaz) -> None:
    left = written / "templates" / "demo" / "chat.yaml.llmaz-2147483646"
    left.write_text(OBJECT)
    assert llmaz("render", "--to", "helm", "--check").code == 2
    assert llmaz("render", "--to", "helm").code == 0
    assert not left.exists()
