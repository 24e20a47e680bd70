"""Documents that render as they are, into which hostile text is put."""

from __future__ import annotations

from typing import Any, TypeAlias

from tests.inputs import document

Node: TypeAlias = Any


def base(i: int) -> dict[str, Node]:
    """One document of each kind, which go together."""
    namespace, name = f"n{i}", f"a{i}"
    source = {"modelHub": {"modelID": f"org/m{i}", "filename": "m.gguf"}}
    model = {"familyName": "f", "servedModelName": f"s{i}", "source": source}
    runtime = {
        "image": "example.com/x",
        "version": "1",
        "command": ["x"],
        "recommendedConfigs": [{"name": "default", "args": ["--port", "8080"]}],
    }
    claim = {"modelName": f"m{i}"}
    pod = {"spec": {"containers": [{"name": "model-runner", "image": "example.com/x:1"}]}}
    target = {"name": f"s{i}"}
    api = {"modelroute": "renderer.llmaz.io/v1alpha1", "inferencemodel": "inference.networking.x-k8s.io/v1alpha2"}
    return {
        "openmodel": document("OpenModel", f"m{i}", model),
        "backendruntime": {
            "apiVersion": "inference.llmaz.io/v1alpha1",
            "kind": "BackendRuntime",
            "metadata": {"name": f"b{i}"},
            "spec": runtime,
        },
        "playground": document(
            "Playground", name, {"modelClaim": claim, "backendRuntimeConfig": {"backendName": "llamacpp"}}, namespace
        ),
        "service": {
            "apiVersion": "inference.llmaz.io/v1alpha1",
            "kind": "Service",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"modelClaims": {"models": [{"name": f"m{i}"}]}, "workloadTemplate": {"workerTemplate": pod}},
        },
        "modelroute": {
            "apiVersion": api["modelroute"],
            "kind": "ModelRoute",
            "metadata": {"name": f"r{i}", "namespace": namespace},
            "spec": {"modelName": f"r{i}", "backends": [{"playground": name}]},
        },
        "inferencemodel": {
            "apiVersion": api["inferencemodel"],
            "kind": "InferenceModel",
            "metadata": {"name": f"i{i}", "namespace": namespace},
            "spec": {"modelName": f"i{i}", "poolRef": {"name": name}, "targetModels": [target]},
        },
        "renderconfig": document("RenderConfig", "config", {}),
    }


def passed_through(i: int) -> list[Node]:
    """Objects of kinds that the chart looks into."""
    meta = {"name": f"x{i}", "namespace": f"n{i}", "annotations": {"a": "b"}}
    container = {
        "name": "c",
        "image": "docker.io/nginx",
        "args": ["--namespace", f"n{i}", f"--pool-namespace=n{i}"],
        "env": [{"name": "A", "value": "b"}],
    }
    volumes = [{"name": "v", "image": {"reference": "ghcr.io/a/b:1"}}, {"name": "w", "image": {"reference": "b"}}]
    data = {"a": "b", "c": f'up{{namespace="n{i}"}}\nx'}
    return [
        {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container], "volumes": volumes}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data},
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": meta,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
            "subjects": [{"kind": "User", "name": f"system:serviceaccount:n{i}:x"}],
        },
        {
            "apiVersion": "gateway.envoyproxy.io/v1alpha1",
            "kind": "EnvoyProxy",
            "metadata": meta,
            "spec": {"provider": {"type": "Kubernetes", "kubernetes": {"envoyService": {"name": f"n{i}-x{i}"}}}},
        },
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "HTTPRoute",
            "metadata": meta,
            "spec": {"parentRefs": [{"name": "g", "namespace": f"n{i}"}], "hostnames": ["a.example"]},
        },
    ]
