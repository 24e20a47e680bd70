"""The arguments that an OpenModel gives an engine, in the version of the engine that runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from renderer.api import OpenModel
from renderer.diagnostics import Origin
from renderer.engines.dialect import ArgLayer, Dialect
from renderer.engines.option_rules import OptionRules
from renderer.engines.option_validation import validate_options
from renderer.engines.runtime_versions import rewrite_args
from renderer.engines.version_order import in_range

if TYPE_CHECKING:
    from renderer.input_types import ModelEngineSpec

# Codes about what an engine does not have: an option, or a value of it.
_UNKNOWN = frozenset(["E430", "E431", "E432", "E433", "E435", "E440", "E441", "E477", "E478"])


class ModelArgs(Struct, frozen=True):
    """The arguments of a model, and what is left out of those that a preset of ours gives."""

    layer: ArgLayer
    left_out: tuple[str, ...] = ()  # options, each with its values


def model_args(
    model: OpenModel, settings: ModelEngineSpec, origin: Origin, version: str, rules: OptionRules | None
) -> ModelArgs:
    """The arguments of a model's `settings` for an engine, which stand at `origin`, in a version of it ('': unknown).

    The entries of `versions` that hold for the version are applied in their order. Of a preset of ours, what the
    version is known not to have is left out, and with it each option that needs it.
    """
    args, origins = tuple(settings["args"]), tuple([origin.at("args", i) for i in range(len(settings["args"]))])
    entries = settings.get("versions") or ()
    applied = [i for i, entry in enumerate(entries) if version and in_range(entry, version)]
    for i in applied:
        rewritten = rewrite_args(args, entries[i].get("args") or {})
        at = origin.at("versions", i, "args")
        origins = tuple([origins[source] if isinstance(source, int) else at.at(*source) for _, source in rewritten])
        args = tuple([text for text, _ in rewritten])
    left_out: list[str] = []
    if model.ours and rules:
        indexes, left_out = _known_args(rules, args)
        args, origins = tuple([args[i] for i in indexes]), tuple([origins[i] for i in indexes])
    is_changed = applied or left_out
    layer = ArgLayer(args, origin.at("args"), origins=origins) if is_changed else ArgLayer(args, origin.at("args"))
    return ModelArgs(layer, tuple(left_out))


def _known_args(rules: OptionRules, args: Sequence[str]) -> tuple[list[int], list[str]]:
    """The indexes of the arguments that a version knows, and the others as text: options, each with its values."""
    refused = {finding.index for finding in validate_options(rules, args) if finding.code in _UNKNOWN}
    spans = _option_spans(rules.style, args)
    lost = {span[0] for span in spans if refused.intersection(span)}
    names = {rules.style.name(args[i]) for i in lost}
    lost |= {span[0] for span in spans if names.intersection(rules.requires.get(rules.style.name(args[span[0]]), ()))}
    left_out = [" ".join(args[i] for i in span) for span in spans if span[0] in lost]
    return [i for span in spans if span[0] not in lost for i in span], left_out


def _option_spans(style: Dialect, args: Sequence[str]) -> list[list[int]]:
    """The indexes of each option and its values; values before the first option are a span of their own."""
    spans: list[list[int]] = []
    for i, arg in enumerate(args):
        if style.is_option(arg) or not spans:
            spans.append([])
        spans[-1].append(i)
    return spans
