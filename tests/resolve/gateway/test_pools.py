"""Which ports of a pod a pool has."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from renderer.resolve.gateway import pickers
from tests.paths import TESTS

if TYPE_CHECKING:
    from renderer.input_types import PickerSpec
    from tests.conftest import Llmaz


def test_a_picker_that_knows_one_port(folder: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    """All that come with llmaz know all ports, so one of them is said to know one."""
    shutil.copytree(TESTS / "cases" / "wide-experts-pool" / "input", folder, dirs_exist_ok=True)

    def reads_all(preset: PickerSpec) -> bool:
        return preset["image"] != "registry.k8s.io/gateway-api-inference-extension/epp"

    monkeypatch.setattr(pickers, "reads_all_ports", reads_all)
    done = llmaz("validate", "--set", "gateway.picker=gaie-1.5")
    assert done.code == 2
    assert done.err.splitlines()[:2] == [
        "--set gateway.picker=gaie-1.5: spec.gateway.picker: 8 data parallel ranks in a pod have a port each, and "
        "the picker 'gaie-1.5' uses only one of them [E349]",
        "    hint: pickers that use all: 'llm-d' and 'llm-d-0.10'; or set gateway.mode to backend, where they share a "
        "port",
    ]
    assert "E349" not in "".join(done.err.splitlines()[2:])  # r1-tensors has one rank a pod
    assert llmaz("validate").code == 0
