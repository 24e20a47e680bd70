"""What the GitHub Action does: it checks what is committed, and shows in the pull request what a change does.

Run by the Python that llmaz is installed in, with `llmaz` on the PATH; reads INPUT_* and GITHUB_* as action.yml and the
runner set them. Only the comment and the upload to code scanning need GitHub, at GITHUB_API_URL.
Exit code: that of llmaz (1 stale, 2 invalid); 2 also for a wrong input, a commit that is not there or a log that cannot
be written, 3 also when GitHub's API fails. A token that may not write is no failure: the job's summary has all of it.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import http.client
import json
import os
import posixpath
import re
import secrets
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from renderer import load
from renderer.api import RenderOptions
from renderer.cli import standard_streams
from renderer.diagnostics import Diagnostic, Edit, RenderError
from renderer.diagnostics.formats import as_github, as_sarif, fingerprints
from renderer.source import git
from renderer.source.commit import commit_tree
from renderer.text import escapes

Result = TypeVar("Result")

COMMENT_LIMIT = 65_536  # GitHub's, in UTF-16 units
SUMMARY_LIMIT = 1_048_576  # GitHub's, in bytes; more and the whole summary is dropped
LISTED = 50  # problems that a comment lists
PAGE = 100
PAGES = 200
PAUSES = (1.0, 4.0, 15.0)  # before another try, in seconds
LONGEST_PAUSE = 60.0
STALE = {"E126", "E127", "E128"}
_MARKER = re.compile(r"<!-- llmaz(?::[^\s>]+)? -->\n?")
_CUT = "\n\n*… cut: a comment holds 65,536 characters. All of it: `llmaz diff`, or this job's summary.*\n"


class Wrong(Exception):
    """What was asked for cannot be done, in words for the user."""


class Denied(Exception):
    """GitHub's API: the token may not."""


class Passing(Exception):
    """GitHub's API: a fault that may pass. `pause`: what GitHub asks to wait, in seconds."""

    def __init__(self, text: str, pause: float = 0.0) -> None:
        super().__init__(text)
        self.pause = pause


class Failed(Exception):
    """GitHub's API: a fault for good."""


class Done(NamedTuple):
    """What a program answered."""

    code: int
    out: str
    err: str


class Settings(NamedTuple):
    """The inputs, and what the runner says."""

    folder: Path
    paths: tuple[str, ...]
    manifests: tuple[str, ...]
    environment: str
    committed: bool
    strict: bool
    comment: bool
    sarif: bool
    base: str
    author: str
    token: str
    api: str
    repository: str
    event_name: str
    event: Mapping[str, Any]
    sha: str
    ref: str
    temp: Path


class Checked(NamedTuple):
    """What the check of the work tree came to. `failure`: what went wrong beside the problems."""

    code: int
    problems: tuple[Diagnostic, ...]
    failure: str

    def count(self, severity: str) -> int:
        """Problems of this severity; files that are only stale are none."""
        return sum(problem.severity == severity and problem.code not in STALE for problem in self.problems)

    @property
    def stale(self) -> tuple[str, ...]:
        """Output files that are not what the input makes."""
        return tuple(problem.file for problem in self.problems if problem.code in STALE)


class Compared(NamedTuple):
    """What `llmaz diff` says of two commits; code 0 or 1 (different), else `failure` has its words, and `markdown`
    those about files and settings that it refuses. `environment`: the one of several.
    """

    environment: str
    base: str
    head: str
    code: int
    markdown: str
    data: Any
    failure: str

    @property
    def is_loosened(self) -> bool:
        """Whether settings change that decide what is judged."""
        return self.data is not None and any(risk["risk"] == "guard" for risk in self.data.get("risks", ()))


# --- What is asked for


def settings(variables: Mapping[str, str]) -> Settings:
    """Raises Wrong."""

    def text(name: str) -> str:
        return variables.get(f"INPUT_{name.upper().replace('-', '_')}", "").strip()

    def flag(name: str, default: bool) -> bool:
        value = text(name).lower()
        if value not in ("", "true", "false"):
            raise Wrong(f"{name}: '{value}' is neither true nor false")
        return value == "true" if value else default

    def words(name: str, value: str) -> tuple[str, ...]:
        try:
            return tuple(shlex.split(value))
        except ValueError as error:
            raise Wrong(f"{name}: {error}") from error

    event_name = variables.get("GITHUB_EVENT_NAME", "")
    if event_name == "pull_request_target":
        raise Wrong(
            "this action does not run under pull_request_target, which hands a token that may write to whatever a fork "
            "proposes; use pull_request"
        )
    if any(forbidden in text("base") for forbidden in ("..", "\n", " ")) or text("base").startswith("-"):
        raise Wrong(f"base: '{text('base')}' is not a commit, branch or tag")
    if not re.fullmatch(r"([A-Za-z0-9][A-Za-z0-9._-]*)?", text("environment")):
        raise Wrong(f"environment: '{text('environment')}' is not a name")
    workspace = Path(variables.get("GITHUB_WORKSPACE") or ".")
    folder = workspace / (text("working-directory") or ".")
    if not folder.is_dir():
        raise Wrong(
            f"working-directory: '{text('working-directory')}' is not a folder; is there an actions/checkout before?"
        )
    if not folder.resolve().is_relative_to(workspace.resolve()):
        raise Wrong(f"working-directory: '{text('working-directory')}' lies outside of the workspace")
    return Settings(
        folder=folder,
        paths=words("paths", text("paths")),
        manifests=words("manifests", text("manifests")),
        environment=text("environment"),
        committed=flag("committed", True),
        strict=flag("strict", False),
        comment=flag("comment", True),
        sarif=flag("sarif", False),
        base=text("base"),
        author=text("comment-author") or "github-actions[bot]",
        token=text("token"),
        api=variables.get("GITHUB_API_URL") or "https://api.github.com",
        repository=variables.get("GITHUB_REPOSITORY", ""),
        event_name=event_name,
        event=_event(variables.get("GITHUB_EVENT_PATH", "")),
        sha=variables.get("GITHUB_SHA", ""),
        ref=variables.get("GITHUB_REF", ""),
        temp=Path(tempfile.mkdtemp(prefix="llmaz-", dir=variables.get("RUNNER_TEMP") or None)),
    )


def _event(path: str) -> Mapping[str, Any]:
    """What started the workflow. Raises Wrong."""
    try:
        event = json.loads(Path(path).read_text("utf-8")) if path else {}
    except (OSError, ValueError) as error:
        raise Wrong(f"GITHUB_EVENT_PATH: '{path}' cannot be read: {error}") from error
    return event if isinstance(event, dict) else {}


def run(inputs: Settings, *command: str) -> Done:
    """A program, in the working directory."""
    try:
        done = subprocess.run(command, cwd=inputs.folder, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        raise Wrong(f"{command[0]}: {error.strerror}") from error
    return Done(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def chosen(inputs: Settings, environment: str = "") -> list[str]:
    """The arguments that say what is rendered."""
    name = inputs.environment or environment
    return [*(["--env", name] if name else []), *(["--", *inputs.paths] if inputs.paths else [])]


# --- The check


def check(inputs: Settings) -> Checked:
    """Of the work tree: `llmaz render --check`, or `llmaz validate` where rendered files are not committed; and `llmaz
    check` of manifests that nobody renders.
    """
    command = ["render", "--check"] if inputs.committed else ["validate"]
    checked = _checked(inputs, *command, *chosen(inputs))
    if not inputs.manifests:
        return checked
    manifests = _checked(inputs, "check", "--", *inputs.manifests)
    problems = checked.problems + tuple(problem for problem in manifests.problems if problem not in checked.problems)
    failure = "\n".join(filter(None, (checked.failure, manifests.failure)))
    return Checked(max(checked.code, manifests.code), problems, failure)


def _checked(inputs: Settings, command: str, *args: str) -> Checked:
    """What a command of llmaz that prints problems came to."""
    strict = ["--strict"] if inputs.strict else []
    done = run(inputs, "llmaz", command, "--format", "json", *strict, *args)
    prefix = _prefix(inputs.folder)
    try:
        items = json.loads(done.out or "[]")
    except ValueError:
        return Checked(done.code or 3, (), done.out + done.err)
    problems = tuple(_problem(item, inputs.folder, prefix) for item in items)
    silent = done.code != 0 and not problems
    return Checked(
        done.code, problems, (done.err or f"llmaz ended with {done.code}") if silent or done.code > 2 else ""
    )


def _problem(item: Mapping[str, Any], folder: Path, prefix: str) -> Diagnostic:
    """From the JSON; the file as the repository knows it, where it is one of the repository."""

    def in_repository(file: str) -> str:
        if prefix and not posixpath.isabs(file) and (item["code"] in STALE or os.path.lexists(folder / file)):
            return posixpath.normpath(posixpath.join(prefix, file))
        return file

    return Diagnostic(
        file=in_repository(item["file"]),
        line=item["line"],
        column=item["column"],
        code=item["code"],
        field=item["field"],
        message=item["message"],
        hint=item["hint"],
        warning=item["severity"] == "warning",
        end_line=item.get("endLine", 0),
        end_column=item.get("endColumn", 0),
        edits=tuple(
            Edit(
                file=in_repository(edit["file"]),
                line=edit["line"],
                column=edit["column"],
                end_line=edit["endLine"],
                end_column=edit["endColumn"],
                text=edit["text"],
            )
            for edit in item.get("edits", ())
        ),
    )


# --- The comparison


def compare(inputs: Settings) -> list[Compared]:
    """The proposed commit with the one that it left from, in each environment that is asked for; nothing where the
    event has nothing to compare with.

    A pull request is compared from its merge base: with the tip of the base branch, what others merged meanwhile
    would show up reversed. Raises Wrong where a commit is missing.
    """
    base, head = _ends(inputs)
    if not base:
        return []
    commits = [_commit(inputs, revision) for revision in (base, head)]
    if inputs.base and not commits[0]:  # a branch, which a runner's clone has as a remote one only
        commits[0] = _commit(inputs, f"origin/{base}")
    older, newer = (_asked_git(git.merge_base, inputs, *commits) if all(commits) else ""), commits[1]
    if not older:
        if inputs.event_name == "push" and not inputs.base:  # forced over, nobody has the old one
            return []
        lost = next(
            (name for name, commit in zip((base, head), commits, strict=True) if not commit), f"{base}...{head}"
        )
        raise Wrong(
            f"{lost} is not in this clone, so there is nothing to compare with: give actions/checkout `fetch-depth: 0`"
        )
    span = f"{commits[0]}...{newer}"
    before, now = ((), ()) if inputs.environment else (_environments(inputs, older), _environments(inputs, newer))
    gone = [environment for environment in before if now and environment not in now]
    names = (*now, *gone) if len(now) + len(gone) > 1 else ("",)
    return [_compared(inputs, span, environment)._replace(base=older, head=newer) for environment in names]


def _compared(inputs: Settings, span: str, environment: str) -> Compared:
    """What `llmaz diff` says of a span, in one environment."""
    what = chosen(inputs, environment)
    result = run(inputs, "llmaz", "diff", span, "--format", "json", "--exit-code", *what)
    shown = run(inputs, "llmaz", "diff", span, "--format", "markdown", *what) if result.code <= 2 else result
    if shown.code:
        failure = shown.err or shown.out or f"llmaz diff ended with {shown.code}"
        refused = shown.out if shown.code == 2 and shown.out.startswith("<!-- llmaz") else ""
        code = max(result.code, shown.code)
        return Compared(environment, base="", head="", code=code, markdown=refused, data=None, failure=failure)
    data = json.loads(result.out)
    return Compared(environment, base="", head="", code=result.code, markdown=shown.out, data=data, failure="")


def _environments(inputs: Settings, commit: str) -> tuple[str, ...]:
    """The names in a commit, none where it cannot be told: `llmaz diff` has words for that."""
    try:
        with contextlib.chdir(inputs.folder):
            file_system = commit_tree(git.top(), commit)
            return load.rendered_environments(RenderOptions(paths=inputs.paths, file_system=file_system))
    except (RenderError, OSError):
        return ()


def _ends(inputs: Settings) -> tuple[str, str]:
    pull, group = inputs.event.get("pull_request"), inputs.event.get("merge_group")
    if pull:
        return inputs.base or pull["base"]["sha"], pull["head"]["sha"]
    if group:
        return inputs.base or group["base_sha"], group["head_sha"]
    before = str(inputs.event.get("before") or "") if inputs.event_name == "push" else ""
    return inputs.base or (before.strip("0") and before), inputs.sha or "HEAD"


def _commit(inputs: Settings, name: str) -> str:
    """Its id, '' where the clone does not have it. Raises Wrong."""
    return _asked_git(git.commit, inputs, name)


def _asked_git(question: Callable[..., str], inputs: Settings, *names: str) -> str:
    """A commit, '' where the clone has none. Raises Wrong without a repository, and with one that git does not
    trust.
    """
    try:
        return question(git.top(str(inputs.folder)), *names)
    except RenderError as error:
        if all(problem.code in ("E782", "E783") for problem in error.problems):
            return ""
        raise Wrong(f"nothing to compare with: {error.problems[0].message}") from error


def _prefix(folder: Path) -> str:
    """The folder as seen from the top of its repository; '' at the top, and outside of one."""
    try:
        prefix = os.path.relpath(os.path.realpath(folder), git.top(str(folder)))
    except RenderError:
        return ""
    return "" if prefix == "." else prefix


# --- The comment


def marker(inputs: Settings) -> str:
    """By what we know our comment again, whatever comes out: one for each environment that is asked for, and for each
    folder that the action runs in.
    """
    words = inputs.environment
    if prefix := _prefix(inputs.folder):
        words += f"@{re.sub('[^A-Za-z0-9._/-]|--+', '_', prefix)}"
    return f"<!-- llmaz:{words} -->" if words else "<!-- llmaz -->"


def body(checked: Checked, compared: Sequence[Compared], missing: str = "", limit: int = 0) -> str:
    """Markdown of all that there is to say, the worst first. `missing`: why nothing could be compared.

    `limit`: that long at most, so far as the sections of several environments can give way, the longest first.
    """
    parts = []
    errors, warnings, stale = checked.count("error"), checked.count("warning"), checked.stale
    if checked.failure:
        parts.append(f"### llmaz: not checked\n\n{escapes.markdown_block(checked.failure.strip())}")
    elif checked.code == 2:
        refused = f"{counted(errors, 'error')}" if errors else f"{counted(warnings, 'warning')}, under `strict`"
        parts.append(f"### llmaz: {refused}\n\n{_listed(checked, 'error' if errors else 'warning')}")
    if stale and checked.code == 1:
        shown = "\n".join(f"- {escapes.markdown_code(file)}" for file in stale[:LISTED])
        more = f"\n- … and {len(stale) - LISTED:,} more" if len(stale) > LISTED else ""
        parts.append(
            f"### llmaz: {counted(len(stale), 'file')} not up to date\n\n"
            f"Run `llmaz render` and commit what it writes.\n\n{shown}{more}"
        )
    if missing:
        parts.append(f"### llmaz: not compared\n\n{escapes.markdown_block(missing.strip())}")
    sections, at = [_section(comparison) for comparison in compared], len(parts)
    if warnings and (errors or checked.code != 2):
        parts.append(
            f"<details><summary>{counted(warnings, 'warning')}</summary>\n\n{_listed(checked, 'warning')}\n\n</details>"
        )
    if compared:
        parts.append(f"<sub>{compared[0].head} against {compared[0].base}</sub>")
    if limit and len(sections) > 1:
        sections = shared(sections, limit - units("\n\n".join(parts)) - 2 * len(sections) - 1)
    parts[at:at] = sections
    return "\n\n".join(parts) + "\n"


def _section(compared: Compared) -> str:
    """What a comparison says."""
    if compared.failure and not compared.markdown:
        name = f" {escapes.markdown_code(compared.environment)}" if compared.environment else ""
        return f"### llmaz{name}: not compared\n\n{escapes.markdown_block(compared.failure.strip())}"
    return _MARKER.sub("", compared.markdown, count=1).strip() or "No change in what is rendered."


def shared(sections: Sequence[str], room: int) -> list[str]:
    """The sections, cut where they need more than their share of the room; what one leaves is the others'."""
    texts = list(sections)
    for left, at in enumerate(sorted(range(len(texts)), key=lambda at: units(texts[at]))):
        texts[at] = fitted(texts[at], max(room // (len(texts) - left), 1000)).rstrip("\n")
        room -= units(texts[at])
    return texts


def _listed(checked: Checked, severity: str) -> str:
    problems = [problem for problem in checked.problems if problem.severity == severity and problem.code not in STALE]
    more = [f"… and {len(problems) - LISTED:,} more"] if len(problems) > LISTED else []
    return escapes.markdown_block("\n".join([*map(str, problems[:LISTED]), *more]))


def counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def units(text: str) -> int:
    """How long GitHub counts a text."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def fitted(text: str, limit: int = COMMENT_LIMIT, size: Callable[[str], int] = units) -> str:
    """The text, or as many of its lines as fit with a word about the rest; fences and details are closed again."""
    if size(text) <= limit:
        return text
    room = limit - size(_CUT) - 200  # what closing takes
    lines, used, fence, open_details = [], 0, "", 0
    for line in text.splitlines():
        used += size(line) + 1
        if used + 11 * open_details + len(fence) > room:
            break
        lines.append(line)
        opening = re.match(r" {0,3}(`{3,}|~{3,})(.*)", line)
        if not fence:
            fence = opening[1] if opening else ""
            if not opening:
                open_details += line.count("<details") - line.count("</details>")
        elif opening and opening[1].startswith(fence) and not opening[2].strip():
            fence = ""
    closing = [fence] if fence else []
    closing += ["", "</details>"] * max(open_details, 0)
    return "\n".join([*lines, *closing]) + _CUT


# --- GitHub


class _Straight(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: the token would go along."""

    def redirect_request(self, *_: Any) -> None:
        """None: a redirection is an error."""


class GitHub:
    """Its REST API, as the token's owner."""

    def __init__(self, api: str, token: str, repository: str) -> None:
        if not api.startswith(("https://", "http://")):
            raise Wrong(f"GITHUB_API_URL: '{api}' is not an address")
        self._base, self._token = f"{api.rstrip('/')}/repos/{repository}", token
        self._opener = urllib.request.build_opener(_Straight)

    def ask(self, method: str, path: str, content: Mapping[str, Any] | None = None) -> Any:
        """The answer's JSON. Raises Denied, Passing, Failed."""
        request = urllib.request.Request(  # noqa: S310  # http(s), see above
            self._base + path,
            method=method,
            data=None if content is None else json.dumps(content).encode(),
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
                "User-Agent": "llmaz",
                "X-GitHub-Api-Version": "2022-11-28",
            },
        )
        try:
            with self._opener.open(request, timeout=30) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            raise _refusal(error, f"{method} {path}") from error
        except (OSError, http.client.HTTPException) as error:
            raise Passing(f"{method} {path}: {getattr(error, 'reason', None) or error}") from error
        except ValueError as error:
            raise Passing(f"{method} {path}: the answer is not JSON") from error

    def comment(self, number: int, mark: str, text: str, author: str, only_update: bool) -> tuple[str, str]:
        """Makes our one comment say this: address and author, or two empty ones where there is none to change."""
        existing = self._ours(number, mark, author)
        if existing and existing.get("body") == text:
            answer = existing
        elif existing:
            answer = self.ask("PATCH", f"/issues/comments/{existing['id']}", {"body": text})
        elif only_update:
            return "", ""
        else:
            answer = self.ask("POST", f"/issues/{number}/comments", {"body": text})
        return str(answer.get("html_url") or ""), str((answer.get("user") or {}).get("login") or "")

    def _ours(self, number: int, mark: str, author: str) -> Any:
        """The comment that begins with our mark and that we wrote: anybody can write the mark."""
        for page in range(1, PAGES + 1):
            comments = self.ask("GET", f"/issues/{number}/comments?per_page={PAGE}&page={page}")
            for comment in comments:
                if (comment.get("user") or {}).get("login") == author and str(comment.get("body") or "").startswith(
                    mark
                ):
                    return comment
            if len(comments) < PAGE:
                break
        return None


def _refusal(error: urllib.error.HTTPError, request: str) -> Exception:
    """What an answer other than 2xx is."""
    try:
        message = str(json.loads(error.read())["message"])
    except (ValueError, KeyError, TypeError, OSError):
        message = str(error.reason)
    text = f"{request}: {error.code} {message}"
    after = error.headers.get("Retry-After") or ""
    limited = bool(after) or error.headers.get("X-RateLimit-Remaining") == "0" or "rate limit" in message.lower()
    if error.code == 429 or error.code >= 500 or (error.code == 403 and limited):
        return Passing(text, float(after) if after.isdigit() else 0.0)
    return Denied(text) if error.code in (401, 403, 404) else Failed(text)


def patiently(what: Callable[[], Result]) -> Result:
    """Tries again where a fault may pass. A comment that was made although the answer got lost is found the next time.

    Raises Denied, Failed.
    """
    for pause in PAUSES:
        try:
            return what()
        except Passing as fault:
            time.sleep(min(max(pause, fault.pause), LONGEST_PAUSE))
    try:
        return what()
    except Passing as fault:
        raise Failed(str(fault)) from fault


def sarif(checked: Checked, mark: str) -> str:
    """The log for code scanning: a category of its own for each environment and folder, and by what an alert is known
    again, which the upload does not work out."""
    log = json.loads(as_sarif(checked.problems))
    (sarif_run,) = log["runs"]
    sarif_run["automationDetails"] = {"id": f"{mark.removeprefix('<!-- ').removesuffix(' -->').replace(':', '/')}/"}
    for result, known_by in zip(sarif_run["results"], fingerprints(checked.problems), strict=True):
        result["partialFingerprints"] = {"primaryLocationLineHash": f"{known_by}:1"}
    return escapes.json_text(log, indent=2)


def analysis(inputs: Settings, text: str) -> dict[str, str]:
    """What code scanning wants of an upload: of a pull request the merge commit where that is checked out, else its
    head."""
    try:
        head = _commit(inputs, "HEAD")
    except Wrong:  # said where the commits are compared
        head = ""
    ref = inputs.ref if head == inputs.sha else re.sub(r"^(refs/pull/\d+)/merge$", r"\1/head", inputs.ref)
    packed = gzip.compress(text.encode(errors="replace"), mtime=0)
    return {"commit_sha": head, "ref": ref, "sarif": base64.b64encode(packed).decode(), "tool_name": "llmaz"}


# --- What is said


def say(text: str) -> None:
    """Prints words of others so that the runner takes none of them for a command."""
    if text:
        stop = secrets.token_hex(16)
        print(f"::stop-commands::{stop}\n{escapes.lines(text)}\n::{stop}::")


def annotate(kind: str, text: str) -> None:
    """An annotation of the job."""
    print(f"::{kind} title=llmaz::{escapes.workflow_data(text.strip())}")


def put(file: str, outputs: Mapping[str, str]) -> None:
    """The outputs of the step, whatever is in them."""
    if file:
        end = secrets.token_hex(16)
        with Path(file).open("a", encoding="utf-8") as opened:
            opened.writelines(f"{name}<<{end}\n{value}\n{end}\n" for name, value in outputs.items())


def summarize(file: str, text: str) -> None:
    """The summary of the job; what others wrote into it before stays."""
    if file:
        path = Path(file)
        room = SUMMARY_LIMIT - (path.stat().st_size if path.exists() else 0)
        with path.open("a", encoding="utf-8") as opened:
            opened.write(fitted(text, room, lambda part: len(part.encode(errors="replace"))))


def gpus(compared: Sequence[Compared]) -> dict[str, str]:
    """The accelerators before and after, at most: a JSON object by accelerator each, or of such by environment where
    there are several; '' where nothing was compared.
    """
    outputs = {"gpus-before": "", "gpus-after": ""}
    if not compared or any(comparison.failure for comparison in compared):
        return outputs
    for side in ("before", "after"):
        counts = {
            one.environment: {row["accelerator"]: row["atMost"][side] or 0 for row in one.data.get("gpus", [])}
            for one in compared
        }
        outputs[f"gpus-{side}"] = json.dumps(counts if compared[0].environment else counts[""])
    return outputs


# --- All of it


def main(variables: Mapping[str, str]) -> int:
    """The action: see above."""
    try:
        return act(variables)
    except Wrong as wrong:
        annotate("error", str(wrong))
        return 2


def act(variables: Mapping[str, str]) -> int:
    """Raises Wrong."""
    inputs = settings(variables)
    checked = check(inputs)
    if checked.problems:
        print(as_github(checked.problems))
    if checked.failure:
        annotate("error", checked.failure)
    missing: Wrong | None = None
    compared: list[Compared] = []
    try:
        compared = compare(inputs) if checked.code < 2 else []
    except Wrong as wrong:  # what was checked is still to be said
        missing = wrong
    failed = [comparison for comparison in compared if comparison.failure]
    for comparison in failed:
        annotate(
            "error",
            f"llmaz diff{f' --env {comparison.environment}' if comparison.environment else ''}: {comparison.failure}",
        )
    mark, why = marker(inputs), str(missing or "")
    text = body(checked, compared, why)
    say(text)
    summarize(variables.get("GITHUB_STEP_SUMMARY", ""), text)
    log, shown = inputs.temp / "llmaz.sarif", inputs.temp / "llmaz.md"
    log.write_text(sarif(checked, mark), "utf-8", errors="replace")
    shown.write_text(text, "utf-8", errors="replace")
    changed = any(comparison.code == 1 for comparison in compared)
    loosened = any(comparison.is_loosened for comparison in compared)
    wordless = not changed and not loosened and checked.code == 0 and not failed and not missing
    comment = f"{mark}\n{body(checked, compared, why, COMMENT_LIMIT - units(mark) - 1)}"
    url, fault = _to_github(inputs, mark, comment, log.read_text("utf-8"), wordless)
    put(
        variables.get("GITHUB_OUTPUT", ""),
        {
            "changed": "" if failed or not compared else str(changed).lower(),
            "errors": str(checked.count("error")),
            "warnings": str(checked.count("warning")),
            "stale": str(len(checked.stale)),
            **gpus(compared),
            "diff-file": str(shown),
            "sarif-file": str(log),
            "comment-url": url,
        },
    )
    if missing:
        raise missing
    return checked.code or max((comparison.code for comparison in failed), default=0) or (3 if fault else 0)


def _to_github(inputs: Settings, mark: str, text: str, log: str, wordless: bool) -> tuple[str, bool]:
    """The comment and the upload: the comment's address, and whether GitHub failed."""
    pull, url, fault = inputs.event.get("pull_request"), "", False
    if not inputs.token or not inputs.repository:
        return url, fault
    github = GitHub(inputs.api, inputs.token, inputs.repository)
    fork = pull is not None and (pull["head"].get("repo") or {}).get("full_name") != inputs.repository
    if inputs.comment and pull:
        try:
            url, author = patiently(lambda: github.comment(pull["number"], mark, fitted(text), inputs.author, wordless))
            if author not in ("", inputs.author):
                annotate(
                    "warning", f"the comment is by {author}: set comment-author to that, or each run makes another"
                )
        except Denied as denied:
            if fork:
                annotate(
                    "notice",
                    "no comment: a fork's pull request has a token that may only read. The job's summary says the same",
                )
            else:
                annotate("warning", f"no comment, {denied}: the job needs `permissions: pull-requests: write`")
        except Failed as failed:
            annotate("error", f"the comment could not be written, and may be out of date. {failed}")
            fault = True
    if inputs.sarif:
        try:
            patiently(lambda: github.ask("POST", "/code-scanning/sarifs", analysis(inputs, log)))
        except Denied as denied:
            hint = (
                "a token of a fork"
                if fork
                else "`permissions: security-events: write`, and code scanning in the repository"
            )
            annotate("notice" if fork else "warning", f"no upload to code scanning, {denied}: see {hint}")
        except Failed as failed:
            annotate("error", f"the upload to code scanning failed. {failed}")
            fault = True
    return url, fault


if __name__ == "__main__":
    standard_streams.prepare()
    try:
        with standard_streams.checked_output():
            sys.exit(main(os.environ))
    except SystemExit as end:
        standard_streams.exit_process(end.code)
