"""A chat template that an engine reads from a ConfigMap, as its Playground says it."""

from __future__ import annotations

import posixpath

from renderer.adopt.engine_container import AdoptedContainer
from renderer.adopt.serving_workload import Body
from renderer.kubernetes.json_values import map_at
from renderer.kubernetes.mounted_files import MountedKey, mounted_key

_JINJA = ".jinja"  # by which engines tell it from a template of another language


def mounted_template(template: Body, container: AdoptedContainer) -> MountedKey | None:
    """The template that the one option for it names; None where it comes from elsewhere than one ConfigMap."""
    names = container.option_names("chatTemplate")
    values = [value for option in container.options if option.name in names for value in option.values]
    if len(values) != 1 or not values[0].endswith(_JINJA) or posixpath.normpath(values[0]) != values[0]:
        return None
    return mounted_key(map_at(template, "spec"), container.body, values[0])
