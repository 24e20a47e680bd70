"""PyYAML's event parser, libyaml's where there is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from yaml.parser import Parser as _Events
from yaml.reader import Reader
from yaml.scanner import Scanner


class PureParser(Reader, Scanner, _Events):
    """PyYAML's event parser without libyaml."""

    def __init__(self, data: bytes) -> None:
        Reader.__init__(self, data)
        Scanner.__init__(self)
        _Events.__init__(self)


EventParser = Callable[[bytes], Any]
Parser: EventParser = PureParser
try:
    from yaml._yaml import CParser
except ImportError:  # PyYAML was built without libyaml: the same events, fifteen times slower
    pass
else:
    Parser = CParser
