"""llmaz flux."""

from __future__ import annotations

from typing import Any

import click

from renderer.cli.argocd import location_options, print_bodies
from renderer.cli.console import Group, examples, report_failures, require_values

_REVISION = "A branch, a tag that looks like v1.2.3, a commit of 40 digits, or refs/NAME."


@click.group(
    cls=Group,
    short_help="Print the Kustomizations for Flux.",
    epilog=examples("llmaz flux kustomization", "llmaz flux kustomization --revision main"),
)
def flux() -> None:
    """Print objects for Flux: Kustomizations and their sources.

    In the values of options, {env} stands for the name of an environment.
    """


@flux.command(
    "kustomization",
    short_help="Print one Kustomization per environment.",
    epilog=examples(
        "llmaz flux kustomization --revision main", "llmaz flux kustomization --name serving --secret deploy-key"
    ),
)
@location_options("main", _REVISION)
@click.option("--namespace", default="flux-system", show_default=True, help="The namespace of these objects.")
@click.option("--secret", metavar="NAME", help="The Secret with the credentials for the repository.")
def flux_kustomization(namespace: str, secret: str | None, **flags: Any) -> None:
    """Print a Kustomization for each environment, with health checks, and its source."""
    require_values(flags)
    with report_failures():
        from renderer.integrations.gitops import (
            default_revision,
            environment_sources,
            flux,
            only_environment,
            rendered_tree,
            validate_name,
        )

        validate_name("--namespace", namespace)
        if secret is not None:
            validate_name("--secret", secret)
        options = {"--revision": flags["revision"] or default_revision("main", flags["repo_url"])}
        environments = flags["environments"] or tuple(filter(None, [only_environment((), "", "a cluster")]))
        sources = environment_sources(
            rendered_tree(), flags["name"], flags["repo_url"], flags["folder"], environments, options
        )
        print_bodies(flux.kustomizations(flags["name"], sources, namespace, secret))
