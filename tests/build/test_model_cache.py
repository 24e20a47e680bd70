"""The claim of a model and the Job that fills it; the rest of it is in the golden of `examples/cache`."""

from __future__ import annotations

from renderer.build.model_cache import model_cache
from renderer.diagnostics import NamedSource, Origin
from renderer.plan import CachePlan, SharedPlan

WHOLE, CLAIM = Origin(NamedSource("a.yaml")), Origin(NamedSource("b.yaml"))
PLAN = CachePlan(
    claim="blue-weights",
    claim_spec={"accessModes": ["ReadWriteMany"]},
    job="blue-fill-0",
    namespace="llm",
    labels={"a": "b"},
    template={"spec": {}},
    size="",
    origin=WHOLE,
    claim_origin=CLAIM,
)


def test_claim_and_job() -> None:
    claim, job = model_cache(SharedPlan("llm", cache=PLAN))
    assert claim.body["metadata"]["name"] == "blue-weights"
    assert claim.body["metadata"]["annotations"] == {
        "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
        "kustomize.toolkit.fluxcd.io/prune": "disabled",
        "helm.sh/resource-policy": "keep",
    }
    assert claim.origin(("spec", "accessModes")).source is CLAIM.source
    assert job.body["spec"] == {"backoffLimit": 10, "template": {"spec": {}}}
    assert "annotations" not in job.body["metadata"]
    assert job.origin(("spec",)).source is WHOLE.source


def test_a_claim_of_somebody_else() -> None:
    plan = CachePlan(**{**{key: getattr(PLAN, key) for key in PLAN.__struct_fields__}, "claim_spec": {}, "size": "140"})
    (job,) = model_cache(SharedPlan("llm", cache=plan))
    assert job.body["metadata"]["annotations"] == {"renderer.llmaz.io/weights-gib": "140"}


def test_nothing_to_keep() -> None:
    assert [*model_cache(SharedPlan("llm"))] == []
