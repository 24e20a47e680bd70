"""The repository that the tests of `llmaz diff` begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.diff.repository import CHAT, CONFIG, MAILS, MODEL, Repository


@pytest.fixture
def repository(folder: Path) -> Repository:
    """With two models, in one commit."""
    repo = Repository(folder)
    repo.write(llmaz=CONFIG, models=MODEL, chat=CHAT, mails=MAILS)
    repo.commit("first")
    return repo
