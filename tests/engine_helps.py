"""Helps as engines print them, made of the options that our lists have: facts, and no words of the engines."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from renderer.api import BackendRuntime
from renderer.engines.option_lists import Option, known_versions, read_option_list
from renderer.load import preset
from renderer.load.option_lists import OptionListReader

ENGINES = ("vllm", "sglang", "llamacpp", "tgi", "tensorrt-llm")
OPTIONS = {name: preset(f"backends/{name}").value["spec"]["engine"]["options"] for name in ENGINES}
USAGE = {"vllm": "usage: vllm serve", "sglang": "usage: launch_server.py", "tgi": "Usage: text-generation-launcher"}
_FORMS = {"1": "X", "2": "X X", "?": "[X]", "*": "[X ...]", "+": "X [X ...]"}


def newest(engine: str) -> Mapping[str, Option]:
    """The options of the newest version of an engine that is listed."""
    document = preset(f"backends/{engine}")
    runtime, files = BackendRuntime(engine, document.value["spec"], document, ours=True), OptionListReader()
    listed = read_option_list(files, runtime, known_versions(files, runtime)[-1])
    assert listed is not None
    return listed.options


def is_hidden(engine: str, name: str) -> bool:
    """Whether the engine's help never shows a spelling."""
    return any(fnmatchcase(name, pattern) for pattern in OPTIONS[engine]["help"].get("hidden", ()))


def help_of(engine: str, *further: str, without: tuple[str, ...] = ()) -> str:
    """A help with the options of the newest version that is listed, less some, and with further lines."""
    style, options = OPTIONS[engine]["style"], newest(engine)
    spellings: dict[int, list[str]] = {}
    for name, option in options.items():
        if name not in without and not is_hidden(engine, name):
            spellings.setdefault(id(option), []).append(name)
    lines = [f"{USAGE[engine]} [options]", ""] if engine in USAGE else []
    indent = "" if style == "exact" else "  "
    for names in spellings.values():
        arity = options[names[0]].arity
        form = "<X>" if style == "clap" and arity == "1" else _FORMS.get(arity, "")
        lines.append(f"{indent}{', '.join(names)} {form}   words".rstrip())
    return "\n".join([*lines, *(f"{indent}{line}" for line in further), ""])
