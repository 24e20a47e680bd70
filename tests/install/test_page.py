"""What the judges read of docs/getting-started.md, and how they end; they themselves run by make."""

from __future__ import annotations

import pytest

from tests.install import __main__ as judges
from tests.install import debian


def test_the_commands_of_the_page() -> None:
    """A step that is written in another way would not be tried in a fresh Debian."""
    commands, output = debian.page_commands(debian.PAGE.read_text("utf-8"))
    assert commands[:4] == [
        f"llmaz init fleet --cpu-demo --repo-url {debian.URL}",
        "cd fleet",
        "llmaz render",
        "llmaz validate",
    ]
    assert commands[-2:] == [f"git remote add origin {debian.URL}", "git push origin HEAD:main"]
    assert "1 app, 10 objects: valid" in output
    assert not any("kubectl" in command for command in commands)


@pytest.mark.parametrize(("fault", "code", "word"), [("", 0, "ok"), ("broken", 1, "WRONG: broken")])
def test_the_exit_status(fault: str, code: int, word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert judges.judge([("a question", fault), ("another", "")]) == code
    first, second = capsys.readouterr().out.splitlines()
    assert first.endswith(f"a question: {word}")
    assert second.endswith("another: ok")
