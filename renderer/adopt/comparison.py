"""What an adopted tree renders to, beside what served the models before."""

from __future__ import annotations

from renderer import yamlio
from renderer.adopt.adoption import Adoption
from renderer.adopt.serving_workload import ServingWorkload
from renderer.diff.live.comparison import compare_live
from renderer.diff.live.records import LiveReport
from renderer.engines.catalog import EngineCatalog
from renderer.kubernetes import wellknown
from renderer.yamlio import Document

_KINDS = (wellknown.DEPLOYMENT, wellknown.LEADER_WORKER_SET, "StatefulSet")


def compare_adoption(adoption: Adoption, catalog: EngineCatalog) -> LiveReport:
    """The differences between the workloads and Services that were adopted, and what is rendered in their place."""
    documents = [_document_of(workload) for workload in adoption.workloads]
    return compare_live([*documents, *adoption.beside], adoption.rendered, catalog)


def _document_of(workload: ServingWorkload) -> Document:
    """The workload in Kubernetes' words: of other kinds the Deployment that their controller or chart makes."""
    if workload.kind in _KINDS or workload.hosts > 1:
        return workload.document
    metadata = {
        "name": workload.name,
        **({"namespace": workload.namespace} if workload.namespace else {}),
        **({"labels": workload.labels} if workload.labels else {}),
    }
    spec: dict[str, object] = {} if workload.replicas is None else {"replicas": workload.replicas}
    body = {"apiVersion": "apps/v1", "kind": wellknown.DEPLOYMENT, "metadata": metadata}
    text = yamlio.dump({**body, "spec": {**spec, "template": workload.template}})
    (document,), _ = yamlio.parse(workload.document.name, text.encode())
    return document
