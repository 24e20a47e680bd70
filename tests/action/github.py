"""GitHub as far as the action asks it, on the loopback interface, and a rendered repository."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scripts.action import run as action
from tests.diagnostics.test_formats import commands

ROOT = Path(__file__).resolve().parents[2]
QUICKSTART = ROOT / "examples" / "quickstart" / "chat.yaml"
BOT = "github-actions[bot]"
PROGRAM = """\
#!{python} -IS
import json, os, sys
answer = os.environ.get("DIFF")
if sys.argv[1:2] == ["diff"] and answer:
    with open(answer, encoding="utf-8") as opened:
        reply = json.load(opened)
    sys.stderr.write(reply.get("err", ""))
    code = reply.get("code", 0)
    if "json" in sys.argv:
        print(json.dumps(reply.get("data", {{}})))
        sys.exit(code)
    print(reply["markdown"], end="")
    sys.exit(code if code > 1 else 0)
os.execv(sys.executable, [sys.executable, "-m", "renderer", *sys.argv[1:]])
"""


class Hub(ThreadingHTTPServer):
    """GitHub's API as far as the action asks it: comments of pull request 7 of o/r, and code scanning."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.comments: list[dict[str, Any]] = []
        self.uploads: list[dict[str, Any]] = []
        self.requests: list[str] = []
        self.tokens: set[str] = set()
        self.author = BOT
        self.refusals: dict[str, list[tuple[int, str, dict[str, str]]]] = {}  # by method, the next first
        self.drop_answers = 0  # of POST: done, but the answer gets lost

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def add(self, body: str, author: str = BOT) -> dict[str, Any]:
        """A comment that is there."""
        comment = {"id": 1000 + len(self.comments), "body": body, "user": {"login": author}}
        comment["html_url"] = f"https://github.example/o/r/pull/7#issuecomment-{comment['id']}"
        self.comments.append(comment)
        return comment

    def refuse(self, method: str, status: int, message: str = "no", times: int = 1, **headers: str) -> None:
        self.refusals.setdefault(method, []).extend([(status, message, headers)] * times)


class Handler(BaseHTTPRequestHandler):
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
        hub.requests.append(f"{self.command} {self.path}")
        hub.tokens.add(self.headers.get("Authorization", ""))
        content = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
        if refusals := hub.refusals.get(self.command):
            status, message, headers = refusals.pop(0)
            self.answer(status, {"message": message}, headers)
            return
        if "body" in (content or {}) and action.units(content["body"]) > 65_536:
            self.answer(422, {"message": "Validation Failed: Body is too long (maximum is 65536 characters)"})
            return
        if match := re.fullmatch(r"/repos/o/r/issues/7/comments\?per_page=(\d+)&page=(\d+)", self.path):
            size, page = int(match[1]), int(match[2])
            self.answer(200, hub.comments[size * (page - 1) : size * page])
        elif self.command == "POST" and self.path == "/repos/o/r/issues/7/comments":
            new_comment = hub.add(content["body"], hub.author)
            if hub.drop_answers:
                hub.drop_answers -= 1
                self.close_connection = True
                return
            self.answer(201, new_comment)
        elif self.command == "PATCH" and (match := re.fullmatch(r"/repos/o/r/issues/comments/(\d+)", self.path)):
            (changed,) = [comment for comment in hub.comments if comment["id"] == int(match[1])]
            changed["body"] = content["body"]
            self.answer(200, changed)
        elif self.command == "POST" and self.path == "/repos/o/r/code-scanning/sarifs":
            hub.uploads.append(content)
            self.answer(202, {"id": "1"})
        else:
            self.answer(404, {"message": "Not Found"})

    do_GET = do_POST = do_PATCH = handle_any


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


def says(monkeypatch: pytest.MonkeyPatch, markdown: str, code: int = 1, err: str = "", **data: Any) -> None:
    """What `llmaz diff` answers from now on."""
    file = Path(os.environ["RUNS"]) / "diff.json"
    file.write_text(json.dumps({"markdown": markdown, "code": code, "err": err, "data": data}), "utf-8")
    monkeypatch.setenv("DIFF", str(file))


def neutral(text: str, repository: Repository) -> str:
    """Without commits, for goldens."""
    return text.replace(repository.base, "BASE").replace(repository.git("rev-parse", "HEAD"), "HEAD")
