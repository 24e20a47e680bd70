"""The routes from Gateways through public names to models, for `llmaz routes`."""

from renderer.routes.json_format import to_json
from renderer.routes.markdown import markdown
from renderer.routes.rows import RouteLeg, RouteRow, RouteTable, routes
from renderer.routes.table import summary, table

FORMS = {"table": table, "markdown": markdown, "json": to_json}

__all__ = ["FORMS", "RouteLeg", "RouteRow", "RouteTable", "markdown", "plain", "routes", "summary", "table"]
