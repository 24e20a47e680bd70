"""Rules across objects: from a Gateway's listener to the container that answers, over any set of objects."""

from __future__ import annotations

import os

from renderer.check.graph.external import declared_objects
from renderer.check.graph.policies import api_keys
from renderer.check.graph.route_conflicts import find_route_conflicts
from renderer.check.graph.route_matches import RouteMatch, route_matches
from renderer.check.graph.rules import reference_rules, validate_graph
from renderer.check.graph.validation import UNJUDGED_KINDS, known_objects, validate_whole_graph
from renderer.check.graph.view import ExternalObjects, Key, ObjectView, Place, kind_of
from renderer.diagnostics import import_rules

__all__ = [
    "UNJUDGED_KINDS",
    "ExternalObjects",
    "Key",
    "ObjectView",
    "Place",
    "RouteMatch",
    "api_keys",
    "declared_objects",
    "find_route_conflicts",
    "kind_of",
    "known_objects",
    "reference_rules",
    "route_matches",
    "validate_graph",
    "validate_whole_graph",
]

import_rules(__name__, os.path.dirname(__file__))
