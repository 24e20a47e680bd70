"""Plans for builders: made by hand, so that nothing but the builder is under test."""

from __future__ import annotations

import pytest

from renderer.diagnostics import Origin, Path
from renderer.plan import Container, Plan, Pod, Port, Rollout


class Input:
    """A source that places each of its fields in the line that its path is long."""

    name = "input.yaml"

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return len(path), 1


@pytest.fixture
def source() -> Input:
    """What all origins of the plan lead to."""
    return Input()


@pytest.fixture
def plan(source: Input) -> Plan:
    """The least that a Plan says: one container, nothing optional."""
    return Plan(
        name="chat",
        namespace="llm",
        file="apps/chat.yaml",
        labels={"app.kubernetes.io/name": "chat", "app.kubernetes.io/component": "inference-server"},
        annotations={},
        replicas=1,
        size=1,
        startup_policy="LeaderReady",
        restart_policy="RecreateGroupOnPodRestart",
        rollout=Rollout(partition=0),
        worker=Pod(scheduler_name="default-scheduler", containers=(Container("runner"),)),
        port=Port("http", 8080),
        disruption_budget={},
        origin=Origin(source),
        origins=dict,
    )
