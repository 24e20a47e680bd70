"""llmaz flux."""

from __future__ import annotations

from typing import Any

import click

from renderer.cli.answers import answering
from renderer.cli.argocd import filled, reached, shown

_REVISION = "A branch; or a tag, when it looks like v1.2.3; or a commit, as 40 digits; or refs/NAME."


@click.group(short_help="What Flux has to be told.")
def flux() -> None:
    """Print what Flux has to be told.

    In the values of options, {env} stands for the name of an environment.
    """


@flux.command("kustomization")
@reached("main", _REVISION)
@click.option("--namespace", default="flux-system", show_default=True, help="Where these objects live.")
@click.option("--secret", metavar="NAME", help="The Secret with what opens the repository.")
def flux_kustomization(namespace: str, secret: str | None, **flags: Any) -> None:
    """Print a Kustomization for each environment, with health checks, and its source."""
    filled(flags)
    with answering():
        from renderer.gitops import asked, flux, one, places, revision, tree

        asked("--namespace", namespace)
        if secret is not None:
            asked("--secret", secret)
        given = {"--revision": flags["revision"] or revision("main", flags["repo_url"])}
        named = flags["wanted"] or tuple(filter(None, [one((), "", "a cluster")]))
        found = places(tree(), flags["name"], flags["repo_url"], flags["folder"], named, given)
        shown(flux.kustomizations(flags["name"], found, namespace, secret))
