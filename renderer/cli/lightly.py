"""click, imported without modules that take more than half of its time and that hardly a run needs, and without
looking for garbage; and without looking for what a short option may be meant for.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    """Stands for a module, with some of what is in there; for anything else the module itself is imported."""

    def __init__(self, name: str, **here: Any) -> None:
        super().__init__(name)
        self.__dict__.update(here)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # `from … import` asks for __path__
            raise AttributeError(name)
        self.gone()
        return getattr(import_module(self.__name__), name)

    def gone(self) -> None:
        """From here on whoever imports the module gets the module."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]


def _cleandoc(text: str) -> str:
    """As inspect's: what it makes of a text of one line, as the helps of options are, is known without it."""
    if "\n" in text:
        import inspect

        return inspect.cleandoc(text)
    return text.expandtabs().lstrip()


def _ngettext(one: str, several: str, count: int) -> str:
    return one if count == 1 else several


_STAND_INS = [
    _Later("inspect", cleandoc=_cleandoc),
    _Later("gettext", gettext=str, ngettext=_ngettext),  # it looks into many folders for words that click does not ship
    # Of these click.UUID and click.DateTime are made, which nobody here uses.
    _Later("uuid", UUID=type("UUID", (), {})),
    _Later("datetime", datetime=type("datetime", (), {})),
]
_COLLECTS = gc.isenabled()
gc.disable()
try:
    for each in _STAND_INS:
        sys.modules.setdefault(each.__name__, each)
    import click as click
    import click.parser
finally:
    for each in _STAND_INS:
        each.gone()
    if _COLLECTS:
        gc.enable()


class _NoSuchOption(click.NoSuchOption):
    """The same, which looks for options that are spelt nearly like it when it is printed. click takes every short
    option for a long one first, and has one of these each time.
    """

    def __init__(
        self,
        option_name: str,
        message: str | None = None,
        possibilities: Iterable[str] | None = None,
        ctx: click.Context | None = None,
    ) -> None:
        super().__init__(option_name, message, ctx=ctx)
        self.known = possibilities

    def format_message(self) -> str:
        near = click.NoSuchOption(self.option_name, self.message, self.known, self.ctx)
        return near.format_message()


click.parser.NoSuchOption = _NoSuchOption  # type: ignore[attr-defined]
