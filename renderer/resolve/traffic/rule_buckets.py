"""The routes of several public names, whose rules come from many apps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from renderer.api import Inputs
from renderer.plan import PackedRule
from renderer.resolve.context import RunContext
from renderer.resolve.gateway import packed_routes
from renderer.resolve.gateway.settings import GatewaySettings, gateway_settings

MAX_RULES = 15  # of a route; the AI gateway adds a sixteenth


class RuleBucket(Struct, frozen=True, eq=False):
    """The rules that one packed route is to have."""

    inputs: Inputs
    settings: GatewaySettings  # of the namespace
    namespace: str
    name: str
    rules: Sequence[PackedRule]
    sufficient: int  # how many buckets would hold all rules of the namespace, 0 where this one is not too full

    @property
    def fits(self) -> bool:
        """Whether one route holds the rules."""
        return len(self.rules) <= MAX_RULES


def rule_buckets(context: RunContext, rules: Sequence[PackedRule]) -> list[RuleBucket]:
    """The packed routes with their rules."""
    by_route: dict[tuple[str, str], list[PackedRule]] = {}
    for rule in rules:
        by_route.setdefault((rule.namespace, rule.route), []).append(rule)
    overfull = {namespace for (namespace, _), own_rules in by_route.items() if len(own_rules) > MAX_RULES}
    sufficient = {namespace: _sufficient_buckets(context, namespace, rules) for namespace in overfull}
    return [
        RuleBucket(
            inputs=context.inputs,
            settings=gateway_settings(context, namespace),
            namespace=namespace,
            name=name,
            rules=own_rules,
            sufficient=sufficient[namespace] if len(own_rules) > MAX_RULES else 0,
        )
        for (namespace, name), own_rules in by_route.items()
    ]


def _sufficient_buckets(context: RunContext, namespace: str, rules: Sequence[PackedRule]) -> int:
    """The smallest larger number of buckets that holds all models of a namespace."""
    settings = gateway_settings(context, namespace)
    models = [rule.model for rule in rules if rule.namespace == namespace]
    buckets = {model: packed_routes.packed_route(settings, model) for model in models}
    scores = {model: packed_routes.score(bucket, model) for model, bucket in buckets.items()}
    count = int(settings.get("routeBuckets"))
    while max(Counter(buckets.values()).values()) > MAX_RULES:
        bucket = packed_routes.bucket(count)  # the next bucket gets the models for which its score is the highest
        count += 1
        for model, best in scores.items():
            if (score := packed_routes.score(bucket, model)) > best:
                buckets[model], scores[model] = bucket, score
    return count
