"""APIs that Kubernetes has removed, and what took their place (its deprecated API migration guide)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from renderer.kubernetes.component_versions import TargetVersions, version_numbers

_REMOVED = """
1.16 extensions/v1beta1 DaemonSet,Deployment,ReplicaSet apps/v1
1.16 extensions/v1beta1 NetworkPolicy networking.k8s.io/v1
1.16 extensions/v1beta1 PodSecurityPolicy -
1.16 apps/v1beta1 Deployment,ReplicaSet,StatefulSet apps/v1
1.16 apps/v1beta2 DaemonSet,Deployment,ReplicaSet,StatefulSet apps/v1
1.22 admissionregistration.k8s.io/v1beta1 MutatingWebhookConfiguration,ValidatingWebhookConfiguration same/v1
1.22 apiextensions.k8s.io/v1beta1 CustomResourceDefinition same/v1
1.22 apiregistration.k8s.io/v1beta1 APIService same/v1
1.22 authentication.k8s.io/v1beta1 TokenReview same/v1
1.22 authorization.k8s.io/v1beta1 LocalSubjectAccessReview,SelfSubjectAccessReview,SubjectAccessReview same/v1
1.22 authorization.k8s.io/v1beta1 SelfSubjectRulesReview same/v1
1.22 certificates.k8s.io/v1beta1 CertificateSigningRequest same/v1
1.22 coordination.k8s.io/v1beta1 Lease same/v1
1.22 extensions/v1beta1 Ingress networking.k8s.io/v1
1.22 networking.k8s.io/v1beta1 Ingress,IngressClass same/v1
1.22 rbac.authorization.k8s.io/v1beta1 ClusterRole,ClusterRoleBinding,Role,RoleBinding same/v1
1.22 scheduling.k8s.io/v1beta1 PriorityClass same/v1
1.22 storage.k8s.io/v1beta1 CSIDriver,CSINode,StorageClass,VolumeAttachment same/v1
1.25 autoscaling/v2beta1 HorizontalPodAutoscaler same/v2
1.25 batch/v1beta1 CronJob same/v1
1.25 discovery.k8s.io/v1beta1 EndpointSlice same/v1
1.25 events.k8s.io/v1beta1 Event same/v1
1.25 node.k8s.io/v1beta1 RuntimeClass same/v1
1.25 policy/v1beta1 PodDisruptionBudget same/v1
1.25 policy/v1beta1 PodSecurityPolicy -
1.26 autoscaling/v2beta2 HorizontalPodAutoscaler same/v2
1.26 flowcontrol.apiserver.k8s.io/v1beta1 FlowSchema,PriorityLevelConfiguration same/v1
1.27 storage.k8s.io/v1beta1 CSIStorageCapacity same/v1
1.29 flowcontrol.apiserver.k8s.io/v1beta2 FlowSchema,PriorityLevelConfiguration same/v1
1.32 flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema,PriorityLevelConfiguration same/v1
"""
"""Each line: the version that removed, the old apiVersion, kinds, the new apiVersion (`same`: its group; `-`: none)."""


def removal_words(version: str, kind: str, targets: TargetVersions | None) -> Mapping[str, str] | None:
    """The words of the error about an object whose API the clusters no longer have; None for any other object."""
    removed, successor = _removals().get((version, kind), ("", ""))
    target = targets.versions.get("kubernetes") if targets else None
    if not removed or (target and version_numbers(target) < version_numbers(removed)):
        return None
    hint = f"write apiVersion: {successor}, and check again: some fields may have changed"
    if not successor:
        hint = "leave it out: label the Namespace with pod-security.kubernetes.io/enforce instead"
    return {"removed": removed, "version": version, "kind": kind, "hint": hint}


def removed_versions(kind: str) -> list[str]:
    """The apiVersions that a kind no longer has."""
    return [version for version, removed_kind in _removals() if removed_kind == kind]


@cache
def _removals() -> Mapping[tuple[str, str], tuple[str, str]]:
    """By apiVersion and kind: the version that removed it, and the new apiVersion, '' for none."""
    removals = {}
    for line in _REMOVED.split("\n"):
        if line:
            removed, version, rest = line.split(" ", 2)
            kinds, successor = rest.split(" ")
            successor = "" if successor == "-" else successor.replace("same", version.rpartition("/")[0])
            removals.update({(version, kind): (removed, successor) for kind in kinds.split(",")})
    return removals
