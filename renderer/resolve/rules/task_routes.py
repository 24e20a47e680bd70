"""What is told about routes by the tasks of models: models without a route, several tasks, budgets of rerankers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.diagnostics import Diagnostic, Origin, listed, make_diagnostic, quoted, rule
from renderer.plan import Plan
from renderer.resolve import claims, tasks
from renderer.resolve.traffic.claims import UnroutedModels
from renderer.resolve.traffic.inference_model import TargetShares
from renderer.resolve.traffic.model_route_records import RouteBackend, RouteShares

_MOST = 5  # names in a message
# By task, what the AI gateway finds of tokens in an answer. Embeddings have those of their input, which are all there
# are (internal/translator of v1.0.0: cohere_rerank_v2.go, openai_transcription.go, openai_embeddings.go).
_UNCOUNTED = {
    tasks.RERANKER: "those of a reranker from meta.tokens, which engines do not send",
    tasks.TRANSCRIPTION: "none of transcriptions",
}
_COUNTED_OF_EMBEDDINGS = ("total", "input")
_EACH = "lead to one of them here, and write another ModelRoute for the other"


@rule(of=UnroutedModels)
def without_route(unrouted: UnroutedModels) -> Iterator[Diagnostic]:
    """One note about all models that get no route, at the first one."""
    models = unrouted.models
    services = [f"{service}.{model.namespace}" for model in models for service in model.services]
    more = f", and {len(services) - _MOST} more" if len(services) > _MOST else ""
    words = {
        "models": quoted(model.app for model in models[:_MOST]) + more,
        "tasks": listed(sorted({model.task for model in models})),
        "services": ", ".join(services[:_MOST]) + more,
    }
    yield make_diagnostic("N677", claims.claim_origin(unrouted.first), **words)


@rule(of=RouteShares, when=lambda shares: not shares.route.off)
def several_tasks(shares: RouteShares) -> Iterator[Diagnostic]:
    """An error where no request could pass all backends of a ModelRoute, by the tasks of their models."""
    backends = [RouteBackend(shares.route, i) for i in range(len(shares.shares))]
    origins = {backend.app_name: backend.origin for backend in reversed(backends) if backend.app_name}
    yield from _other_task(shares.plans, origins)
    if shares.plans and shares.plans[0].task == tasks.RERANKER:
        for backend in backends:
            if backend.field == "provider" and (schema := backend.spec["provider"]["schema"]) != "Cohere":
                plan, host = shares.plans[0], backend.spec["provider"]["hostname"]
                words = {"name": host, "task": f"API {schema}", "other": plan.app, "other_task": plan.task}
                words["hint"] = "write schema: Cohere and version: v2 if it reranks, or leave it out"
                yield make_diagnostic("E679", backend.origin.at("schema"), **words)


@rule(of=TargetShares, when=lambda shares: len(shares.apps) > 1)
def several_tasks_of_targets(shares: TargetShares) -> Iterator[Diagnostic]:
    """The same of an InferenceModel."""
    models = shares.pool.models
    inputs = models.context.inputs
    first, *others = [
        (app.name, tasks.task_of(model)) for app in shares.apps if (model := claims.main_model(inputs, app))
    ]
    for name, task in others:
        if task != first[1]:
            words = {"name": name, "task": task, "other": first[0], "other_task": first[1], "hint": _EACH}
            yield make_diagnostic("E679", models.item.origin("spec", "targetModels"), **words)
            return


def _other_task(plans: Sequence[Plan], origins: dict[str, Origin]) -> Iterator[Diagnostic]:
    """An error at the first app whose model has another task than the first one."""
    for plan in plans:
        if plan.task != plans[0].task:
            words = {"name": plan.app, "task": plan.task, "other": plans[0].app, "other_task": plans[0].task}
            words["hint"] = _EACH
            yield make_diagnostic("E679", origins[plan.app], **words)
            return


@rule(of=RouteShares, when=lambda shares: shares.route.item.spec.get("tokenLimits"))
def uncounted_budgets(shares: RouteShares) -> Iterator[Diagnostic]:
    """A warning for budgets of tokens that nobody counts."""
    if not shares.plans:
        return
    item, (name, task) = shares.route.item, (shares.plans[0].app, shares.plans[0].task)
    if task in _UNCOUNTED:
        origin = item.origin("spec", "tokenLimits", key=True)
        yield make_diagnostic("W680", origin, name=name, what=_UNCOUNTED[task], hint="leave the budget out")
    for i, limit in enumerate(item.spec["tokenLimits"]) if task == tasks.EMBEDDING else ():
        if "count" in limit and limit["count"] not in _COUNTED_OF_EMBEDDINGS:
            origin, what = item.origin("spec", "tokenLimits", i, "count"), "only those of the input of embeddings"
            yield make_diagnostic("W680", origin, name=name, what=what, hint="leave count out")
