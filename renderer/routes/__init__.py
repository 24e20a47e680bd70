"""Which public name leads where: from the Gateway to the model, for `llmaz routes`."""

from renderer.routes.markdown import markdown
from renderer.routes.rows import Leg, Routes, Row, plain, routes
from renderer.routes.table import table

FORMS = {"table": table, "markdown": markdown, "json": plain}

__all__ = ["FORMS", "Leg", "Routes", "Row", "markdown", "plain", "routes", "table"]
