"""What a tree runs at least and at most: accelerators, their price, their owners, and whether models fit; for
`llmaz fleet`.
"""

from renderer.fleet.csv_format import to_csv
from renderer.fleet.json_format import to_json
from renderer.fleet.rows import fleet
from renderer.fleet.table import summary, table

FORMS = {"table": table, "json": to_json, "csv": to_csv}

__all__ = ["FORMS", "fleet", "summary"]
