"""The stages of rules that follow the references between the objects of a set, and what asks them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from renderer.check.finding import Body, IndexedFinding
from renderer.check.graph.view import ObjectView
from renderer.check.kind_rules import KindRules
from renderer.diagnostics import Finding

GraphRules = KindRules[Callable[[ObjectView, Body, str, str], Iterator[Finding]]]
"""Rules that get the set, an object in it, its namespace and its name; by kind as in Keys."""

reference_rules = GraphRules()
"""About references between objects."""
workload_rules = GraphRules()
"""About workloads beside others."""
side_rules = GraphRules()
"""About objects beside workloads, which are told at these: limits, budgets, Secrets. For `llmaz check`, and for what a
tree passes through beside what it renders. An object without a schema may hold anything.
"""
check_rules = GraphRules()
"""About labels and names that people mistype, and what our own objects always have: for `llmaz check` alone."""


def validate_graph(view: ObjectView, *stages: GraphRules) -> Iterator[IndexedFinding]:
    """What the rules of some stages, by default those about any set, say of objects each of which is valid alone. Codes
    that begin with N are notes on what cannot be judged.
    """
    for rules in stages or (reference_rules, workload_rules):
        for index, key in enumerate(view.keys):
            if (of_kind := rules.get(key[0])) and (body := view.objects[key]):
                for rule in of_kind:
                    for finding in rule(view, body, key[1], key[2]):
                        yield index, finding
