"""A fleet as one page of HTML, with its public names, for `llmaz fleet --html`."""

from renderer.fleet_page.contents import FleetContents, read_contents
from renderer.fleet_page.html import MARK, to_html
from renderer.fleet_page.source_links import check_source_url

__all__ = ["MARK", "FleetContents", "check_source_url", "read_contents", "to_html"]
