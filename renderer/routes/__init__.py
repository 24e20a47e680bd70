"""Which public name leads where: from the Gateway to the model, for `llmaz routes`."""

from renderer.routes.markdown import markdown
from renderer.routes.plain import plain
from renderer.routes.rows import Leg, Routes, Row, routes
from renderer.routes.table import summary, table

FORMS = {"table": table, "markdown": markdown, "json": plain}

__all__ = ["FORMS", "Leg", "Routes", "Row", "markdown", "plain", "routes", "summary", "table"]
