"""Variables in the script of a container, whose values the container says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

_VARIABLE = r"\$(?:\{([A-Za-z_]\w*)(?::?-[^{}$`\"']*)?\}|([A-Za-z_]\w*))"
# Patterns as text: few runs need them.
_IN_QUOTES = rf"(?s)\\.|{_VARIABLE}"
_IN_SCRIPT = rf"""(?s)\\.|'[^']*'|"(?:\\.|[^"\\])*"|{_VARIABLE}"""
_SETTING = r"(?s)\b(?:for|read|unset|local|source|eval)\b(.*)"
_ONE_WORD = r"[\w./:@=,+%-]+"


def fill_in_script(script: str, variables: Mapping[str, str]) -> str:
    """The script with `$NAME`, `${NAME}` and `${NAME:-default}` filled in where the value is one plain word, and the
    script itself gives the variable no other one.
    """

    @cache
    def is_set(name: str) -> bool:
        return _sets(script, name)

    def value_of(match: re.Match[str]) -> str:
        if match[0][0] == '"':
            return re.sub(_IN_QUOTES, value_of, match[0])
        name = match[1] or match[2]
        value = variables.get(name, "") if name else ""
        return value if re.fullmatch(_ONE_WORD, value) and not is_set(name) else match[0]

    return re.sub(_IN_SCRIPT, value_of, script) if "$" in script and variables else script


def _sets(script: str, name: str) -> bool:
    """Whether a script may give a variable another value."""
    if re.search(rf"(?<![\w$]){name}=", script):
        return True
    settings = (re.search(_SETTING, command) for command in re.split("[\n;]", script))
    return any(setting and re.search(rf"\b{name}\b", setting[1]) for setting in settings)
