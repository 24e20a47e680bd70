"""InterceptorRoute: what the interceptor of KEDA's http-add-on does with requests for a workload without a replica."""

from __future__ import annotations

from renderer.build.metadata import name_origins, route_labels
from renderer.kubernetes import wellknown
from renderer.plan import Manifest, Plan


def interceptor_route(plan: Plan) -> list[Manifest]:
    """One where the interceptor holds the workload's requests. It knows them by the public name in the AI gateway's
    header, since host names are rewritten on the way. Only the gateway's own timeout ends a request that is answered.
    """
    interceptor = plan.interceptor
    if not interceptor:
        return []
    spec = {
        "target": {"service": plan.name + wellknown.LB_SERVICE, "port": plan.request_port.number},
        "rules": [{"headers": [{"name": wellknown.MODEL_HEADER, "value": model}]} for model in interceptor.models],
        "scalingMetric": {"concurrency": {"targetValue": interceptor.concurrency}},
        "timeouts": {"readiness": f"{interceptor.seconds}s", "request": "0s", "responseHeader": "0s"},
    }
    body = {
        "apiVersion": "http.keda.sh/v1beta1",
        "kind": "InterceptorRoute",
        "metadata": {"name": plan.name, "namespace": plan.namespace, "labels": route_labels(plan)},
        "spec": spec,
    }
    return [Manifest(body, lambda: name_origins(plan.origin))]
