"""Rules about an engine in a pod that no app of ours describes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from renderer.diagnostics import Collector, Diagnostic, NamedSource, Origin
from renderer.engines.accelerator import Accelerator
from renderer.engines.dialect import ArgLayer, build_style
from renderer.engines.given_options import option_names
from renderer.engines.option_lists import Option, OptionList
from renderer.engines.option_rules import OptionRules
from renderer.engines.rules import run_rules_or_stop
from renderer.engines.running_engine import (
    EngineLine,
    HeldCache,
    KnownEngine,
    MemoryNeed,
    RunningEngine,
    SharedAccelerators,
    Subject,
)
from renderer.plan import Container, Pod

if TYPE_CHECKING:
    from renderer.input_types import OptionsSpec

STYLE: OptionsSpec = {"style": "argparse"}
OPTIONS = OptionList("1", {name: Option(name, "1", repeats=False) for name in ("--tensor-size", "--port")}, {})
DEPLOYMENT = Origin(NamedSource("deployment.yaml"), ("spec", "template", "spec", "containers", 0))
SUBJECT = Subject(name="container 'engine' of Deployment llm/qwen", limits="the container's limits")


def problems(record: EngineLine | RunningEngine) -> list[Diagnostic]:
    diagnostics = Collector()
    run_rules_or_stop(record, diagnostics)
    return diagnostics.problems


def line(args: Sequence[str], accelerators: int) -> EngineLine:
    style = build_style(STYLE, [["--tensor-size"]], OPTIONS)
    size_options = frozenset(["--tensor-size"])
    return EngineLine(
        subject=SUBJECT,
        backend="some",
        engine=KnownEngine(
            style=style,
            size_options=size_options,
            parallel_options=size_options,
            multipliers={},
            uncountable_options=frozenset(),
        ),
        version="1",
        args=tuple(args),
        options=option_names(style, args),
        written=[ArgLayer(args, DEPLOYMENT.at("args"))],
        option_rules=OptionRules(style, OPTIONS, "engine 1"),
        shared=SharedAccelerators(
            accelerator=Accelerator("maker", accelerators, group=True, resource="maker.example/gpu"),
            size=1,
            origin=DEPLOYMENT.at("resources", "limits"),
            hosts=1,
        ),
        is_own_image=lambda: True,
    )


@pytest.mark.parametrize(
    ("args", "accelerators", "codes"),
    [
        (["--tensor-size", "2", "--port", "80"], 2, []),
        (["--tensor-size", "2", "--prot", "80"], 2, ["E430"]),
        (["--port"], 1, ["E433"]),
        (["--tensor-size", "4"], 2, ["E416"]),
        (["--tensor-size", "1"], 2, ["W236"]),
        ([], 2, ["W236"]),
        ([], 0, []),
    ],
)
def test_a_line_of_somebody_else(args: list[str], accelerators: int, codes: list[str]) -> None:
    assert [problem.code for problem in problems(line(args, accelerators))] == codes


def test_a_message_speaks_of_what_its_reader_wrote() -> None:
    (problem,) = problems(line(["--tensor-size", "4"], 2))
    assert problem.file == "deployment.yaml"
    assert problem.field == "spec.template.spec.containers[0].args[0]"
    assert problem.hint == "raise the container's limits, or lower the number"


@pytest.mark.parametrize(
    ("memory", "shared", "codes"),
    [("80Gi", "72Gi", []), ("32Gi", "72Gi", ["E370"]), ("80Gi", "8Gi", ["E371"]), ("", "", [])],
)
def test_memory_for_a_cache_outside_of_accelerators(memory: str, shared: str, codes: list[str]) -> None:
    container = Container(
        "engine",
        resources={"limits": {"memory": memory}} if memory else {},
        volume_mounts=({"name": "shm", "mountPath": "/dev/shm"},) if shared else (),  # noqa: S108
    )
    volumes = ({"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": shared}},) if shared else ()
    pod = Pod(containers=(container,), volumes=volumes)
    memory_origin, shared_origin = DEPLOYMENT.at("resources", "limits", "memory"), DEPLOYMENT.at("volumeMounts", 0)
    cache = HeldCache(
        amount="64Gi",
        size=64 * 2**30,
        origin=DEPLOYMENT.at("env", 0),
        memory=MemoryNeed("80Gi", memory_origin),
        shared_memory=MemoryNeed("72Gi", shared_origin),
    )
    running = RunningEngine(
        line=line([], 0),
        pod=pod,
        container=container,
        path=("spec", "containers", 0),
        origin_of=lambda path: None,
        held_cache=cache,
    )
    assert [problem.code for problem in problems(running)] == codes
    assert problems(replace(running, held_cache=None)) == []
