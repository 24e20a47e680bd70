"""Which of two forms a manifest gets, by the versions that RenderConfig targets."""

from __future__ import annotations

from functools import lru_cache

from renderer import since
from renderer.api import Config
from renderer.plan import Body, Rollout

_GROUPED = "0.6"  # the first LeaderWorkerSet with several types of subgroups; before, LeaderWorker is the only one
_PARTITION = "0.7"  # the first LeaderWorkerSet with a partition
_GRANT = "1.5"  # the first Gateway API with ReferenceGrant v1; v1beta1 says the same


def rollout(config: Config, max_unavailable: int | str = 1, max_surge: int | str = 0) -> Rollout:
    """A rollout over all groups. Without a partition nothing else is meant than with 0, but the API server adds it."""
    return _rollout(config.get("targets", "leaderWorkerSet"), max_unavailable, max_surge)


@lru_cache(maxsize=256, typed=True)
def _rollout(version: str | None, max_unavailable: int | str, max_surge: int | str) -> Rollout:
    return Rollout(max_unavailable, max_surge, 0 if _new(version, _PARTITION) else None)


def sub_groups(config: Config, said: Body) -> Body:
    """The subgroups of a group, with the type that the API server would add."""
    known = _reaches(config, "leaderWorkerSet", _GROUPED)
    return {"subGroupPolicyType": "LeaderWorker", **said} if said and known else said


def grants(config: Config) -> str:
    """The version of ReferenceGrant."""
    return "v1" if _reaches(config, "gatewayAPI", _GRANT) else "v1beta1"


def late(config: Config, name: str, *path: str) -> since.Node:
    """What of the kind of a schema, at a path, is too new."""
    found = since.targets(config.get("targets") or {}).late(name)
    node: since.Node = found.node if found else {}
    for part in path:
        node = node.get(part, {})
    return node


def _reaches(config: Config, component: str, version: str) -> bool:
    """Whether the clusters have at least this version; the defaults do (tests/test_targets.py)."""
    return _new(config.get("targets", component), version)


def _new(said: str | None, version: str) -> bool:
    return not said or since.numbers(said) >= since.numbers(version)
