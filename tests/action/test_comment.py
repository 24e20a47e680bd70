"""The comment of the action: one, kept up to date, cut where it is too long, whatever GitHub answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.action import run as action
from tests.action.github import BOT, Act, Hub, Repository, says

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
    before = len(hub.requests)
    assert act().code == 0
    assert hub.requests[before:] == ["GET /repos/o/r/issues/7/comments?per_page=100&page=1"]  # it says that already
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
    assert [request for request in hub.requests if request.startswith("GET")][-1].endswith("page=3")


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
    marks = [comment["body"].splitlines()[0] for comment in hub.comments]
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
    assert (ran.code, hub.requests) == (0, [])
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
    ((level, _, text),) = ran.annotations
    assert level == kind
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
    assert len([request for request in hub.requests if request.startswith("POST")]) == (4 if times > 1 else 1)
    assert "new" in ran.summary


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_token_goes_nowhere_else(method: str, act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.refuse(method, 302, "Moved", Location=f"{hub.address}/elsewhere")
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    ran = act()
    assert ran.code == 3
    assert "302 Moved" in ran.annotations[0][2]
    assert [request for request in hub.requests if "elsewhere" in request] == []


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
