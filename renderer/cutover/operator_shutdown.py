"""The commands that stop the operator, by how it is installed."""

from __future__ import annotations

import json
from collections.abc import Iterator

from msgspec import Struct

from renderer.cutover.cluster_dump import GROUPS, NAME, ClusterDump, name_of, own_webhooks
from renderer.cutover.script import ScriptLine, command, kubectl, patch, remark, shell
from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.text import escapes

_TRACKING = "argocd.argoproj.io/tracking-id"
_INSTANCE = "argocd.argoproj.io/instance"
_FLUX = {
    "helm.toolkit.fluxcd.io": "helmreleases.helm.toolkit.fluxcd.io",
    "kustomize.toolkit.fluxcd.io": "kustomizations.kustomize.toolkit.fluxcd.io",
}
_APPLICATIONS = "applications.argoproj.io"
_HELM_RELEASE, _HELM_NAMESPACE = "meta.helm.sh/release-name", "meta.helm.sh/release-namespace"
_NAMESPACE = "llmaz-system"
_LABELS = "control-plane=controller-manager,app.kubernetes.io/created-by=llmaz"
_WEBHOOK_NAMES = ("llmaz-mutating-webhook-configuration", "llmaz-validating-webhook-configuration")
_RESOURCES = {
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}
_MANUAL = json.dumps({"spec": {"syncPolicy": {"automated": None}}}, separators=(",", ":"))
_SUSPENDED = json.dumps({"spec": {"suspend": True}}, separators=(",", ":"))


class SyncSource(Struct, frozen=True, order=True):
    """What installs the operator or its custom resources, and does so again."""

    resource: str  # as kubectl names it; 'helm' for a release that nobody syncs
    namespace: str
    name: str


def sync_sources(dump: ClusterDump) -> list[SyncSource]:
    """What keeps the operator and its custom resources as they are, as far as the objects say."""
    namespaces = {name: namespace for namespace, name in map(name_of, dump.applications)}
    sources: set[SyncSource] = set()
    for document in dump.installation:
        labels = map_at(document.value, "metadata", "labels")
        annotations = map_at(document.value, "metadata", "annotations")
        application = text_at(annotations, _TRACKING).partition(":")[0] or text_at(labels, _INSTANCE)
        flux = [
            SyncSource(resource, text_at(labels, f"{group}/namespace"), text_at(labels, f"{group}/name"))
            for group, resource in _FLUX.items()
            if text_at(labels, f"{group}/name")
        ]
        sources.update(flux)
        if application:
            namespace, _, name = application.rpartition("_")
            sources.add(SyncSource(_APPLICATIONS, namespace or namespaces.get(name, "argocd"), name))
        elif (release := text_at(annotations, _HELM_RELEASE)) and not flux:
            sources.add(SyncSource("helm", text_at(annotations, _HELM_NAMESPACE), release))
    return sorted(source for source in sources if NAME.fullmatch(source.namespace) and NAME.fullmatch(source.name))


def stop_operator(dump: ClusterDump) -> Iterator[ScriptLine]:
    """The first step: syncs, the Deployment, the webhooks."""
    yield from _stop_syncs(sync_sources(dump))
    yield from _stop_deployments(dump)
    yield from _delete_webhooks(dump)


def _stop_syncs(sources: list[SyncSource]) -> Iterator[ScriptLine]:
    if not sources:
        yield remark("The dump does not show what installed the operator. If it is an Application, a HelmRelease or a")
        yield remark("Kustomization, stop that, and also what syncs the Playgrounds:")
        yield remark(f"  kubectl patch {_APPLICATIONS} NAME -n argocd --type=merge -p {escapes.shell_word(_MANUAL)}")
        for resource in _FLUX.values():
            yield remark(
                f"  kubectl patch {resource} NAME -n NAMESPACE --type=merge -p {escapes.shell_word(_SUSPENDED)}"
            )
    for source in sources:
        if source.resource == "helm":
            yield remark(
                f"Helm installed it as {source.namespace}/{source.name}. From here on, do not run helm upgrade,"
            )
            yield remark("and do not run helm uninstall before the end of step 5.")
        else:
            text = _MANUAL if source.resource == _APPLICATIONS else _SUSPENDED
            yield kubectl("patch", source.resource, (source.namespace, source.name), "--type=merge", "-p", text)
    if any(source.resource != "helm" for source in sources):
        yield remark("If an ApplicationSet, another Application or a Kustomization writes that object, change it in")
        yield remark("git, or it would turn the sync on again.")


def _stop_deployments(dump: ClusterDump) -> Iterator[ScriptLine]:
    if not dump.deployments:
        yield remark("The operator's Deployment is not in the dump. Its chart and its manifests give it these labels:")
        yield shell(f"kubectl scale deployment -n {_NAMESPACE} -l {_LABELS} --replicas=0")
        yield shell(f"kubectl rollout status deployment -n {_NAMESPACE} -l {_LABELS} --timeout=2m")
    for document in dump.deployments:
        name = name_of(document)
        labels = map_at(document.value, "spec", "selector", "matchLabels")
        selector = ",".join(f"{key}={value}" for key, value in labels.items())
        yield kubectl("scale", "deployment", name, "--replicas=0")
        yield command(*f"kubectl wait pods -n {name[0]} -l".split(), selector, "--for=delete", "--timeout=2m")


def _delete_webhooks(dump: ClusterDump) -> Iterator[ScriptLine]:
    if not dump.webhooks:
        yield remark("Its webhook configurations are not in the dump. These are their default names:")
        for resource, default in zip(_RESOURCES.values(), _WEBHOOK_NAMES, strict=True):
            yield kubectl("delete", resource, ("", default), "--ignore-not-found")
    for document in dump.webhooks:
        resource, name = _RESOURCES[document.value["kind"]], name_of(document)
        positions, webhooks = own_webhooks(document.value), maps_at(document.value, "webhooks")
        if len(positions) == len(webhooks):
            yield kubectl("delete", resource, name)
            continue
        yield remark(f"{name[1]} has webhooks of others too: only those for {' and '.join(GROUPS)} are removed.")
        operations: list[dict[str, object]] = []
        for position in reversed(positions):
            place = f"/webhooks/{position}"
            operations.append({"op": "test", "path": f"{place}/name", "value": text_at(webhooks[position], "name")})
            operations.append({"op": "remove", "path": place})
        yield patch(resource, name, operations)
