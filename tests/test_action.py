"""The GitHub Action without GitHub: its scripts in a real git repository, against an API on the loopback interface.

`llmaz` is the real one; where a test decides what `llmaz diff` says, a stand-in answers for that command alone.
`scripts/tools.sh actionlint` builds the judge of workflows; without it its tests are skipped, in CI they fail.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml
from jsonschema import Draft4Validator

from scripts.action import run as action
from tests.test_reports import SARIF, commands

if TYPE_CHECKING:
    from tests.conftest import Golden

ROOT = Path(__file__).resolve().parent.parent
QUICKSTART = ROOT / "examples" / "quickstart" / "chat.yaml"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
TEMPLATES = sorted((ROOT / "docs" / "workflows").glob("*.yml"))
BOT = "github-actions[bot]"
PROGRAM = """\
#!{python}
import json, os, sys
answer = os.environ.get("DIFF")
if sys.argv[1:2] == ["diff"] and answer:
    with open(answer, encoding="utf-8") as opened:
        said = json.load(opened)
    sys.stderr.write(said.get("err", ""))
    code = said.get("code", 0)
    if "json" in sys.argv:
        print(json.dumps(said.get("data", {{}})))
        sys.exit(code)
    print(said["markdown"], end="")
    sys.exit(code if code > 1 else 0)
os.execv(sys.executable, [sys.executable, "-m", "renderer", *sys.argv[1:]])
"""


# --- A repository, and GitHub


class Hub(ThreadingHTTPServer):
    """GitHub's API as far as the action asks it: comments of pull request 7 of o/r, and code scanning."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Asked)
        self.comments: list[dict[str, Any]] = []
        self.uploads: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.tokens: set[str] = set()
        self.author = BOT
        self.refusals: dict[str, list[tuple[int, str, dict[str, str]]]] = {}  # by method, the next first
        self.drop_answers = 0  # of POST: done, but the answer gets lost

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def add(self, body: str, author: str = BOT) -> dict[str, Any]:
        """A comment that is there."""
        made = {"id": 1000 + len(self.comments), "body": body, "user": {"login": author}}
        made["html_url"] = f"https://github.example/o/r/pull/7#issuecomment-{made['id']}"
        self.comments.append(made)
        return made

    def refuse(self, method: str, status: int, message: str = "no", times: int = 1, **headers: str) -> None:
        self.refusals.setdefault(method, []).extend([(status, message, headers)] * times)


class Asked(BaseHTTPRequestHandler):
    """One request."""

    server: Hub

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing to stderr."""

    def answer(self, status: int, content: Any, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name.replace("_", "-"), value)
        text = json.dumps(content).encode()
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def handle_any(self) -> None:
        hub = self.server
        hub.asked.append(f"{self.command} {self.path}")
        hub.tokens.add(self.headers.get("Authorization", ""))
        content = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
        if refusals := hub.refusals.get(self.command):
            status, message, headers = refusals.pop(0)
            self.answer(status, {"message": message}, headers)
            return
        if "body" in (content or {}) and action.units(content["body"]) > 65_536:
            self.answer(422, {"message": "Validation Failed: Body is too long (maximum is 65536 characters)"})
            return
        if found := re.fullmatch(r"/repos/o/r/issues/7/comments\?per_page=(\d+)&page=(\d+)", self.path):
            size, page = int(found[1]), int(found[2])
            self.answer(200, hub.comments[size * (page - 1) : size * page])
        elif self.command == "POST" and self.path == "/repos/o/r/issues/7/comments":
            made = hub.add(content["body"], hub.author)
            if hub.drop_answers:
                hub.drop_answers -= 1
                self.close_connection = True
                return
            self.answer(201, made)
        elif self.command == "PATCH" and (found := re.fullmatch(r"/repos/o/r/issues/comments/(\d+)", self.path)):
            (changed,) = [each for each in hub.comments if each["id"] == int(found[1])]
            changed["body"] = content["body"]
            self.answer(200, changed)
        elif self.command == "POST" and self.path == "/repos/o/r/code-scanning/sarifs":
            hub.uploads.append(content)
            self.answer(202, {"id": "1"})
        else:
            self.answer(404, {"message": "Not Found"})

    do_GET = do_POST = do_PATCH = handle_any


@pytest.fixture
def hub() -> Iterator[Hub]:
    served = Hub()
    thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield served
    served.shutdown()
    thread.join()
    served.server_close()


class Repository:
    """A git repository, rendered, with one commit on main."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / ".git").exists():
            self.git("init", "--quiet", "--initial-branch", "main")
            shutil.copy(QUICKSTART, folder)
            self.llmaz("render")
            self.commit("first")
        self.base = self.git("rev-parse", "HEAD")

    def git(self, *args: str) -> str:
        done = subprocess.run(["git", *args], cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def llmaz(self, *args: str, code: int = 0) -> str:
        done = subprocess.run(["llmaz", *args], cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        return done.stdout

    def commit(self, message: str) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD")

    def add(self, name: str) -> None:
        """A Playground of that name, with a model of its own, in a file of its own."""
        text = (self.folder / "chat.yaml").read_text("utf-8")
        for word in ("qwen2--5-0--5b", "servedModelName: qwen2.5-0.5b", "name: chat"):
            assert word in text
            text = text.replace(word, f"{word.rpartition(' ')[0]} {name}".strip())
        (self.folder / f"{name}.yaml").write_text(text, "utf-8")

    def change(self, old: str, new: str, file: str = "chat.yaml") -> None:
        path = self.folder / file
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new), "utf-8")


def prepare(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """`llmaz` on the PATH, and a git that knows nobody's settings."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "llmaz").write_text(PROGRAM.format(python=sys.executable))
    (programs / "llmaz").chmod(0o755)
    patch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    patch.setenv("PYTHONPATH", str(ROOT))
    (folder / "gitconfig").write_text("[user]\nname = somebody\nemail = somebody@example.com\n")
    patch.setenv("GIT_CONFIG_GLOBAL", str(folder / "gitconfig"))
    patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    others = ("GITHUB_", "INPUT_", "RUNNER_", "GIT_AUTHOR_", "GIT_COMMITTER_")
    for name in [name for name in os.environ if name.startswith(others)]:
        patch.delenv(name)
    patch.delenv("DIFF", raising=False)
    patch.setenv("RUNS", str(folder))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one, for all tests to copy."""
    folder = tmp_path_factory.mktemp("original")
    made = folder / "repository"
    made.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        prepare(patch, folder)
        Repository(made)
    return made


@pytest.fixture
def repository(here: Path, original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    prepare(monkeypatch, tmp_path)
    monkeypatch.setattr(action, "PAUSES", (0.0, 0.0, 0.0))
    monkeypatch.setattr(action, "LONGEST_PAUSE", 0.01)
    shutil.copytree(original, here, dirs_exist_ok=True)
    return Repository(here)


class Ran(NamedTuple):
    """What one run of the action came to."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str

    @property
    def annotations(self) -> list[tuple[str, dict[str, str], str]]:
        return commands(self.log)


Act = Callable[..., Ran]


@pytest.fixture
def act(repository: Repository, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Act:
    """Runs the action for pull request 7; inputs by name, `event` and others as the runner sets them."""
    runner = tmp_path / "runner"
    runner.mkdir()

    def run(fork: bool = False, event: dict[str, Any] | None = None, name: str = "pull_request", **given: str) -> Ran:
        head = repository.git("rev-parse", "HEAD")
        pull = {
            "number": 7,
            "base": {"sha": repository.base, "repo": {"full_name": "o/r"}},
            "head": {"sha": head, "repo": {"full_name": "someone/r" if fork else "o/r"}},
        }
        files = {key: runner / key for key in ("event", "output", "summary")}
        files["event"].write_text(json.dumps({"pull_request": pull} if event is None else event))
        for each in ("output", "summary"):
            files[each].unlink(missing_ok=True)
        environment = {
            "GITHUB_API_URL": hub.address,
            "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(files["event"]),
            "GITHUB_OUTPUT": str(files["output"]),
            "GITHUB_REF": "refs/pull/7/merge",
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_SHA": head,
            "GITHUB_STEP_SUMMARY": str(files["summary"]),
            "GITHUB_WORKSPACE": str(repository.folder),
            "RUNNER_TEMP": str(runner),
            "INPUT_TOKEN": "secret-token",
            **given,
        }
        capsys.readouterr()
        code = action.main(environment)
        log = capsys.readouterr().out
        assert "secret-token" not in log
        written = files["output"].read_text("utf-8") if files["output"].exists() else ""
        outputs = {m[1]: m[3] for m in re.finditer(r"^([\w-]+)<<(\w+)\n(.*?)\n\2$", written, re.MULTILINE | re.DOTALL)}
        return Ran(code, log, outputs, files["summary"].read_text("utf-8") if files["summary"].exists() else "")

    return run


def says(monkeypatch: pytest.MonkeyPatch, markdown: str, code: int = 1, err: str = "", **data: Any) -> None:
    """What `llmaz diff` answers from now on."""
    file = Path(os.environ["RUNS"]) / "diff.json"
    file.write_text(json.dumps({"markdown": markdown, "code": code, "err": err, "data": data}), "utf-8")
    monkeypatch.setenv("DIFF", str(file))


def neutral(text: str, repository: Repository) -> str:
    """Without commits, for goldens."""
    return text.replace(repository.base, "BASE").replace(repository.git("rev-parse", "HEAD"), "HEAD")


# --- One comment, kept up to date


def test_made_once_then_updated(act: Act, hub: Hub, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.change("8192", "4096")
    repository.llmaz("render")
    repository.commit("shorter")
    says(monkeypatch, "<!-- llmaz -->\n## One model changes\n")
    ran = act()
    assert ran.code == 0, ran.log
    (comment,) = hub.comments
    assert comment["body"].startswith("<!-- llmaz -->\n## One model changes\n")
    assert ran.outputs["comment-url"] == comment["html_url"]
    assert ran.outputs["changed"] == "true"
    says(monkeypatch, "<!-- llmaz -->\n## Two models change\n")
    assert act().code == 0
    (comment,) = hub.comments
    assert "Two models" in comment["body"]
    assert "One model" not in comment["body"]
    before = len(hub.asked)
    assert act().code == 0
    assert hub.asked[before:] == ["GET /repos/o/r/issues/7/comments?per_page=100&page=1"]  # it says that already
    assert hub.tokens == {"Bearer secret-token"}


def test_nothing_to_say_makes_no_comment_but_takes_back_an_old_one(
    act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    says(monkeypatch, "<!-- llmaz -->\nNo change.\n", code=0)
    ran = act()
    assert (ran.code, hub.comments, ran.outputs["changed"]) == (0, [], "false")
    old = hub.add("<!-- llmaz -->\n## One model changes\n")
    assert act().code == 0
    assert "No change." in old["body"]


def test_found_on_a_later_page(act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(250):
        hub.add(f"comment {number}", "somebody")
    ours = hub.add("<!-- llmaz -->\nold")
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    assert act().code == 0
    assert len(hub.comments) == 251
    assert "new" in ours["body"]
    assert [each for each in hub.asked if each.startswith("GET")][-1].endswith("page=3")


def test_a_full_last_page_is_not_the_end(act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(100):
        hub.add(f"comment {number}", "somebody")
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    assert act().code == 0
    assert len(hub.comments) == 101


@pytest.mark.parametrize(
    ("body", "author"),
    [
        ("<!-- llmaz -->\nI am the bot", "mallory"),
        ("> <!-- llmaz -->\nquoted", BOT),
        ("<!-- llmaz:prod -->\nanother environment", BOT),
        ("<!-- llmazzz -->", BOT),
    ],
)
def test_other_comments_are_left_alone(
    body: str, author: str, act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = hub.add(body, author)
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    assert act().code == 0
    assert other["body"] == body
    assert len(hub.comments) == 2


def test_each_environment_and_folder_has_its_own(
    act: Act, hub: Hub, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository.folder / "team a").mkdir()
    repository.git("mv", "chat.yaml", "rendered", "team a/")
    repository.base = repository.commit("moved")
    config = (
        "apiVersion: renderer.llmaz.io/v1alpha1\nkind: RenderConfig\nmetadata: {name: config}\n"
        "spec: {environments: {dev: {}, prod: {}}}\n"
    )
    (repository.folder / "team a" / "llmaz.yaml").write_text(config)
    says(monkeypatch, "<!-- llmaz:prod -->\nprod\n")
    act(INPUT_WORKING_DIRECTORY="team a", INPUT_ENVIRONMENT="prod")
    says(monkeypatch, "<!-- llmaz:dev -->\ndev\n")
    act(INPUT_WORKING_DIRECTORY="team a", INPUT_ENVIRONMENT="dev")
    marks = [each["body"].splitlines()[0] for each in hub.comments]
    assert marks == ["<!-- llmaz:prod@team_a -->", "<!-- llmaz:dev@team_a -->"]


def test_a_token_of_another_account(act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.author = "our-app[bot]"
    says(monkeypatch, "<!-- llmaz -->\none\n")
    ran = act()
    assert ran.annotations[-1][0] == "warning"
    assert "set comment-author" in ran.annotations[-1][2]
    says(monkeypatch, "<!-- llmaz -->\ntwo\n")
    assert act(INPUT_COMMENT_AUTHOR="our-app[bot]").annotations == []
    assert len(hub.comments) == 1


def test_without_a_comment(act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    ran = act(INPUT_COMMENT="false")
    assert (ran.code, hub.asked) == (0, [])
    assert "new" in ran.summary
    assert Path(ran.outputs["diff-file"]).read_text("utf-8") == ran.summary


def test_old_warnings_alone_make_no_comment(
    act: Act, hub: Hub, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.change("metadata:\n  name: chat\n", "metadata:\n  name: chat\n  annotations: {llmaz.io/hm: x}\n")
    repository.llmaz("render")
    repository.commit("warned")
    says(monkeypatch, "<!-- llmaz -->\nNo change.\n", code=0)
    ran = act()
    assert (ran.code, hub.comments) == (0, [])
    assert [kind for kind, _, _ in ran.annotations] == ["warning"]


# --- Rights and faults


@pytest.mark.parametrize(("fork", "kind"), [(True, "notice"), (False, "warning")])
@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_token_that_may_not_write(
    status: int, fork: bool, kind: str, act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.refuse("POST", status, "Resource not accessible by integration")
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    ran = act(fork=fork)
    assert ran.code == 0
    ((said, _, text),) = ran.annotations
    assert said == kind
    assert ("fork" in text) == fork
    assert ("pull-requests: write" in text) == (not fork)
    assert "new" in ran.summary


def test_a_fork_with_a_wrong_input_fails_all_the_same(act: Act, hub: Hub, repository: Repository) -> None:
    repository.change("backendName: llamacpp", "backendName: llamacp")
    repository.commit("wrong")
    hub.refuse("POST", 403)
    ran = act(fork=True)
    assert ran.code == 2
    assert [kind for kind, _, _ in ran.annotations] == ["error", "notice"]


@pytest.mark.parametrize("status", [500, 502, 503, 429])
def test_faults_that_pass(status: int, act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.refuse("GET", status)
    hub.refuse("POST", status, times=2)
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    ran = act()
    assert (ran.code, ran.annotations, len(hub.comments)) == (0, [], 1)


def test_a_rate_limit_is_no_lack_of_rights(act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.refuse("POST", 403, "You have exceeded a secondary rate limit", Retry_After="60")
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    assert act().code == 0
    assert len(hub.comments) == 1


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_answer_that_got_lost_makes_no_second_comment(act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.drop_answers = 1
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    assert act().code == 0
    assert len(hub.comments) == 1


@pytest.mark.parametrize(("status", "times"), [(503, 10), (422, 1)])
def test_faults_that_stay(status: int, times: int, act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """An old comment would be believed: the check fails, and says why."""
    hub.refuse("POST", status, "Unicorn", times=times)
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    ran = act()
    assert ran.code == 3
    ((kind, _, text),) = ran.annotations
    assert kind == "error"
    assert f"POST /issues/7/comments: {status} Unicorn" in text
    assert len([each for each in hub.asked if each.startswith("POST")]) == (4 if times > 1 else 1)
    assert "new" in ran.summary


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_token_goes_nowhere_else(method: str, act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.refuse(method, 302, "Moved", Location=f"{hub.address}/elsewhere")
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    ran = act()
    assert ran.code == 3
    assert "302 Moved" in ran.annotations[0][2]
    assert [each for each in hub.asked if "elsewhere" in each] == []


def test_nobody_answers(act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    ran = act(GITHUB_API_URL="http://127.0.0.1:1")
    assert ran.code == 3
    assert "could not be written" in ran.annotations[0][2]


# --- What is too long


def test_a_long_comment_is_cut(act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "\n".join(f"+ line {number} {'é😀' * 20}" for number in range(2_000))
    says(
        monkeypatch,
        f"<!-- llmaz -->\n# Many\n\n<details><summary>diff</summary>\n\n````diff\n{rows}\n````\n\n</details>\n",
    )
    ran = act()
    assert ran.code == 0
    (comment,) = hub.comments
    assert 65_000 < action.units(comment["body"]) <= 65_536
    assert comment["body"].splitlines()[-5:-1] == ["````", "", "</details>", ""]
    assert "cut" in comment["body"].splitlines()[-1]
    assert "line 1999" in ran.summary  # which has room for a megabyte


@pytest.mark.parametrize("limit", range(300, 900, 7))
def test_cut_anywhere_is_whole(limit: int) -> None:
    """Whatever the place of the cut, fences and details are closed."""
    part = "<details>\n<summary>x</summary>\n\n```diff\n- a\n~~~\n+ b\n```\n\n</details>\n\ntext 😀\n"
    text = action.fitted(part * 30, limit)
    assert action.units(text) <= limit
    assert text.count("<details>") == text.count("</details>")
    assert text.count("```") % 2 == 0


def test_a_line_that_is_too_long_alone() -> None:
    text = action.fitted("x" * 100_000)
    assert action.units(text) < 1_000
    assert "cut" in text


def test_what_fits_is_left_alone() -> None:
    assert action.fitted("x" * 65_536) == "x" * 65_536


def test_the_summary_of_others_stays(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_text("theirs\n" * 140_000)
    action.summarize(str(file), "ours\n" * 100_000)
    assert file.read_text().startswith("theirs\n" * 140_000 + "ours\n")
    assert file.stat().st_size <= 1_048_576


# --- The check


def test_a_wrong_input(act: Act, hub: Hub, repository: Repository, golden: Golden) -> None:
    repository.change("modelName: qwen2--5-0--5b", "modelName: qwen2--5-0--5")
    repository.commit("wrong")
    ran = act()
    assert ran.code == 2
    ((kind, place, text),) = ran.annotations
    assert kind == "error"
    assert place == {"file": "chat.yaml", "line": "22", "col": "16", "title": "llmaz E203"}
    assert text.startswith("spec.modelClaim.modelName: no OpenModel is named 'qwen2--5-0--5' [E203]\n")
    assert (ran.outputs["errors"], ran.outputs["changed"]) == ("1", "")
    golden("action/wrong.md", neutral(hub.comments[0]["body"], repository))


def test_a_stale_output(
    act: Act, hub: Hub, repository: Repository, golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.change("8192", "4096")
    repository.commit("forgot to render")
    says(monkeypatch, "<!-- llmaz -->\nNo change.\n", code=0)
    ran = act()
    assert ran.code == 1
    ((kind, place, _),) = ran.annotations
    assert (kind, place["file"]) == ("error", "rendered/demo/chat.yaml")
    assert (ran.outputs["stale"], ran.outputs["errors"]) == ("1", "0")
    golden("action/stale.md", neutral(hub.comments[0]["body"], repository))


def test_rendered_files_that_nobody_commits(act: Act, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(repository.folder / "rendered")
    repository.commit("not committed")
    says(monkeypatch, "<!-- llmaz -->\nNo change.\n", code=0)
    assert act().code == 1
    assert act(INPUT_COMMITTED="false").code == 0


def test_warnings(act: Act, hub: Hub, repository: Repository, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.change("metadata:\n  name: chat\n", "metadata:\n  name: chat\n  annotations: {llmaz.io/hm: x}\n")
    repository.llmaz("render")
    repository.commit("warned")
    says(monkeypatch, "<!-- llmaz -->\n### llmaz: 1 object changed\n")
    ran = act()
    assert (ran.code, ran.outputs["warnings"]) == (0, "1")
    assert [kind for kind, _, _ in ran.annotations] == ["warning"]
    golden("action/warned.md", neutral(hub.comments[0]["body"], repository))
    strict = act(INPUT_STRICT="true")
    assert strict.code == 2
    golden("action/strict.md", neutral(hub.comments[0]["body"], repository))


def test_places_are_those_of_the_repository(act: Act, repository: Repository) -> None:
    """Wherever llmaz runs: GitHub knows files from the top of the repository."""
    (repository.folder / "teams" / "a").mkdir(parents=True)
    repository.git("mv", "chat.yaml", "rendered", "teams/a/")
    repository.change("backendName: llamacpp", "backendName: llamacp", "teams/a/chat.yaml")
    repository.base = repository.commit("moved")
    ran = act(INPUT_WORKING_DIRECTORY="teams/a")
    assert ran.code == 2
    assert ran.annotations[0][1]["file"] == "teams/a/chat.yaml"
    log = json.loads(Path(ran.outputs["sarif-file"]).read_text("utf-8"))
    (result,) = log["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "teams/a/chat.yaml"


def test_one_path_of_several(act: Act, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths may hold blanks when quoted, and begin with a dash."""
    says(monkeypatch, "<!-- llmaz -->\nNo change.\n", code=0)
    (repository.folder / "-x y.yaml").write_text("apiVersion: llmaz.io/v1alpha1\nkind: OpenModel\nspec: [\n")
    assert act(INPUT_PATHS="chat.yaml").code == 0
    ran = act(INPUT_PATHS="chat.yaml '-x y.yaml'")
    assert ran.code == 2
    assert ran.annotations[0][1]["file"] == "-x y.yaml"


def test_words_of_an_input_are_no_commands(act: Act, hub: Hub, repository: Repository) -> None:
    """Neither for the runner, nor as Markdown, nor as a mention."""
    wrong = "x`````\\n::set-output name=a::b\\n<!-- llmaz:evil --> @everyone <script>"
    repository.change("backendName: llamacpp", f'backendName: "{wrong}"')
    repository.commit("evil")
    ran = act()
    assert ran.code == 2
    assert {kind for kind, _, _ in ran.annotations} == {"error"}
    body = hub.comments[0]["body"]
    fences = re.findall(r"^(`{3,})", body, re.MULTILINE)
    assert len(fences) == 2
    assert "`````" in body
    assert len(fences[0]) > 5


def test_a_fault_of_llmaz(act: Act, repository: Repository, hub: Hub) -> None:
    """What llmaz refuses in words only stands there too."""
    ran = act(INPUT_PATHS="nowhere")
    assert ran.code == 2
    assert len(ran.annotations) == 1
    assert "nowhere" in ran.log


# --- The comparison


def test_the_merge_base_is_the_base(act: Act, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """What others merged into main meanwhile is none of this change's."""
    start = repository.base
    repository.git("switch", "--quiet", "--create", "topic")
    repository.change("8192", "4096")
    repository.llmaz("render")
    head = repository.commit("ours")
    repository.git("switch", "--quiet", "main")
    (repository.folder / "notes.txt").write_text("theirs")
    repository.base = repository.commit("theirs")
    repository.git("switch", "--quiet", "topic")
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    ran = act()
    assert ran.code == 0
    assert f"<sub>{head} against {start}</sub>" in ran.summary


def test_a_clone_without_the_base(act: Act, hub: Hub, repository: Repository, tmp_path: Path) -> None:
    """The comment says so too, in place of what it said before."""
    hub.add("<!-- llmaz -->\nold")
    repository.change("8192", "4096")
    repository.llmaz("render")
    repository.commit("ours")
    shallow = tmp_path / "shallow"
    repository.git("clone", "--quiet", "--depth", "1", f"file://{repository.folder}", str(shallow))
    ran = act(GITHUB_WORKSPACE=str(shallow))
    assert ran.code == 2
    assert "fetch-depth: 0" in ran.annotations[-1][2]
    assert repository.base in ran.annotations[-1][2]
    assert ran.summary.startswith(f"### llmaz: not compared\n\n```text\n{repository.base} is not in this clone")
    assert "fetch-depth: 0" in ran.summary
    assert hub.comments[0]["body"] == f"<!-- llmaz -->\n{ran.summary}"
    assert (ran.outputs["changed"], ran.outputs["gpus-before"]) == ("", "")


def test_a_clone_without_the_commits_between(act: Act, repository: Repository, tmp_path: Path) -> None:
    """Both ends are there, but not where they parted."""
    repository.git("switch", "--quiet", "--create", "topic")
    (repository.folder / "a.txt").write_text("ours")
    repository.commit("ours")
    repository.git("switch", "--quiet", "main")
    (repository.folder / "b.txt").write_text("theirs")
    repository.base = repository.commit("theirs")
    repository.git("switch", "--quiet", "topic")
    shallow = tmp_path / "shallow"
    source = f"file://{repository.folder}"
    repository.git("clone", "--quiet", "--depth", "1", "--no-single-branch", "--branch", "topic", source, str(shallow))
    ran = act(GITHUB_WORKSPACE=str(shallow))
    assert ran.code == 2
    assert "fetch-depth: 0" in ran.annotations[-1][2]


def test_no_repository_at_all(act: Act, repository: Repository, tmp_path: Path) -> None:
    folder = tmp_path / "unpacked"
    shutil.copytree(repository.folder, folder, ignore=shutil.ignore_patterns(".git"))
    ran = act(GITHUB_WORKSPACE=str(folder))
    assert ran.code == 2
    assert "nothing to compare with: git says: not a git repository" in ran.annotations[-1][2]


def test_a_base_by_name(act: Act, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A runner's clone knows branches as origin's only."""
    repository.git("switch", "--quiet", "--create", "topic")
    clone = tmp_path / "clone"
    repository.git("clone", "--quiet", str(repository.folder), str(clone))
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    assert act(GITHUB_WORKSPACE=str(clone), INPUT_BASE="main").outputs["changed"] == "true"
    wrong = act(GITHUB_WORKSPACE=str(clone), INPUT_BASE="nowhere")
    assert wrong.code == 2
    assert "nowhere is not in this clone" in wrong.log


@pytest.mark.parametrize(
    ("name", "event", "compared"),
    [
        ("push", {"before": "BASE"}, "true"),
        ("push", {"before": "0" * 40}, ""),  # a new branch
        ("push", {"before": "1" * 40}, ""),  # forced over
        ("merge_group", {"merge_group": {"base_sha": "BASE", "head_sha": "HEAD"}}, "true"),
        ("workflow_dispatch", {"inputs": {}}, ""),
        ("schedule", {}, ""),
    ],
)
def test_other_events(
    name: str,
    event: dict[str, Any],
    compared: str,
    act: Act,
    hub: Hub,
    repository: Repository,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    text = json.dumps(event).replace("BASE", repository.base).replace("HEAD", repository.git("rev-parse", "HEAD"))
    ran = act(name=name, event=json.loads(text))
    assert (ran.code, ran.outputs["changed"], hub.asked) == (0, compared, [])


@pytest.mark.parametrize("code", [2, 3])
def test_a_diff_that_fails(code: int, act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    says(monkeypatch, "", code=code, err="git is broken\n")
    ran = act()
    assert ran.code == code
    assert ran.annotations == [("error", {"title": "llmaz"}, "llmaz diff: git is broken")]
    assert "git is broken" in hub.comments[0]["body"]
    assert ran.outputs["changed"] == ""


def test_the_true_diff(act: Act, hub: Hub, repository: Repository) -> None:
    """All of it with the real program: one comment for three pushes, and the accelerators as outputs."""
    for name in ("model.yaml", "playground.yaml"):
        shutil.copy(ROOT / "examples" / "vllm-gpu" / name, repository.folder)
    repository.llmaz("render")
    repository.base = repository.commit("two apps")
    repository.change("replicas: 2", "replicas: 3", "playground.yaml")
    repository.llmaz("render")
    repository.commit("one replica more")
    ran = act()
    assert (ran.code, ran.annotations, ran.outputs["changed"]) == (0, [], "true")
    assert json.loads(ran.outputs["gpus-before"]) == {
        "nvidia.com/gpu (gpu.product=NVIDIA-L4 or gpu.product=NVIDIA-L40S)": 2
    }
    assert json.loads(ran.outputs["gpus-after"]) == {
        "nvidia.com/gpu (gpu.product=NVIDIA-L4 or gpu.product=NVIDIA-L40S)": 3
    }
    body = hub.comments[0]["body"]
    assert body.startswith("<!-- llmaz -->\n### llmaz: 1 model changed")
    assert "-  replicas: 2\n+  replicas: 3\n" in body
    assert body.endswith(f"<sub>{repository.git('rev-parse', 'HEAD')} against {repository.base}</sub>\n")
    repository.change("replicas: 3", "replicas: 3.5", "playground.yaml")
    repository.commit("wrong")
    assert act().code == 2
    assert "playground.yaml:" in hub.comments[0]["body"]
    repository.change("replicas: 3.5", "replicas: 2", "playground.yaml")
    repository.llmaz("render")
    repository.commit("back again")
    ran = act()
    assert (ran.code, ran.outputs["changed"]) == (0, "false")
    assert json.loads(ran.outputs["gpus-before"]) == {}
    assert len(hub.comments) == 1
    assert "replicas" not in hub.comments[0]["body"]


# --- Inputs


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"INPUT_COMMENT": "ja"}, "comment: 'ja' is neither true nor false"),
        ({"INPUT_STRICT": "1"}, "strict: '1' is neither true nor false"),
        ({"INPUT_PATHS": "'open"}, "paths: No closing quotation"),
        ({"INPUT_WORKING_DIRECTORY": "nowhere"}, "working-directory: 'nowhere' is no folder"),
        ({"INPUT_WORKING_DIRECTORY": "../.."}, "working-directory: '../..' lies outside of the workspace"),
        ({"INPUT_WORKING_DIRECTORY": "/"}, "working-directory: '/' lies outside of the workspace"),
        ({"GITHUB_EVENT_PATH": "nowhere.json"}, "GITHUB_EVENT_PATH: 'nowhere.json' cannot be read: "),
        ({"INPUT_BASE": "main..topic"}, "base: 'main..topic' is no commit"),
        ({"INPUT_BASE": "--upload-pack=x"}, "base: '--upload-pack=x' is no commit"),
        ({"INPUT_ENVIRONMENT": "--all"}, "environment: '--all' is no name"),
        ({"INPUT_ENVIRONMENT": "a b"}, "environment: 'a b' is no name"),
        ({"GITHUB_EVENT_NAME": "pull_request_target"}, "does not run under pull_request_target"),
        ({"GITHUB_API_URL": "file:///etc/passwd"}, "GITHUB_API_URL: 'file:///etc/passwd' is no address"),
    ],
)
def test_wrong_inputs(given: dict[str, str], text: str, act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    ran = act(**given)
    assert ran.code == 2
    assert text in ran.annotations[-1][2]
    assert hub.asked == []


def test_environments(act: Act, hub: Hub, repository: Repository) -> None:
    """With the real program: one comment each; an environment that is new counts as added."""
    config = (
        "apiVersion: renderer.llmaz.io/v1alpha1\nkind: RenderConfig\nmetadata: {name: config}\nspec:\n  environments:\n"
        "    dev: {}\n    prod:\n      playgrounds:\n        chat: {replicas: 3}\n"
    )
    (repository.folder / "llmaz.yaml").write_text(config.partition("    prod:")[0])
    repository.llmaz("render")
    repository.base = repository.commit("dev")
    (repository.folder / "llmaz.yaml").write_text(config)
    repository.llmaz("render")
    repository.commit("prod")
    dev, prod = act(INPUT_ENVIRONMENT="dev"), act(INPUT_ENVIRONMENT="prod")
    assert (dev.code, dev.outputs["changed"]) == (0, "false"), dev.log
    assert (prod.code, prod.outputs["changed"]) == (0, "true"), prod.log
    assert [each["body"].splitlines()[0] for each in hub.comments] == ["<!-- llmaz:prod -->"]
    assert "+  replicas: 3\n" in hub.comments[0]["body"]
    repository.change("replicas: 3", "replicas: 2", "llmaz.yaml")
    repository.commit("forgot to render")
    assert [act(INPUT_ENVIRONMENT=name).code for name in ("dev", "prod")] == [0, 1]
    assert act().code == 1
    assert len(hub.comments) == 2  # of all of them together


CONFIG = (
    "apiVersion: renderer.llmaz.io/v1alpha1\nkind: RenderConfig\nmetadata: {name: config}\nspec:\n  environments:\n"
)


def configure(repository: Repository, environments: str, message: str) -> str:
    """A commit with these environments."""
    (repository.folder / "llmaz.yaml").write_text(CONFIG + environments)
    repository.llmaz("render")
    return repository.commit(message)


def test_several_environments_have_a_section_each(act: Act, hub: Hub, repository: Repository) -> None:
    repository.base = configure(repository, "    dev: {}\n    old: {}\n    prod: {}\n", "three")
    chat = "      playgrounds:\n        chat: {replicas: 3}\n"
    configure(repository, f"    dev: {{}}\n    new: {{}}\n    prod:\n{chat}", "one is new, one is gone, one changes")
    ran = act()
    assert (ran.code, ran.annotations, ran.outputs["changed"]) == (0, [], "true"), ran.log
    (comment,) = hub.comments
    assert comment["body"] == f"<!-- llmaz -->\n{ran.summary}"
    assert re.findall("^### llmaz `(.*)`: (.*)$", ran.summary, re.MULTILINE) == [
        ("dev", "no object changes"),
        ("new", "1 model added · 6 objects added"),
        ("prod", "1 model changed · 1 object added, 1 changed"),
        ("old", "1 model removed · 6 objects removed"),
    ]
    assert ran.summary.count("+  replicas: 3\n") == 1
    assert ran.summary.count("<!--") == 0
    assert json.loads(ran.outputs["gpus-after"]) == {"dev": {}, "new": {}, "prod": {}, "old": {}}
    repository.base = repository.git("rev-parse", "HEAD")
    assert (act().code, act().outputs["changed"], len(hub.comments)) == (0, "false", 1)


def test_several_environments_share_a_comment(
    act: Act, hub: Hub, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None is cut away by another one."""
    repository.base = configure(repository, "    dev: {}\n    prod: {}\n    staging: {}\n", "three")
    says(monkeypatch, "<!-- llmaz:x -->\n### a head\n" + f"{'x' * 99}\n" * 500, gpus=[])
    ran = act()
    assert ran.code == 0, ran.log
    body = hub.comments[0]["body"]
    assert 60_000 < action.units(body) <= 65_536
    assert (body.count("### a head"), body.count("… cut")) == (3, 3)
    assert ran.summary.count("x" * 99) == 1500
    assert [*map(len, action.shared(["a" * 10, "b\n" * 5000, "c" * 10], 5000))][::2] == [10, 10]


def test_an_environment_that_cannot_be_compared(
    act: Act, hub: Hub, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.base = configure(repository, "    dev: {}\n    prod: {}\n", "two")
    says(monkeypatch, "", code=3, err="git is broken\n")
    ran = act()
    assert (ran.code, ran.outputs["changed"], ran.outputs["gpus-after"]) == (3, "", "")
    assert [text for _, _, text in ran.annotations] == [
        f"llmaz diff --env {name}: git is broken" for name in ("dev", "prod")
    ]
    assert re.findall("^### llmaz `(.*)`: not compared$", hub.comments[0]["body"], re.MULTILINE) == ["dev", "prod"]


def test_one_environment_has_one_comment_whatever_comes_out(act: Act, hub: Hub, repository: Repository) -> None:
    """Good, wrong, not compared, good: the mark is the same."""
    repository.base = configure(repository, "    prod: {}\n", "one")
    repository.change("8192", "4096")
    repository.llmaz("render")
    repository.commit("shorter")
    said = []
    for given, wrong in (({}, False), ({}, True), ({"INPUT_BASE": "nowhere"}, False), ({}, False)):
        file = repository.folder / "chat.yaml"
        good = file.read_text("utf-8")
        file.write_text(good.replace("backendName: llamacpp", "backendName: llamacp") if wrong else good, "utf-8")
        ran = act(**given)
        file.write_text(good, "utf-8")
        (comment,) = hub.comments
        said.append((ran.code, *comment["body"].splitlines()[:2]))
    assert said == [
        (0, "<!-- llmaz -->", "### llmaz `prod`: 1 model changed · 1 object changed"),
        (2, "<!-- llmaz -->", "### llmaz: 1 error"),
        (2, "<!-- llmaz -->", "### llmaz: not compared"),
        (0, "<!-- llmaz -->", "### llmaz `prod`: 1 model changed · 1 object changed"),
    ]


def test_an_environment_that_is_not_there(act: Act, hub: Hub) -> None:
    ran = act(INPUT_ENVIRONMENT="nowhere")
    assert ran.code == 2
    assert "there is no environment 'nowhere'" in ran.log
    assert hub.comments[0]["body"].startswith("<!-- llmaz:nowhere -->\n")


def test_goldens_are_all_made(superfluous: Callable[[Path, set[Path]], list[Path]]) -> None:
    folder = Path(__file__).parent / "action"
    text = Path(__file__).read_text("utf-8")
    made = {folder.parent / path for path in re.findall(r'golden\("(action/[^"]+)"', text)}
    assert superfluous(folder, made) == []


# --- SARIF


def test_the_log_of_the_action(act: Act, hub: Hub, repository: Repository) -> None:
    repository.change("backendName: llamacpp", "backendName: llamacp")
    head = repository.commit("wrong")
    ran = act(INPUT_SARIF="true")
    text = Path(ran.outputs["sarif-file"]).read_text("utf-8")
    log = json.loads(text)
    assert [error.message for error in Draft4Validator(SARIF).iter_errors(log)] == []
    (made,) = log["runs"]
    assert made["automationDetails"] == {"id": "llmaz/"}
    assert re.fullmatch(r"[0-9a-f]{32}:1", made["results"][0]["partialFingerprints"]["primaryLocationLineHash"])
    (upload,) = hub.uploads
    assert gzip.decompress(base64.b64decode(upload.pop("sarif"))).decode() == text
    assert upload == {"commit_sha": head, "ref": "refs/pull/7/merge", "tool_name": "llmaz"}


def test_the_upload_names_the_head_where_that_is_checked_out(
    act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    says(monkeypatch, "<!-- llmaz -->\nNo change.\n", code=0)
    act(INPUT_SARIF="true", GITHUB_SHA="1" * 40)
    assert hub.uploads[0]["ref"] == "refs/pull/7/head"


@pytest.mark.parametrize(("fork", "kind"), [(True, "notice"), (False, "warning")])
def test_no_code_scanning(fork: bool, kind: str, act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    says(monkeypatch, "<!-- llmaz -->\nNo change.\n", code=0)
    hub.refuse("POST", 403, "Code scanning is not enabled")
    ran = act(fork=fork, INPUT_SARIF="true")
    assert ran.code == 0
    assert [each for each, _, _ in ran.annotations] == [kind]


# --- action.yml


def test_the_metadata() -> None:
    """As GitHub documents it for a composite action."""
    assert set(ACTION) == {"name", "description", "author", "branding", "inputs", "outputs", "runs"}
    assert len(ACTION["description"]) <= 125  # more is cut in the Marketplace
    assert set(ACTION["branding"]) == {"icon", "color"}
    for name, given in ACTION["inputs"].items():
        assert re.fullmatch(r"[a-z][a-z-]*", name)
        assert set(given) == {"description", "required", "default"}, name
        assert given["required"] is False
        assert isinstance(given["default"], str), name
    steps = ACTION["runs"]["steps"]
    assert ACTION["runs"]["using"] == "composite"
    ids = {step.get("id") for step in steps}
    for name, made in ACTION["outputs"].items():
        assert set(made) == {"description", "value"}
        assert re.fullmatch(rf"\$\{{\{{ steps\.run\.outputs\.{name} \}}\}}", made["value"])
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
        f"INPUT_{name.upper().replace('-', '_')}": f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]
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
    given = {f"INPUT_{name.upper().replace('-', '_')}": each["default"] for name, each in ACTION["inputs"].items()}
    temp = {"RUNNER_TEMP": str(tmp_path)}
    asked = action.settings({**given, "INPUT_TOKEN": "", **temp})
    assert asked._replace(temp=tmp_path, folder=tmp_path) == action.settings(temp)._replace(
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
    made = tmp_path / "llmaz" / "bin"
    made.mkdir(parents=True)
    packages = os.pathsep.join([str(ROOT), *(path for path in sys.path if "site-packages" in path)])
    (made / "python").write_text(
        f'#!/bin/sh\nshift\nexec "{sys.executable}" "$@"\n'  # less -I, which would not see the checkout
    )
    shutil.copy(tmp_path / "bin" / "llmaz", made)
    (made / "python").chmod(0o755)
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
    ("given", "text"),
    [
        ({"INPUT_INSTALL": "--index-url=http://evil.example x"}, "no options of pip"),
        ({"INPUT_INSTALL": "llmaz\n  -r x"}, "no options of pip"),
        ({"INPUT_PYTHON": "no-such-python"}, "actions/setup-python"),
    ],
)
def test_what_is_not_installed(given: dict[str, str], text: str, tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "RUNNER_TEMP": str(tmp_path), "INPUT_PYTHON": sys.executable, **given}
    script = ROOT / "scripts" / "action" / "install.sh"
    done = subprocess.run([script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    ((kind, _, said),) = commands(done.stdout)
    assert kind == "error"
    assert text in said
    assert list(tmp_path.iterdir()) == []


def test_what_is_installed(tmp_path: Path) -> None:
    """A wheel with nothing but the command: it alone is on the PATH of later steps, and nothing of an earlier run."""
    wheel, temp, told = tmp_path / "llmaz_renderer-1-py3-none-any.whl", tmp_path / "temp dir", tmp_path / "path"
    info = "llmaz_renderer-1.dist-info"
    with zipfile.ZipFile(wheel, "w") as opened:
        opened.writestr("renderer.py", "def main():\n    print('llmaz 1')\n")
        opened.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: llmaz-renderer\nVersion: 1\n")
        opened.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        opened.writestr(f"{info}/entry_points.txt", "[console_scripts]\nllmaz = renderer:main\n")
        opened.writestr(f"{info}/RECORD", "")
    (temp / "llmaz" / "path").mkdir(parents=True)  # of an earlier run on the same machine
    environment = {
        "PATH": os.environ["PATH"],
        "RUNNER_TEMP": str(temp),
        "GITHUB_PATH": str(told),
        "INPUT_PYTHON": sys.executable,
        "INPUT_INSTALL": f"\n  {wheel}  \n\n",
    }
    done = subprocess.run(
        [ROOT / "scripts" / "action" / "install.sh"], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "llmaz 1\n"), done.stderr
    (folder,) = told.read_text("utf-8").splitlines()
    assert [path.name for path in Path(folder).iterdir()] == ["llmaz"]
    assert subprocess.run([Path(folder) / "llmaz"], capture_output=True, check=True).stdout == b"llmaz 1\n"


# --- Templates and hooks


def judge(name: str) -> Path:
    """A program of .tools."""
    program = ROOT / ".tools" / name
    if not program.exists():
        missing = f"{name} is not built: scripts/tools.sh {name}"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    return program


def test_actionlint_is_content() -> None:
    files = [*(ROOT / ".github" / "workflows").glob("*.yml"), *(path for path in TEMPLATES if path.stem != "gitlab-ci")]
    done = subprocess.run(
        [judge("actionlint"), "-no-color", "-shellcheck=", "-pyflakes=", *files],
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
    assert subprocess.run([judge("actionlint"), wrong], capture_output=True, check=False).returncode == 1


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
        given = step.get("with", {})
        if "actions/checkout@" in step.get("uses", "") and "persist-credentials" not in given:
            assert template.stem == "commit", "only who pushes needs them"


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
    shown = "".join((ROOT / "docs" / page).read_text("utf-8") for page in ("github.md", "gitlab.md"))
    assert len(TEMPLATES) == 4
    assert [path.name for path in TEMPLATES if f"```yaml\n{path.read_text('utf-8')}```\n" not in shown] == []


def table(name: str) -> list[list[str]]:
    """The rows of a table of docs/github.md."""
    text = (ROOT / "docs" / "github.md").read_text("utf-8")
    part = text.partition(f"<!-- {name} -->\n")[2].partition(f"<!-- /{name} -->")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in part.splitlines()[2:]]


def test_the_page_names_every_input_and_output() -> None:
    """With its default."""
    inputs = {row[0].strip("`"): row[1].strip("`") for row in table("inputs")}
    said = {name: each["default"] for name, each in ACTION["inputs"].items()}
    said |= {"token": "the job's"}
    assert inputs == {name: default or "–" for name, default in said.items()}
    assert [row[0].strip("`") for row in table("outputs")] == list(ACTION["outputs"])


def steps_of(name: str) -> list[str]:
    """The scripts of a template, in order."""
    parsed = yaml.safe_load((ROOT / "docs" / "workflows" / name).read_text("utf-8"))
    return [step["run"] for job in parsed["jobs"].values() for step in job["steps"] if "run" in step]


def bash(script: str, folder: Path, **given: str) -> tuple[int, str]:
    """A script as the runner runs a step."""
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, **given},
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
    code, said = bash(script, clone, BRANCH=branch)
    assert code == 0, said
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
    code, said = bash(script, clone, BRANCH="main")
    assert code != 0
    assert "rejected" in said
    assert repository.git("ls-remote", str(origin), "main").split()[0] == newer


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
    given = {
        "ARTIFACT": "ghcr.io/Org/Repo/rendered",
        "ACTOR": "somebody",
        "TOKEN": "t0k",
        "GITHUB_SHA": repository.base,
        "GITHUB_REF_NAME": "main",
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_REPOSITORY": "Org/Repo",
        "ORAS": str(tmp_path / "oras.log"),
    }
    code, said = bash(script, repository.folder, **given)
    assert code == 0, said
    assert "t0k" not in said
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
        assert bash(script, repository.folder, **given)[0] == 0
    finally:
        os.umask(old)
    assert (repository.folder / "rendered.tar.gz").read_bytes() == packed
    repository.change("backendName: llamacpp", "backendName: llamacp")
    (tmp_path / "oras.log").unlink()
    assert bash(script, repository.folder, **given)[0] == 2
    assert not (tmp_path / "oras.log").exists()


def test_the_gitlab_jobs(repository: Repository) -> None:
    """Their scripts, line by line, as a GitLab runner runs them: good, stale and wrong."""
    jobs = yaml.safe_load((ROOT / "docs" / "workflows" / "gitlab-ci.yml").read_text("utf-8"))
    check, compare = jobs["llmaz"], jobs["llmaz diff"]
    report = repository.folder / check["artifacts"]["reports"]["codequality"]
    given = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": repository.base, "CI_COMMIT_SHA": "HEAD"}
    lines = "\n".join(check["script"])
    assert bash(lines, repository.folder)[0] == 0
    assert json.loads(report.read_text("utf-8")) == []
    repository.change("8192", "4096")
    repository.commit("stale")
    code, said = bash(lines, repository.folder)
    assert (code, "rendered/demo/chat.yaml: stale" in said) == (1, True)
    (item,) = json.loads(report.read_text("utf-8"))
    assert item["location"] == {"path": "rendered/demo/chat.yaml", "lines": {"begin": 1}}
    assert bash("\n".join(compare["script"]), repository.folder, **given)[0] == 0
    assert "4096" in (repository.folder / compare["artifacts"]["paths"][0]).read_text("utf-8")
    repository.change("backendName: llamacpp", "backendName: llamacp")
    code, said = bash(lines, repository.folder)
    assert (code, "chat.yaml:24:" in said) == (2, True)
    repository.commit("wrong")
    assert bash("\n".join(compare["script"]), repository.folder, **given)[0] == 2
    assert compare["artifacts"]["when"] == "always"
    assert "chat.yaml:24:" in (repository.folder / compare["artifacts"]["paths"][0]).read_text("utf-8")
    (item,) = json.loads(report.read_text("utf-8"))
    assert item["severity"] == "critical"
    assert item["location"] == {"path": "chat.yaml", "lines": {"begin": 24}}


def hook(repository: Repository, name: str, *args: str) -> tuple[int, str]:
    """The hook's entry line, as pre-commit runs it."""
    import shlex

    (entry,) = [each["entry"] for each in HOOKS if each["id"] == name]
    done = subprocess.run(
        [*shlex.split(entry), *args], cwd=repository.folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_the_hooks_are_of_the_documented_shape() -> None:
    assert [each["id"] for each in HOOKS] == ["llmaz-validate", "llmaz-render", "llmaz-check"]
    for each in HOOKS:
        assert {"id", "name", "entry", "language"} <= set(each)
        assert each["language"] == "python"
        assert each["pass_filenames"] is False
        assert each["always_run"] is True  # a deleted file alone starts no hook otherwise


def test_hooks_on_a_clean_tree(repository: Repository) -> None:
    for each in HOOKS:
        assert hook(repository, each["id"], "--strict")[0] == 0, each["id"]


def test_hooks_on_a_wrong_input(repository: Repository) -> None:
    repository.change("backendName: llamacpp", "backendName: llamacp")
    for each in HOOKS:
        code, said = hook(repository, each["id"])
        assert code == 2, each["id"]
        assert "chat.yaml:24:" in said


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
        code, said = hook(repository, "llmaz-render")
        assert code == 1
        assert "rendered/demo/more.yaml" in said
        assert "untracked.yaml" not in said
        assert "git add" in said
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
