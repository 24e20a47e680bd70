"""Every key of a RenderPolicy about pods judges every kind that runs pods, at each template and container."""

from __future__ import annotations

import ast
import inspect
import re
from typing import NamedTuple, TypeGuard

import pytest

from renderer import yamlio
from renderer.api import RenderPolicy
from renderer.diagnostics import dotted
from renderer.policy import host_access, images, security_contexts, service_accounts
from renderer.policy.rules import judge_objects
from tests.workload_kinds import ALL_SORTS, SHAPES, Body, Path, Spot, spots

POLICY = """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderPolicy
metadata: {name: policy}
spec:
  images: {registries: [registry.example]}
  weights: {hostPaths: [/data]}
  pods:
    serviceAccounts: [default]
    priorityClasses: [models]
    hostNetwork: false
    hostPID: false
    privileged: false
    runAsRoot: false
"""


class Fault(NamedTuple):
    """What a policy denies of a pod or a container."""

    code: str
    what: str
    fields: Body
    place: Path  # of the denial in the pod or the container
    sorts: tuple[str, ...] = ()  # of containers; () for a field of the pod

    def plant(self, spot: Spot) -> Path:
        """Plants it, and returns the path of the denial."""
        (spot.container if self.sorts else spot.spec).update(self.fields)
        return (*(spot.container_path if self.sorts else (*spot.template_path, "spec")), *self.place)


FAULTS = (
    Fault("E815", "image", {"image": "docker.io/other/main:v1"}, ("image",), ALL_SORTS),
    Fault(
        "E815",
        "image volume",
        {"volumes": [{"name": "a", "image": {"reference": "docker.io/other/main:v1"}}]},
        ("volumes", 0, "image", "reference"),
    ),
    Fault(
        "E818", "folder", {"volumes": [{"name": "a", "hostPath": {"path": "/etc"}}]}, ("volumes", 0, "hostPath", "path")
    ),
    Fault("E819", "account", {"serviceAccountName": "admin"}, ("serviceAccountName",)),
    Fault("E820", "priority", {"priorityClassName": "system-node-critical"}, ("priorityClassName",)),
    Fault("E821", "network", {"hostNetwork": True}, ("hostNetwork",)),
    Fault("E822", "processes", {"hostPID": True}, ("hostPID",)),
    Fault(
        "E823", "privileged", {"securityContext": {"privileged": True}}, ("securityContext", "privileged"), ALL_SORTS
    ),
    Fault(
        "E823",
        "process of the node",
        {"securityContext": {"windowsOptions": {"hostProcess": True}}},
        ("securityContext", "windowsOptions", "hostProcess"),
    ),
    Fault("E824", "root", {"securityContext": {"runAsUser": 0}}, ("securityContext", "runAsUser"), ALL_SORTS),
    Fault("E824", "root of the pod", {"securityContext": {"runAsUser": 0}}, ("securityContext", "runAsUser")),
)
NAMES = [f"{fault.code} {fault.what}" for fault in FAULTS]


def denials(body: Body) -> list[tuple[str, str]]:
    """Code and field of what is denied of an object."""
    policy = yamlio.parse("llmaz-policy.yaml", POLICY.encode())[0][0]
    document = yamlio.parse("a.yaml", yamlio.dump(body).encode())[0][0]
    judged = judge_objects(RenderPolicy(policy.value["spec"], policy), [document], None, namespaces=False)
    return [(denial.code, dotted(denial.origin.path)) for denial in judged]


@pytest.mark.parametrize("fault", FAULTS, ids=NAMES)
def test_each_fault_is_denied_at_its_place(fault: Fault) -> None:
    for shape in SHAPES:
        for spot in spots(shape, fault.sorts or ALL_SORTS[:1]):
            assert denials(spot.body) == []
            path = fault.plant(spot)
            assert denials(spot.body) == [(fault.code, dotted(path))], spot.address


def test_each_key_about_pods_is_planted() -> None:
    modules = [
        ast.parse(inspect.getsource(module)) for module in (images, security_contexts, host_access, service_accounts)
    ]
    codes = {node.value for module in modules for node in ast.walk(module) if is_code(node)}
    assert codes == {fault.code for fault in FAULTS}


def is_code(node: ast.AST) -> TypeGuard[ast.Constant]:
    """Whether a node of Python is the code of an error."""
    return isinstance(node, ast.Constant) and re.fullmatch(r"[EWN]\d{3}", str(node.value)) is not None
