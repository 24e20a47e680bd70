"""Options whose tokens several requests share, such as a context."""

from __future__ import annotations

from collections.abc import Sequence

from renderer.diagnostics import Collector
from renderer.resolve.engine.backend_runtime import Engine
from renderer.resolve.engine.dialect import ArgLayer
from renderer.resolve.engine.given_options import given_options, last_given_number


def validate_shared_tokens(engine: Engine, layers: Sequence[ArgLayer], slots: int, diagnostics: Collector) -> None:
    """A warning for a number of tokens that concurrent requests share, given without the number of requests."""
    shared = engine.shared_tokens
    if shared is None or slots < 2 or shared.slots_option in given_options(engine, layers):
        return
    last = last_given_number(engine, layers, shared.options)
    if last is None:
        return
    tokens, option = last.value, last.option
    option_list = engine.option_lists.get(engine.version)
    sharing_hint = f"'{shared.slots_option} {slots}' beside it if sharing is meant"
    if shared.per_request_option and (option_list is None or shared.per_request_option in option_list.options):
        amount = f" {tokens}' for {tokens} tokens each" if tokens else "' and what each may have"
        hint = f"write '{shared.per_request_option}{amount}, or {sharing_hint}"
    else:
        amount = f" {tokens * slots}' and '{shared.slots_option} {slots}' for {tokens} tokens each"
        hint = f"write '{option}{amount}" if tokens else f"write {sharing_hint}"
    text = f"the {tokens} tokens of '{option}'" if tokens else f"the model's whole context, which '{option} 0' asks for"
    share = f", so each gets {tokens // slots}" if tokens else ""
    diagnostics.add("W249", last.origin, slots=slots, tokens=text, share=share, hint=hint)
