"""What tables, Markdown and charts of routes call Gateways, credentials, targets and replicas."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby

from renderer.diagnostics import listed
from renderer.routes.rows import RouteLeg, RouteRow, RouteTable
from renderer.text.text_table import number_range, shorten

MOST = 48  # characters of a cell: a served name may have 4,096 bytes
_CREDENTIALS = {"apiKeys": "an API key", "jwt": "a token"}
# Names of the AI gateway's API schemas, as their vendors write them.
_API_NAMES = {"AWSBedrock": "AWS Bedrock", "AWSAnthropic": "Anthropic on AWS", "AzureOpenAI": "Azure OpenAI"}


def describe_gateway(row: RouteRow) -> str:
    """The Gateway, hosts and authentication of a public name, in one line."""
    hosts = f"on {', '.join(row.hostnames)}" if row.hostnames else "on any host"
    return f"Gateway {'/'.join(row.gateway)} {hosts}" + (f", {describe_auth(row)}" if row.auth_methods else "")


def describe_auth(row: RouteRow) -> str:
    """The credentials that a client needs; '' without authentication."""
    return f"asks for {' or '.join(_CREDENTIALS[method] for method in row.auth_methods)}" if row.auth_methods else ""


def describe_target(leg: RouteLeg) -> str:
    """The target of a leg: a workload, a pool with its picker, or a provider with its API."""
    if leg.provider:
        port = f":{leg.provider.port}" if leg.provider.port != 443 else ""
        return f"{leg.provider.hostname}{port} ({api_name(leg)})"
    if leg.pool:
        return f"pool {leg.to}" + (f" ({leg.workload.picker})" if leg.workload else "")
    return leg.to


def api_name(leg: RouteLeg) -> str:
    """The API of a provider, by the name that its vendor gives it."""
    name = dict(leg.provider.speaks)["name"] if leg.provider else ""
    return _API_NAMES.get(name, name)


def replicas(leg: RouteLeg) -> str:
    """The replicas of a workload: `2`, or `1–4` with an autoscaler; of two roles `1 prefill, 2 decode`; '' if it is
    unknown.
    """
    if not leg.workload:
        return ""
    count = number_range(leg.workload.low, leg.workload.high)
    return f"{number_range(*leg.workload.prefill)} prefill, {count} decode" if leg.workload.prefill else count


def describe_replaced(table: RouteTable, mark: Callable[[str], str]) -> Iterator[str]:
    """The names without a route because of a ModelRoute, one line for each ModelRoute. `mark`: writes a name."""
    for (namespace, route), names in groupby(table.replaced, key=lambda name: (name.namespace, name.route)):
        lost = listed([f"{mark(shorten(name.name, MOST))} ({name.kind} {mark(name.app)})" for name in names])
        yield f"ModelRoute {mark(f'{namespace}/{route}')} replaces the routes of its apps, so none leads to {lost}"
