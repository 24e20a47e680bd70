"""What others put into names and values, where it leaves; and output that does not get through. A test a promise.

The program prints words of everybody's pull request into terminals, into logs that a CI reads commands from, into
comments and reports. Nothing of them is ever more than text there. And whoever reads what it prints gets all of it, or
an exit status that says otherwise.
"""

from __future__ import annotations

import fcntl
import html
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from renderer import load, yamlio
from renderer.diagnostics import Diagnostic
from renderer.text import escapes
from scripts.action import run as action
from tests.diagnostics.test_formats import commands
from tests.inputs import document
from tests.paths import ROOT

if TYPE_CHECKING:
    from tests.conftest import Llmaz

CANNOT_BE_WRITTEN = re.compile(r"standard output: cannot be written: [A-Z][a-z ]+ \[E150\]")
MANY = 60  # apps whose manifests are more than a pipe holds

BREAKS = "\n\r\v\f\x1c\x85\u2028\u2029"
FORMATTING = "\u202e\u2066\u200b\u200e\u2060\xad\ufeff\U000e0041"
# What acts on a terminal (here: writes to the clipboard), on the direction of text, on lines; and what CI obeys.
HOSTILE = f"x\x1b]52;c;cHduZWQ=\x07\x9b2J\x7f{FORMATTING}{BREAKS}::error::x{BREAKS}##[add-mask]a"
COMMANDS = "\u0301:\u0301:add-mask::a ##[stop-commands]x #\u0301#[add-mask]a ##vso[x]y"


# --- What is read, with something in it


def playground(name: str = "chat", /, **fields: Any) -> dict[str, Any]:
    spec = {
        "servedModelName": name,
        "modelClaim": {"modelName": "qwen3-0--6b-gguf"},
        "backendRuntimeConfig": {"backendName": "llamacpp"},
    }
    return document("Playground", name, spec | fields, "llm")


def config(**fields: Any) -> dict[str, Any]:
    environments = {"a": {}, "b": {"playgrounds": {"chat": {"replicas": 2}}}}
    return document("RenderConfig", "config", {"environments": environments, **fields})


def args(text: str) -> dict[str, Any]:
    return {"backendName": "llamacpp", "args": ["--grammar", text], "envs": [{"name": "PROMPT", "value": text}]}


def put(path: Path | str, body: object) -> None:
    """Writes a document."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(yamlio.dump(body), "utf-8")


PLACES: dict[str, Callable[[str], object]] = {
    "a key": lambda text: put("chat.yaml", playground(**{text: 1})),
    "a key below a list": lambda text: put("chat.yaml", playground(modelClaims={"models": [{text: "x"}]})),
    "a value that is refused": lambda text: put("chat.yaml", playground(modelClaim={"modelName": text})),
    "a value that is rendered": lambda text: put("chat.yaml", playground(backendRuntimeConfig=args(text))),
    "a name": lambda text: put("chat.yaml", playground(text)),
    "a public name": lambda text: put("chat.yaml", playground(servedModelName=text)),
    "a kind": lambda text: put("chat.yaml", playground() | {"kind": text}),
    "a version": lambda text: put("chat.yaml", playground() | {"apiVersion": f"a.b/{text}"}),
    "a namespace": lambda text: put("chat.yaml", playground() | {"metadata": {"name": "chat", "namespace": text}}),
    "a file": lambda text: put(f"{text.replace('/', '')}.yaml", playground(wrong=1)),
    "a folder": lambda text: put(f"{text.replace('/', '')}/chat.yaml", playground(wrong=1)),
    "a link": lambda text: os.symlink("/etc/hostname", f"{text.replace('/', '')}.yaml"),
    "the output folder": lambda text: put("llmaz.yaml", config(output={"dir": text.replace("/", "")})),
    "an environment": lambda text: put("llmaz.yaml", config(environments={text: {}, "b": {}})),
    "a pattern": lambda text: put("llmaz.yaml", config(external=[text], ignore=[text])),
    "a flavor": lambda text: put("llmaz.yaml", config(flavors={text: {"limits": {"nvidia.com/gpu": 1}}})),
    "a manifest": lambda text: put("other.yaml", {"apiVersion": "a.b/v1", "kind": text, "metadata": {"name": text}}),
    "a preset's copy": lambda text: put(
        "vllm.yaml",
        {
            "apiVersion": "inference.llmaz.io/v1alpha1",
            "kind": "BackendRuntime",
            "metadata": {"name": "vllm"},
            "spec": {"image": "a/b", "version": "1", "commands": [text], "envs": [{"name": "A", "value": text}]},
        },
    ),
}
CALLS = (
    *(f"validate --format {form}" for form in ("text", "json", "github", "sarif", "gitlab")),
    "render --env a",
    "render --check --env b",
    "render --check --env b --format github",
    "render --to helm --env b -o chart",
    *(f"routes --env a --format {form}" for form in ("table", "markdown", "json")),
    *(f"diff --env-a a --env-b b --format {form}" for form in ("text", "markdown", "json")),
    *(f"explain chat --env b --format {form}" for form in ("text", "json")),
    "explain chat.spec.leaderWorkerTemplate.workerTemplate.spec.containers[model-runner].args[1] --env b",
    "nodepools --env a",
    "check .",
    "presets diff vllm",
    "presets adapter-rules",
)
# Where a tree with the text renders.
RENDERED = {
    "a value that is rendered": {HOSTILE, COMMANDS},
    "a public name": {COMMANDS},
    "the output folder": {COMMANDS},
    "a flavor": {HOSTILE, COMMANDS},
    "a manifest": {HOSTILE, COMMANDS},
}
# Where `check` cannot even read what lies there.
UNREADABLE = {
    "a file": {HOSTILE},
    "a folder": {HOSTILE},
    "the output folder": {HOSTILE},
    "an environment": {HOSTILE, COMMANDS},
    "a pattern": {HOSTILE, COMMANDS},
}
BESIDE_THE_APP = {"a file", "a folder", "a link", "a preset's copy"}


def exit_code(call: str, place: str, text: str) -> int:
    """Of a call in a tree with the text in that place."""
    renders = text in RENDERED.get(place, ())
    match call.split():
        case ["presets", "adapter-rules"]:
            return 0
        case ["presets", "diff", _]:
            return 0 if place == "a preset's copy" else 2
        case ["nodepools", *_]:
            return 2  # no file says what nodes are like
        case ["check", _]:
            return 2 if text in UNREADABLE.get(place, ()) else 0
        case ["explain", *_]:
            return 0 if renders or place in BESIDE_THE_APP else 2
        case ["render", "--check", *_]:
            return 1 if renders else 2
        case _:
            return 0 if renders else 2


def tree(place: str, text: str) -> None:
    """A small tree in the current folder with the text in that place."""
    put("llmaz.yaml", config())
    put("chat.yaml", playground())
    PLACES[place](text)


# --- What terminals and CI see


def raw(text: str) -> set[str]:
    """What stands in a text that is to be neither seen nor obeyed."""
    return {char for char in text if char != "\n" and not char.isprintable()}


def obeyed(log: str) -> list[str]:
    """The lines of a log that a CI takes for commands: GitHub's runner reads both of its forms, Azure Pipelines and
    TeamCity one of their own. .NET compares texts by their weights, and marks have none (Runner.Common/ActionCommand.cs
    says neither Ordinal nor anything else).
    """
    command_lines = []
    for line in re.split(r"\r\n|\r|\n", log):
        seen = "".join(char for char in line if unicodedata.category(char) not in ("Mn", "Me", "Cf", "Cc")).lstrip()
        if seen.startswith("::") or re.search(r"##\w*\[", seen):
            command_lines.append(line)
    return command_lines


@pytest.mark.parametrize("line", ["::error::x", "  ::x::", "\u200b:\u200d:x::", "a ##[x]y", "##vso[a]", "#\u0301#[x]"])
def test_a_command_would_be_seen(line: str) -> None:
    assert obeyed(f"fine\n{line}\nfine: ::x") == [line]
    assert obeyed(f"fine\r{line}") == [line]


@pytest.mark.parametrize("place", PLACES)
def test_nothing_of_the_input_acts_on_a_terminal_or_a_log(place: str, folder: Path, llmaz: Llmaz) -> None:
    """No control character, no escape sequence, no line break, nothing that turns the direction of text, and no command
    to CI but the annotations that were asked for.
    """
    for text in (HOSTILE, COMMANDS):
        (folder / "tree").mkdir()
        os.chdir(folder / "tree")
        tree(place, text)
        for call in CALLS:
            done = llmaz(*call.split())
            assert done.code == exit_code(call, place, text), (call, text, done.err)
            assert raw(done.out + done.err) == set(), (call, text)
            ours = [line for line in done.out.splitlines() if " --format github" in call and commands(line)]
            assert [line for line in obeyed(f"{done.out}\n{done.err}") if line not in ours] == [], (call, text)
        os.chdir(folder)
        shutil.rmtree(folder / "tree")


def test_a_line_break_in_a_key_makes_no_line(folder: Path, llmaz: Llmaz) -> None:
    put("chat.yaml", playground(**{"x\n::error file=README.md,line=1::spoofed\n::add-mask::a\n\x1b]52;c;eA==\x07": 1}))
    done = llmaz("render")
    first, _, last = done.err.splitlines()
    assert r": spec[x\n::error file=README.md,line=1::spoofed\n::add-mask::a\n\x1b]52;c;eA==\x07]: there is no" in first
    assert last == "1 error; nothing was written"


def test_a_line_break_in_the_name_of_a_link_makes_no_line(folder: Path, llmaz: Llmaz) -> None:
    os.symlink("/etc/passwd", "l\n::error::spoofed\n.yaml")
    assert llmaz("render").err.startswith(
        r"l\n::error::spoofed\n.yaml: this symbolic link points outside the tree, to /etc/pass"
    )


def test_a_file_that_is_called_like_a_command_is_none(folder: Path, llmaz: Llmaz) -> None:
    put("::set-output name=x::y.yaml", playground("one", wrong=1))
    put("##[stop-commands]x.yaml", playground("two", wrong=1))
    lines = llmaz("render").err.splitlines()
    assert lines[0].startswith(r"\x23#[stop-commands]x.yaml:12:")
    assert lines[2].startswith(r"\x3a:set-output name=x::y.yaml:12:")


@pytest.mark.parametrize("form", ["json", "sarif", "gitlab"])
def test_programs_read_names_as_they_are(form: str, folder: Path, llmaz: Llmaz) -> None:
    """Escaped is how JSON writes them, not what it says: a name that is not UTF-8, a key with everything in it."""
    os.symlink(b"/etc/hostname", b"link-\xff-\xe2\x80\xae.yaml")
    put("chat.yaml", playground(**{HOSTILE: 1}))
    done = llmaz("validate", "--format", form)
    assert (done.code, raw(done.out)) == (2, set())
    answer = json.loads(done.out)
    if form == "sarif":
        places = [result["locations"][0]["physicalLocation"] for result in answer["runs"][0]["results"]]
        assert "link-%FF-%E2%80%AE.yaml" in [place["artifactLocation"]["uri"] for place in places]
    elif form == "gitlab":
        assert "link-\udcff-\u202e.yaml" in [issue["location"]["path"] for issue in answer]
    else:
        assert "link-\udcff-\u202e.yaml" in [diagnostic["file"] for diagnostic in answer]
        assert f"spec.{HOSTILE}" in [diagnostic["field"] for diagnostic in answer]


# The exit codes of words that are no mistake.
FINE = {"render -o X": 0, "render --check -o X": 1, "presets vendor vllm --to X": 0, "init X --ci none": 0}


@pytest.mark.parametrize(
    "words",
    [
        ["render", f"--{HOSTILE}"],
        ["render", "--format", HOSTILE],
        ["render", f"-x{HOSTILE}"],
        ["render", "--set", HOSTILE],
        ["render", "--env", HOSTILE],
        ["render", HOSTILE],
        ["render", "-o", HOSTILE],
        ["render", "--check", "-o", HOSTILE],
        ["render", f"--kubeconform={HOSTILE}"],
        ["diff", HOSTILE],
        ["diff", "a", HOSTILE],
        ["diff", "--env-a", HOSTILE, "--env-b", "b"],
        ["explain", HOSTILE],
        ["explain", f"{HOSTILE}/x"],
        ["explain", f"chat.spec.{HOSTILE}"],
        ["check", HOSTILE],
        ["check", ".", "--external", HOSTILE],
        ["schema", HOSTILE],
        ["presets", "show", HOSTILE],
        ["presets", "vendor", "vllm", "--to", HOSTILE],
        ["presets", "diff", HOSTILE],
        ["init", HOSTILE, "--ci", "none"],
        ["init", "--repo-url", HOSTILE],
        ["nodepools", "-o", HOSTILE],
        ["argocd", "application", "--name", HOSTILE],
        ["flux", "kustomization", "--repo-url", HOSTILE],
        ["kustomize", HOSTILE],
        [HOSTILE],
    ],
    ids=lambda words: re.sub(r"[^ -~].*", "X", " ".join(words)),
)
def test_nothing_of_the_command_line_acts_on_a_terminal_or_a_log(words: list[str], folder: Path, llmaz: Llmaz) -> None:
    put("chat.yaml", playground())
    subprocess.run(["git", "init", "--quiet"], check=True)
    done = llmaz(*words)
    assert done.code == FINE.get(" ".join(words).replace(HOSTILE, "X"), 2), done.err
    assert (raw(done.out + done.err), obeyed(done.out + done.err)) == (set(), [])


def test_what_is_wrong_with_the_command_line_still_takes_its_lines(llmaz: Llmaz) -> None:
    assert llmaz("argocd", "plugin").err.endswith("Choose from:\n\tconfig,\n\tpatch,\n\tdockerfile\n")
    assert llmaz("render", "--\x1b[2J\n").err.splitlines()[-1] == r"Error: No such option '--\x1b[2J\n'."


def test_manifests_say_every_character_in_print(folder: Path, llmaz: Llmaz) -> None:
    """What we write escapes what it has to; a line of a block stands behind its indentation."""
    for text in (HOSTILE.replace("\ufeff", ""), f"{BREAKS}::error::x{BREAKS}"):
        put("chat.yaml", playground(backendRuntimeConfig=args(text)))
        done = llmaz("render", "--stdout")
        assert (done.code, raw(done.out)) == (0, set()), done.err
        documents, problems = yamlio.parse("", done.out.encode())
        assert problems == []
        assert f"'value': {text!r}" in repr([document.value for document in documents])


@pytest.mark.parametrize("name", [f"x\r\r@acme/everyone **bold** <img src=//evil>\r\r{HOSTILE}y.yaml", "`a` |b.yaml"])
def test_nothing_leaves_the_code_in_a_comment(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a stale file, of a message, of an environment: one line of letters and numbers, or a block that stays one."""
    stale = action.Checked(1, (Diagnostic(f"rendered/{name}", 0, 0, "E128", "", "to be deleted"),), "")
    text = action.body(stale, [action.Compared(name, "", "", 2, "", None, f"```\r{name}\n````")])
    assert raw(text) == set()
    code = re.findall(r"<code>(.*)</code>", text)
    assert [html.unescape(snippet) for snippet in code] == [escapes.line(f"rendered/{name}"), escapes.line(name)]
    assert all(re.fullmatch(r"([A-Za-z0-9 .,/–-]|&#\d+;)+", snippet) for snippet in code)
    fence = re.search(r"^(`{3,})text\n(.*)\n\1$", text, re.MULTILINE | re.DOTALL)
    assert fence
    assert fence[1] not in fence[2]
    wrong = action.Checked(2, (Diagnostic(name, 1, 1, "E101", name, name, name),), name)
    text = action.body(wrong, [])
    assert raw(text) == set()
    action.say(text)
    action.annotate("error", f"{name}\n{name}")
    log = capsys.readouterr().out
    assert raw(log) == set()
    assert [command[0] for command in commands(log)] == ["error"]


# --- The functions, one a target

TEXTS = st.text(st.sampled_from(f"{HOSTILE}`<>&|%,;=[]#:@\\'\" ☃é😀") | st.characters(), max_size=40)


@given(TEXTS)
def test_a_line_is_one_line_that_can_be_printed(text: str) -> None:
    line = escapes.line(text)
    assert line.isprintable()
    assert escapes.line(line) == line
    assert not text.isprintable() or "##" in line or "#" in text or line == text


@given(TEXTS)
def test_lines_are_no_commands(text: str) -> None:
    lines = escapes.lines(text)
    assert lines.count("\n") == text.count("\n")
    assert (raw(lines), obeyed(lines)) == (set(), [])
    assert escapes.lines(lines) == lines


@given(st.recursive(TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=5))
def test_json_says_what_it_said(value: object) -> None:
    for beyond_bmp in (True, False):
        text = escapes.json_text(value, indent=2, beyond_bmp=beyond_bmp)
        assert json.loads(text) == json.loads(json.dumps(value))
        assert {char for char in raw(text) if beyond_bmp or char <= "\uffff"} == set()
        assert obeyed(text) == []


@given(TEXTS)
def test_what_a_workflow_command_says_stays_in_it(text: str) -> None:
    file, message = escapes.workflow_property(f"a{text}"), escapes.workflow_data(f"{text}.")
    ((kind, properties, data),) = commands(f"::error file={file},title=x::{message}")
    assert (kind, properties) == ("error", {"file": escapes.line(f"a{text}"), "title": "x"})
    assert data == escapes.lines(f"{text}.")


@given(TEXTS)
def test_markup_is_text(text: str) -> None:
    plain = escapes.markdown_text(text)
    assert re.fullmatch(r"([A-Za-z0-9 .…,/–-]|&#\d+;)*", plain)
    assert html.unescape(plain) == escapes.line(text)
    code = escapes.markdown_code(text)
    assert re.fullmatch(r"`[^`|<>&]+`|<code>([A-Za-z0-9 .…,/–-]|&#\d+;)*</code>|", code)
    assert html.unescape(re.sub(r"^(`|<code>)|(`|</code>)$", "", code)) == escapes.line(text)
    assert re.fullmatch(r"<code>([A-Za-z0-9 .…,/–()=→-]|&#\d+;)*</code>", escapes.html_code(text))
    block = escapes.markdown_block(text).split("\n")
    assert block[0] == f"{block[-1]}text"
    assert not any(line.lstrip().startswith(block[-1]) for line in block[1:-1])


@given(TEXTS, TEXTS)
def test_a_label_is_text(one: str, other: str) -> None:
    label = escapes.mermaid_label(one, other)
    assert re.fullmatch(r'"([^\W_]|[ .:/@+,–…-]|#\d+;)*<br>([^\W_]|[ .:/@+,–…-]|#\d+;)*"', label)


# --- Output that does not get through


def program(
    *words: str,
    before: Callable[[], object] | None = None,
    environment: Mapping[str, str] | None = None,
    **streams: Any,
) -> subprocess.Popen[bytes]:
    """The program; `before`: what happens in its process first."""
    return subprocess.Popen(
        [sys.executable, "-c", "from renderer.cli import main; main()", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
        preexec_fn=before,
        **{"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE, **streams},
    )


def unfinished(running: subprocess.Popen[bytes]) -> str:
    """The last line of standard error of a program that ends as one does whose output was cut."""
    _, err = running.communicate(timeout=60)
    lines = err.decode().splitlines()
    assert running.returncode == 2, lines
    assert not any("Traceback" in line or "E901" in line or "Exception" in line for line in lines)
    return lines[-1]


def small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def many() -> None:
    for i in range(MANY):
        put(f"{i}.yaml", playground(f"p-{i}"))


ResourceList = {
    "apiVersion": "config.kubernetes.io/v1",
    "kind": "ResourceList",
    "functionConfig": document("RenderConfig", "x", {}),
    "items": [playground(f"p-{i}") for i in range(3)],
}
PRINTING = (
    "--version",
    "--help",
    "render --help",
    "render --stdout",
    "validate --format json",
    "validate --format github wrong",
    "routes",
    "routes --format json",
    "explain p-0",
    "argocd generate",
    "argocd health",
    "argocd plugin dockerfile",
    "argocd parameters",
    "presets list",
    "presets list --format json",
    "presets show vllm",
    "presets show vllm --resolved",
    "presets adapter-rules",
    "schema",
    "schema Playground",
    "kustomize list.json",
    "init repo",
)


def printing() -> None:
    """What all of these commands find something to print of."""
    for i in range(3):
        put(f"apps/{i}.yaml", playground(f"p-{i}"))
    put("wrong/chat.yaml", playground(wrong=1))
    put("list.json", ResourceList)


@pytest.mark.parametrize("call", PRINTING)
def test_a_command_whose_output_is_lost_fails(call: str, folder: Path) -> None:
    """Whatever it prints, on a full disk and into a stream that is closed: one line, exit status 2."""
    printing()
    words = [*call.split(), *(["apps"] if call in ("render --stdout", "routes", "routes --format json") else [])]
    words += ["apps"] if call.startswith(("explain", "validate --format json", "presets adapter")) else []
    cwd = folder / "apps" if call in ("argocd generate", "presets show vllm --resolved") else folder
    with open("/dev/full", "wb") as full:
        last = unfinished(program(*words, stdout=full, cwd=cwd, environment={"PYTHONUNBUFFERED": "1"}))
    assert last == "standard output: cannot be written: No space left on device [E150]"
    shutil.rmtree(folder / "repo", ignore_errors=True)
    last = unfinished(program(*words, before=lambda: os.close(1), cwd=cwd))
    assert last == "standard output: cannot be written: Bad file descriptor [E150]"


def test_an_action_whose_log_is_lost_fails(folder: Path, tmp_path: Path) -> None:
    put("chat.yaml", playground(elasticConfig={"maxReplicas": 2, "scaleTrigger": {"hpa": {}}}))
    llmaz = tmp_path / "bin" / "llmaz"
    llmaz.parent.mkdir()
    llmaz.write_text(f"#!{sys.executable}\nfrom renderer.cli import main\nmain()\n")
    llmaz.chmod(0o755)
    variables = {"GITHUB_WORKSPACE": str(folder), "RUNNER_TEMP": str(tmp_path), "INPUT_COMMITTED": "false"}
    path = {"PATH": f"{llmaz.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    codes = []
    for file in ("/dev/null", "/dev/full"):
        with open(file, "wb") as log:
            command = [sys.executable, str(ROOT / "scripts" / "action" / "run.py")]
            done = subprocess.run(command, env=path | variables, stdout=log, stderr=subprocess.PIPE, check=False)
        codes.append(done.returncode)
    assert (codes, done.stderr.decode()) == (
        [0, 2],
        "standard output: cannot be written: No space left on device [E150]\n",
    )


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_manifests_that_are_cut_are_no_success(unbuffered: str, folder: Path) -> None:
    """By a reader that goes away in the midst of them, and by a file that can take no more."""
    many()
    environment = {"PYTHONUNBUFFERED": unbuffered}
    running = program("render", "--stdout", stdout=subprocess.PIPE, environment=environment)
    assert running.stdout
    assert running.stdout.read(10) == b"# Rendered"
    running.stdout.close()
    running.stdout = None
    _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (141, b"")
    with open("all.txt", "wb") as file:
        running = program("render", "--stdout", stdout=file, before=small_files, environment=environment)
        assert unfinished(running) == "standard output: cannot be written: File too large [E150]"
    assert (folder / "all.txt").stat().st_size == 4096


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_slow_reader_gets_all_of_it(unbuffered: str, folder: Path, llmaz: Llmaz) -> None:
    """Also through a pipe that does not block, as some programs hand one over."""
    many()
    expected = llmaz("render", "--stdout").out
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETFL, fcntl.fcntl(write, fcntl.F_GETFL) | os.O_NONBLOCK)
    running = program("render", "--stdout", stdout=write, environment={"PYTHONUNBUFFERED": unbuffered})
    os.close(write)
    parts = []
    with open(read, "rb", buffering=0) as pipe:
        time.sleep(1)
        while part := pipe.read(50_000):
            parts.append(part)
            time.sleep(0.01)
    _, err = running.communicate(timeout=60)
    assert (running.returncode, err.decode()) == (0, "")
    assert len(expected) > 3 * 65_536
    assert b"".join(parts).decode() == expected


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "utf-8:strict"},
        {"PYTHONIOENCODING": "latin-1:replace"},
        {"PYTHONIOENCODING": "utf-16"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONUNBUFFERED": "1"},
    ],
    ids=lambda environment: " ".join(environment.values()),
)
def test_what_is_printed_is_utf_8_whatever_the_locale(environment: dict[str, str], folder: Path, llmaz: Llmaz) -> None:
    put("chat.yaml", playground(**{"é\u202e": 1}))
    os.symlink(b"/etc/hostname", b"link-\xff.yaml")
    for form in ("text", "github", "json"):
        expected = llmaz("validate", "--format", form)
        running = program("validate", "--format", form, stdout=subprocess.PIPE, environment=environment)
        out, err = running.communicate(timeout=60)
        assert (running.returncode, out.decode(), err.decode()) == expected
        assert r"\udcff" in expected.out + expected.err
        assert "spec.é" in expected.out + expected.err


def lost(*words: str, before: Callable[[], object] | None = None, **streams: Any) -> int:
    """The exit status of a program that can say nothing."""
    with program(
        *words, stdout=subprocess.DEVNULL, before=before, **{"stderr": subprocess.DEVNULL, **streams}
    ) as running:
        return running.wait(timeout=60)


@pytest.mark.parametrize("closed", [False, True], ids=["full", "closed"])
def test_problems_that_nobody_can_read_are_no_success(closed: bool, folder: Path) -> None:
    """Not even warnings. Words that say that all is well may be lost."""
    put("fine/chat.yaml", playground())
    put("warned/chat.yaml", playground(elasticConfig={"maxReplicas": 2, "scaleTrigger": {"hpa": {}}}))
    put("wrong/chat.yaml", playground(wrong=1))
    with open("/dev/full", "wb") as full:
        streams: dict[str, Any] = {"stderr": None if closed else full}
        before = (lambda: os.close(2)) if closed else None
        assert lost("validate", "fine", before=before, **streams) == 0
        assert lost("validate", "warned", before=before, **streams) == 2
        assert lost("validate", "wrong", before=before, **streams) == 2
        assert lost("render", "fine", "--check", before=before, **streams) == 1
        assert lost("render", "--nonsense", before=before, **streams) == 2
        assert lost("presets", "show", "nonsense", before=before, **streams) == 2


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (1, 2), (0, 1, 2)], ids=str)
def test_no_file_takes_the_place_of_a_stream_that_is_closed(closed: Sequence[int], folder: Path, llmaz: Llmaz) -> None:
    """What is said would be written into it."""
    put("in/chat.yaml", playground())
    put("in/warned.yaml", playground("warned", elasticConfig={"maxReplicas": 2, "scaleTrigger": {"hpa": {}}}))
    assert llmaz("render", "in", "-o", "expected").code == 0

    def close() -> None:
        for descriptor in closed:
            os.close(descriptor)

    code = lost("render", "in", "-o", "out", before=close)
    assert code == (2 if 2 in closed else 0)  # its warning
    files = {path.relative_to("out"): path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}
    assert files == {path.relative_to("expected"): path.read_bytes() for path in Path("expected").rglob("*.yaml")}


def test_a_resource_list_from_nowhere_is_none(folder: Path) -> None:
    running = program("kustomize", stdout=subprocess.PIPE, before=lambda: os.close(0))
    out, err = running.communicate(timeout=60)
    assert (running.returncode, b"E901" in err) == (2, False)
    assert json.loads(out)["results"]


def interruptible() -> None:
    """As in a terminal, even where the tests run in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupt_ends_who_waits_for_a_reader(folder: Path) -> None:
    many()
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with program("render", "--stdout", before=interruptible, **streams) as running:
        assert running.stdout
        assert running.stdout.read(10) == b"# Rendered"
        time.sleep(0.5)
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=20) == 130


@pytest.mark.parametrize("form", ["text", "json"])
def test_what_the_system_refuses_is_no_fault_of_ours(
    form: str, folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E151, where nobody who knows the file better has words for it: exit status 2, one problem in any format."""

    def refuse(*_: object) -> None:
        raise OSError(24, "Too many open files", str(folder / "a\nb.yaml"))

    monkeypatch.setattr(load, "read_ahead", refuse)
    done = llmaz("validate", "--format", form)
    assert done.code == 2
    if form == "json":
        (problem,) = json.loads(done.out)
        assert (problem["file"], problem["code"]) == ("a\nb.yaml", "E151")
    else:
        assert done.err.splitlines()[0] == r"a\nb.yaml: the system says: Too many open files [E151]"


def test_nobody_else_prints() -> None:
    """What does not go through cli/standard_streams.py is not checked: click alone prints, of what is our own."""
    printing = re.compile(r"click\.(?:echo|secho|style|progressbar)\b|\bprint\(|sys\.(?:stdout|stderr)\b|sys\.__std")
    sources = [path for path in (ROOT / "renderer").rglob("*.py") if path.name != "standard_streams.py"]
    assert {path.name: calls for path in sources if (calls := printing.findall(path.read_text("utf-8")))} == {}


def test_text_is_escaped_in_one_place() -> None:
    """Whoever prints text of others takes renderer/text/escapes.py."""
    own = re.compile(r"ensure_ascii=False|repr\(\w+\)\[1:-1\]|&#\{|%0A|for \w+ in text.*isprintable")
    sources = [*(ROOT / "renderer").rglob("*.py"), *(ROOT / "scripts" / "action").rglob("*.py")]
    names: Iterable[str] = {path.name for path in sources if own.search(path.read_text("utf-8"))}
    # helm/files.py writes a schema of ours, cel/carriers.py quotes as the API server does inside of a message
    assert names == {"escapes.py", "files.py", "carriers.py"}
