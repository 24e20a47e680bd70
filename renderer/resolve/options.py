"""An engine's command line: whose option is whose, and what an option given again does.

How a line is read is the preset's data (`engine.options`, design/presets.md); without it arguments are just appended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from renderer.api import Spec
from renderer.problems import Findings, Origin


class Style(NamedTuple):
    """How options are read. `known`: long options that the preset itself uses (for unique prefixes); `names`: a
    memory.
    """

    read: bool
    prefixes: bool
    underscores: bool
    dotted: bool
    aliases: Mapping[str, str]
    groups: Mapping[str, frozenset[str]]
    known: frozenset[str]
    names: dict[str, str]

    def name(self, token: str) -> str:
        """The option that a token such as `--port=80` or `-tp` names, spelt as the preset spells it; '' for a value."""
        if token[:1] != "-":
            return ""
        known = self.names.get(token)
        if known is None:
            known = self.names[token] = self._named(token)
        return known

    def _named(self, token: str) -> str:
        if not _is_option(token):
            return ""
        name = token.partition("=")[0]
        head, dot, tail = name.partition(".") if self.dotted else (name, "", "")
        if self.underscores and head.startswith("--"):
            head = head.replace("_", "-")
        head = self.aliases.get(head, head)
        if self.prefixes and head.startswith("--") and head not in self.known:
            longer = [option for option in self.known if option.startswith(head)]
            head = longer[0] if len(longer) == 1 else head
        return head + dot + (tail.replace("-", "_") if dot else "")


def style(options: Spec, configs: Iterable[Sequence[str]]) -> Style:
    """The style of a preset's `engine.options`."""
    groups = {name: frozenset(members) for name, members in (options.get("groups") or {}).items()}
    aliases = {**(options.get("aliases") or {}), **(options.get("renamed") or {})}
    used = {token.partition("=")[0].partition(".")[0] for args in configs for token in args if token.startswith("--")}
    return Style(
        read=options.get("style", "none") != "none",
        prefixes=options.get("style") == "argparse",
        underscores=bool(options.get("underscores")),
        dotted=bool(options.get("dotted")),
        aliases=aliases,
        groups=groups,
        known=frozenset(used.union(*groups.values(), aliases.values())),
        names={},
    )


class Layer(NamedTuple):
    """Arguments from one author. `group`: the whole layer goes when a later one has any option of that group."""

    args: Sequence[str]
    group: str = ""


def merged(style: Style, layers: Sequence[Layer]) -> tuple[str, ...]:
    """All layers' arguments in order; an option that a later layer gives again is dropped from the earlier ones."""
    filled = [layer for layer in layers if layer.args]
    if len(filled) < 2 or not style.read:
        return tuple(token for layer in filled for token in layer.args)
    kept: list[Sequence[str]] = []
    later: set[str] = set()
    for layer in reversed(filled):
        if layer.group and later & style.groups.get(layer.group, frozenset()):
            continue
        names = {name for token in layer.args if (name := style.name(token))}
        again = {name for name in names if name in later or (style.dotted and name.partition(".")[0] in later)}
        kept.append(_without(style, layer.args, again) if again else layer.args)
        later |= names
    return tuple(token for args in reversed(kept) for token in args)


def _without(style: Style, args: Sequence[str], dropped: set[str]) -> list[str]:
    """The arguments less the dropped options and the values behind each."""
    out, skipping = [], False
    for token in args:
        if name := style.name(token):
            skipping = name in dropped
        if not skipping:
            out.append(token)
    return out


def owned(style: Style, renderer: Mapping[str, str], args: Sequence[str], origin: Origin, found: Findings) -> None:
    """An error for each option in `args` that the renderer sets; `renderer`: option → what to do instead."""
    for i, token in enumerate(args):
        if (name := style.name(token)) in renderer:
            found.add("E406", origin.at(i), option=token.partition("=")[0], hint=renderer[name])


def _is_option(token: str) -> bool:
    return (
        len(token) > 1
        and token[0] == "-"
        and not token[1:2].isdigit()
        and not (token[1] == "." and token[2:3].isdigit())
    )
