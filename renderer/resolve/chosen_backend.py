"""Which BackendRuntime serves a Playground."""

from __future__ import annotations

from renderer.api import App, Inputs
from renderer.diagnostics import Origin
from renderer.schema_validation import spec_default


def default_backend(inputs: Inputs) -> str:
    """The backend of Playgrounds that name none: RenderConfig's, else the CRD's default."""
    return str(inputs.config.get("backend") or spec_default("Playground", "backendRuntimeConfig", "backendName"))


def backend_of(inputs: Inputs, app: App) -> str:
    """The backend of a Playground."""
    return (app.spec.get("backendRuntimeConfig") or {}).get("backendName") or default_backend(inputs)


def backend_origin(inputs: Inputs, app: App) -> Origin | None:
    """Where the backend of a Playground is said; None where it is the CRD's default."""
    if (app.spec.get("backendRuntimeConfig") or {}).get("backendName"):
        return app.origin("spec", "backendRuntimeConfig", "backendName")
    return inputs.config.origin("backend") if inputs.config.get("backend") else None
