"""Pods that the Pod Security standard of their namespace refuses, where the set has the Namespace.

By the standards of Kubernetes 1.34 (staging/src/k8s.io/pod-security-admission/policy/check_*.go), as far as the oldest
ones agree.
"""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.graph.pods import KINDS, view_templates
from renderer.check.graph.rules import check_rules
from renderer.check.graph.view import ObjectView
from renderer.diagnostics import Finding, Path, listed
from renderer.kubernetes.json_values import as_map, as_maps, list_at, map_at, maps_at, number_at, text_at
from renderer.kubernetes.workloads import containers

_LEVEL = "pod-security.kubernetes.io/enforce"
_BASELINE, _RESTRICTED = "baseline", "restricted"
_HOST = ("hostNetwork", "hostPID", "hostIPC")
_ALLOWED = "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID"
_CAPABILITIES = frozenset((*_ALLOWED.split(), "SYS_CHROOT"))
# Volumes that `restricted` refuses beside hostPath. What is not here, such as a new kind, may be allowed.
_REFUSED = (
    "awsElasticBlockStore azureDisk azureFile cephfs cinder fc flexVolume flocker gcePersistentDisk gitRepo glusterfs "
    "iscsi nfs photonPersistentDisk portworxVolume quobyte rbd scaleIO storageos vsphereVolume"
)
_VOLUMES = frozenset(_REFUSED.split())
_PROFILES = ("RuntimeDefault", "Localhost")


@check_rules.about(*KINDS)
def validate_pod_security(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for each kind of pods of a workload that the standard which their namespace enforces refuses."""
    level = view.once("pod security", _levels).get(namespace)
    if level is None:
        return
    for template in view_templates(view, body):
        if text_at(template.spec, "os", "name") == "windows":
            continue
        refused = list(_refused(template.spec, level))
        if refused:
            reasons = list(dict.fromkeys(reason for _, reason in refused))
            words = {"namespace": namespace, "level": level, "why": listed(reasons)}
            hint = _BASELINE_HINT
            if level == _RESTRICTED:
                is_lower_enough = not any(_refused(template.spec, _BASELINE))
                hint = f"{_RESTRICTED_HINT}{_LOWER_HINT if is_lower_enough else ''}"
            yield Finding("W399", (*template.path, "spec", *refused[0][0]), {**words, "hint": hint})


_RESTRICTED_HINT = (
    "write hardening: restricted in RenderConfig for pods that llmaz renders, and what is missing into others"
)
_LOWER_HINT = ", or pod-security.kubernetes.io/enforce: baseline at the namespace"
_BASELINE_HINT = "leave it out, or write pod-security.kubernetes.io/enforce: privileged at the namespace"


def _levels(view: ObjectView) -> dict[str, str]:
    """The standards that are enforced and refuse anything, by namespace."""
    levels = {name: text_at(body, "metadata", "labels", _LEVEL) for _, name, body in view.all("Namespace")}
    return {name: level for name, level in levels.items() if level in (_BASELINE, _RESTRICTED)}


def _refused(spec: Body, level: str) -> Iterator[tuple[Path, str]]:
    """The fields of a pod that a standard refuses or misses, each with the reason."""
    for field in _HOST:
        if spec.get(field):
            yield (field,), field
    for i, volume in enumerate(maps_at(spec, "volumes")):
        if "hostPath" in volume:
            yield ("volumes", i, "hostPath"), f"the hostPath of volume '{volume.get('name')}'"
        elif level == _RESTRICTED and (kinds := _VOLUMES.intersection(volume)):
            yield ("volumes", i), f"a volume of {min(kinds)}"
    pod_context = map_at(spec, "securityContext")
    if text_at(pod_context, "seccompProfile", "type") == "Unconfined":
        yield ("securityContext", "seccompProfile", "type"), "seccompProfile Unconfined"
    for path, container in containers(spec):
        yield from _refused_of_container(container, pod_context, path, level)


def _refused_of_container(container: Body, pod_context: Body, path: Path, level: str) -> Iterator[tuple[Path, str]]:
    context, at = as_map(container.get("securityContext")), (*path, "securityContext")
    if context.get("privileged"):
        yield (*at, "privileged"), "privileged containers"
    added = [str(name) for name in list_at(context, "capabilities", "add")]
    allowed = frozenset(("NET_BIND_SERVICE",)) if level == _RESTRICTED else _CAPABILITIES
    if excess := [name for name in added if name not in allowed]:
        yield (*at, "capabilities", "add"), f"the capability {excess[0]}"
    if any(number_at(port, "hostPort") for port in as_maps(container.get("ports"))):
        yield (*path, "ports"), "hostPort"
    profile = text_at(context, "seccompProfile", "type")
    if profile == "Unconfined":
        yield (*at, "seccompProfile", "type"), "seccompProfile Unconfined"
    if level != _RESTRICTED:
        return
    if context.get("allowPrivilegeEscalation") is not False:
        yield path, "no allowPrivilegeEscalation: false"
    if "ALL" not in list_at(context, "capabilities", "drop"):
        yield path, "no capabilities: {drop: [ALL]}"
    if context.get("runAsNonRoot", pod_context.get("runAsNonRoot")) is not True:
        yield path, "no runAsNonRoot: true"
    if context.get("runAsUser", pod_context.get("runAsUser")) == 0:
        yield path, "runAsUser 0"
    if (profile or text_at(pod_context, "seccompProfile", "type")) not in _PROFILES:
        yield path, "no seccompProfile: {type: RuntimeDefault}"
