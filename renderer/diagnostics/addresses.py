"""Where the documentation is published."""

from __future__ import annotations

from typing import Final

SITE: Final = "https://OWNER.github.io/llmaz-renderer/"
"""The address of the site, for whoever publishes it: OWNER stands for them, as in `uses: OWNER/llmaz-renderer@REF`.
`site_url` of mkdocs.yml and the address in pyproject.toml repeat it; a test compares."""

REPOSITORY: Final = "https://github.com/OWNER/llmaz-renderer"
"""Where the pages of the site find files of the repository."""


def page_address(code: str) -> str:
    """The address of the page of an error code; it stays the same over versions."""
    return f"{SITE}errors/{code}/"
