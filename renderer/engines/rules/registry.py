"""What is said of a running engine, whoever wrote its pod: for each record its rules, in sections with a condition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from renderer.diagnostics import Diagnostic
from renderer.engines.rules import accelerators, memory, options
from renderer.engines.running_engine import EngineLine, RunningEngine

Rule = Callable[[Any], Iterator[Diagnostic]]
Section = tuple[Callable[[Any], object], tuple[Rule, ...]]  # when it is read, and its rules

RULES: Mapping[type, tuple[Section, ...]] = {
    EngineLine: (
        (
            lambda line: line.option_rules and line.written,
            (options.refused_options, options.options_without_companions),
        ),
        (lambda line: line.shared.accelerator.resource, (accelerators.wrong_number,)),
    ),
    RunningEngine: (
        (lambda running: running.held_cache, (memory.too_little_memory, memory.too_little_shared_memory)),
        (
            lambda running: running.line.engine.shares_memory and running.line.shared.accelerator.number > 1,
            (memory.without_shared_memory,),
        ),
    ),
}
