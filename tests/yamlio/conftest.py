"""The parser that a test of reading goes through."""

from __future__ import annotations

import pytest
from yaml._yaml import CParser

from renderer.yamlio import event_parser as event_parser


@pytest.fixture(params=["libyaml", "pure"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both of PyYAML's parsers: a platform without the C extension reads the same."""
    monkeypatch.setattr(event_parser, "Parser", CParser if request.param == "libyaml" else event_parser.PureParser)
    return str(request.param)
