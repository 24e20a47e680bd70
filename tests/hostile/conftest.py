"""What all hostile tests share: whatever they name on the loopback is listened to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.hostile.listeners import Listeners, listeners


@pytest.fixture(scope="module", autouse=True)
def heard() -> Iterator[Listeners]:
    """Listeners that see nothing while the tests of a module run."""
    with listeners() as heard:
        yield heard
        assert heard.seen() == []
