"""The merge of arguments by options: what a later layer's option drops, groups, and where each argument is said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import chain, islice
from operator import itemgetter

from renderer.diagnostics import Origin
from renderer.engines.dialect import ArgLayer, Dialect, LineForm, args_shape, option_spellings

_Token = tuple[int, str]  # the index of an argument among those of all layers, and the argument


def merge_args(style: Dialect, layers: Sequence[ArgLayer]) -> tuple[tuple[str, ...], LineForm]:
    """The arguments of all layers in order, and their form. An option that a later layer repeats is dropped from the
    earlier ones.
    """
    tokens = list(chain.from_iterable([layer.args for layer in layers]))
    line_key = tuple([(layer.group, layer.shape or args_shape(layer.args)) for layer in layers])
    form = style.lines.get(line_key)
    if form is None:
        form = style.lines[line_key] = _line_form(style, layers, tokens)
    return form.select(tokens + form.respelt), form


def arg_origins(
    style: Dialect, layers: Sequence[ArgLayer], args: Sequence[str], form: LineForm
) -> Iterator[tuple[Origin, list[Origin]]]:
    """For each merged argument its origin, and the origins of all that give its option."""
    option_origins: dict[str, list[Origin]] = {}
    for layer in layers:
        for i, token in enumerate(layer.args):
            if name := style.name(token):
                option_origins.setdefault(name, []).append(layer.origin_of(i))
    name = ""
    for token, (number, index) in zip(args, form.positions, strict=True):
        name = style.name(token) or name
        yield layers[number].origin_of(index), option_origins.get(name, [])


def _line_form(style: Dialect, layers: Sequence[ArgLayer], tokens: Sequence[str]) -> LineForm:
    merged: list[_Token] = list(enumerate(tokens))
    positions = [(number, i) for number, layer in enumerate(layers) for i in range(len(layer.args))]
    if style.parses_options and sum(bool(layer.args) for layer in layers) > 1:
        remaining = iter(merged)
        merged = list(
            _merge_tokens(style, [(layer.group, list(islice(remaining, len(layer.args)))) for layer in layers])
        )
    respelt = [text for place, text in merged if tokens[place] != text]
    respelt_indexes = iter(range(len(tokens), len(tokens) + len(respelt)))
    indexes = [place if tokens[place] == text else next(respelt_indexes) for place, text in merged]
    names = frozenset(name for _, text in merged if (name := style.name(text)))
    return LineForm(_selector(indexes), respelt, [positions[place] for place, _ in merged], names)


def _selector(places: Sequence[int]) -> Callable[[Sequence[str]], tuple[str, ...]]:
    """A function that takes the items at these indexes."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda tokens: tuple(tokens[place] for place in places)


def _merge_tokens(style: Dialect, layers: Sequence[tuple[str, Sequence[_Token]]]) -> Iterator[_Token]:
    """The kept arguments. `layers`: the group of each, and its arguments."""
    merged_layers: list[Sequence[_Token]] = []
    later: set[str] = set()
    ungrouped: set[str] = set()  # of the later ones, those that no preset derives for a group
    keyed: dict[str, str] = {}
    for group, args in reversed(layers):
        if group and ungrouped & style.groups.get(group, frozenset()):
            continue
        names = {name for _, token in args if (name := style.name(token))}
        repeated = {name for name in names if name in later or (style.dotted and name.partition(".")[0] in later)}
        repeated |= names & keyed.keys()
        remaining = _drop_options(style, args, repeated) if repeated else args
        merged_layers.append(_respell(style, remaining, keyed) if keyed else remaining)
        later |= names
        ungrouped |= set() if group else names
        keyed = {**option_spellings(style, [token for _, token in args]), **keyed} if style.dotted else keyed
    return chain.from_iterable(reversed(merged_layers))


def _respell(style: Dialect, args: Sequence[_Token], keyed: Mapping[str, str]) -> Sequence[_Token]:
    """The arguments, with each keyed option in the spelling of a later layer (`keyed`: by its name)."""
    respelt = []
    for place, token in args:
        head, tail = style.head(token) if token[:1] == "-" and "." in token else ("", "")
        spelling = keyed.get(style.name(token).partition(".")[0], head) if tail else head
        respelt.append((place, token if spelling == head else spelling + token[token.index(".") :]))
    return respelt


def without_options(style: Dialect, args: Sequence[str], dropped: Set[str]) -> tuple[str, ...]:
    """A command line without these options and their values."""
    return tuple(arg for _, arg in tokens_without(style, args, dropped))


def tokens_without(style: Dialect, args: Sequence[str], dropped: Set[str]) -> list[_Token]:
    """The arguments that are left of a command line without these options, each with its index there."""
    return _drop_options(style, list(enumerate(args)), dropped)


def _drop_options(style: Dialect, args: Sequence[_Token], dropped: Set[str]) -> list[_Token]:
    """The arguments without the dropped options and their values."""
    remaining, skipping = [], False
    for place, token in args:
        if name := style.name(token):
            skipping = name in dropped
        if not skipping:
            remaining.append((place, token))
    return remaining
