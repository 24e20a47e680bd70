"""Where the documentation is published."""

from __future__ import annotations

SITE: str = ""
"""The address of the site, with a slash at its end, for whoever publishes it; '' where nobody did. `site_url` of
mkdocs.yml and `Documentation` in pyproject.toml repeat it; a test compares."""

REPOSITORY: str = ""
"""Where the pages of the site find files of the repository; '' where nobody says, and they lead to copies."""


def page_address(code: str) -> str:
    """The address of the page of an error code, which stays the same over versions; '' where there is no site."""
    return f"{SITE}errors/{code}/" if SITE else ""
