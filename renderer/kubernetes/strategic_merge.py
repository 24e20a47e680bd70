"""Strategic merge patches of pods, with the origins of what they set.

Maps are merged key by key, the items of a list by its merge keys; lists without merge keys are replaced. A map with
`$patch: delete` deletes a map or an item, one with `$patch: replace` takes the place of a map.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from renderer.diagnostics import Collector, Origin, Path, suggestion
from renderer.kubernetes.api_types import merge_keys, types_below
from renderer.kubernetes.template_origins import TemplateOrigins

Body: TypeAlias = Mapping[str, Any]

DIRECTIVE: Final = "$patch"
DELETE: Final = "delete"
DIRECTIVES: Final = (DIRECTIVE, "$retainKeys", "$setElementOrder/", "$deleteFromPrimitiveList/")
"""How the directives of Kubernetes' patches begin; those of docs/pods.md are the first alone."""


class MergeRules(Struct, frozen=True):
    """What a merge does unlike the API server."""

    by_all_keys: bool = False
    """Items are found by all merge keys that the patch has: 80/UDP is another port than 80/TCP."""
    without_slashes: bool = False
    """`/a/` and `/a` are one merge key."""
    in_place: bool = False
    """Items stay where they are, with new ones behind them; the API server takes the order of the patch."""
    whole: frozenset[str] = frozenset()
    """Lists whose items are replaced."""
    of_one_source: frozenset[str] = frozenset()
    """Lists whose items are replaced by those with another field, as a volume by one with another source."""
    once: bool = False
    """An item that a patch names twice is an error."""


SERVER: Final = MergeRules()
"""As the API server merges, and KServe, whose patches have no directives."""
POD_TEMPLATE: Final = MergeRules(
    by_all_keys=True,
    without_slashes=True,
    in_place=True,
    whole=frozenset(("env",)),
    of_one_source=frozenset(("volumes",)),
    once=True,
)
"""As docs/pods.md#one-playground-podtemplate says, where tolerations are not merged but added to others."""


class Merge(Struct, frozen=True):
    """Merges patches, one after another."""

    rules: MergeRules
    origins: TemplateOrigins  # of what the patches set
    diagnostics: Collector

    def merge_map(
        self,
        old: Body,
        patch: Body,
        type_name: str,
        origin: Origin,
        path: Path,
        field_types: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """The patched map. `type_name`: of the server's types, as `core.PodSpec`; '' where `field_types` has those of
        the fields; `origin`: of the patch; `path`: of the map in what `origins` are of.
        """
        merged = {} if patch.get(DIRECTIVE) == "replace" else dict(old)
        types = field_types or types_below(type_name)
        for key, value in patch.items():
            if key == DIRECTIVE:
                continue
            place, value_origin, before = (*path, key), origin.at(key), merged.get(key)
            if isinstance(value, dict) and value.get(DIRECTIVE) == DELETE:
                self._is_bare(value, (), value_origin)
                merged.pop(key, None)
            elif isinstance(value, dict):
                self.origins.copy(place, value_origin)
                map_before = before if isinstance(before, dict) else {}
                merged[key] = self.merge_map(map_before, value, types.get(key, ""), value_origin, place)
            elif merge_keys(type_name, key):
                merged[key] = self._merge_list(before or (), value, type_name, value_origin, place)
            else:
                self.origins.forget(place)
                self.origins.copy(place, value_origin)
                merged[key] = value
        return merged

    def _merge_list(
        self, old: Sequence[Body], patches: Sequence[Body], type_name: str, origin: Origin, path: Path
    ) -> list[Body]:
        """The patched list. `type_name`: of the map that holds it."""
        rules, field = self.rules, str(path[-1])
        keys, item_type = merge_keys(type_name, field), types_below(type_name)[field]
        names = keys if rules.by_all_keys else keys[:1]
        items, earlier = _Items(old, names, rules), _Items((), names, rules)
        patched: set[int] = set()
        for i, patch in enumerate(patches):
            item_origin = origin.at(i)
            is_duplicate = rules.once and earlier.find(patch) is not None
            earlier.append(patch)
            if is_duplicate:
                self.diagnostics.add("E294", item_origin.at(names[0]), name=patch[names[0]])
                continue
            index = items.find(patch) if old else None  # the items of a new list stay as they are
            if patch.get(DIRECTIVE) == DELETE:
                if self.may_delete(patch, names, index is not None, items.names(), item_origin):
                    items.bodies[index or 0] = None
                continue
            before: Body = (items.bodies[index] if index is not None else None) or {}
            replaces = field in rules.whole or (field in rules.of_one_source and not patch.keys() <= before.keys())
            place = len(items.bodies) if index is None else index
            patched.add(place)
            if replaces or self.origins.of_all_fields:
                self.origins.copy((*path, place), item_origin)
            merged = self.merge_map({} if replaces else before, patch, item_type, item_origin, (*path, place))
            if field == "volumeMounts" and "name" not in merged and rules.once:  # its mountPath alone finds none
                self.diagnostics.add("E302", item_origin, word="name", hint="")
            elif index is None:
                items.append(merged)
            else:
                items.bodies[index] = merged
        order = [i for i, item in enumerate(items.bodies) if item is not None]
        if old and not rules.in_place:
            order = _server_order(old, items.bodies, patches, names[0])
        if order != [*range(len(items.bodies))]:
            self.origins.move_items(path, {index: place for place, index in enumerate(order)})
        if patched.issuperset(order):
            self.origins.copy(path, origin)
        return [items.bodies[i] or {} for i in order]

    def may_delete(self, patch: Body, keys: Sequence[str], exists: bool, names: Iterable[str], origin: Origin) -> bool:
        """Whether an item can be deleted: it exists, and the patch has no other fields; errors where not."""
        if not exists:
            name = patch[keys[0]]
            self.diagnostics.add("E292", origin.at(keys[0]), name=name, hint=suggestion(str(name), [*names]))
        return self._is_bare(patch, keys, origin) and exists

    def _is_bare(self, patch: Body, keys: Sequence[str], origin: Origin) -> bool:
        """Whether there are no fields beside `$patch: delete` and the merge keys; an error for each that there is."""
        fields = [key for key in patch if key != DIRECTIVE and key not in keys]
        for key in fields:
            self.diagnostics.add("E297", origin.at(key, key=True), field=key)
        return not fields


def _server_order(old: Sequence[Body], items: Sequence[Body | None], patches: Sequence[Body], key: str) -> list[int]:
    """The indices of the merged items as the API server orders them: those of the patch in its order, and before each
    those of the others that were before it.
    """
    names = {i: item.get(key) for i, item in enumerate(items) if item is not None}
    places, ranks = ({item.get(key): i for i, item in reversed([*enumerate(bodies)])} for bodies in (old, patches))
    others = sorted((i for i in names if names[i] not in ranks), key=lambda i: places[names[i]])
    order: list[int] = []
    for i in sorted(names.keys() - {*others}, key=lambda i: (ranks[names[i]], i)):
        while others and places[names[others[0]]] < places.get(names[i], -1):
            order.append(others.pop(0))
        order.append(i)
    return [*order, *others]


class _Items:
    """The items of a list, found by their merge keys."""

    __slots__ = ("_indices", "_keys", "_rules", "bodies")

    def __init__(self, bodies: Iterable[Body], keys: Sequence[str], rules: MergeRules) -> None:
        self.bodies: list[Body | None] = []  # None where an item is deleted
        self._keys, self._rules = keys, rules
        self._indices: dict[tuple[object, ...], list[int]] = {}  # by the values of the first key, and of all
        for body in bodies:
            self.append(body)

    def find(self, patch: Body) -> int | None:
        """The index of the first item with the same values of those merge keys that the patch has."""
        indices = self._indices.get(self._values(patch, [key for key in self._keys if key in patch]), ())
        return next((i for i in indices if self.bodies[i] is not None), None)

    def append(self, body: Body) -> None:
        """Appends an item."""
        values = self._values(body, self._keys)
        for known in dict.fromkeys((values[:1], values)):
            self._indices.setdefault(known, []).append(len(self.bodies))
        self.bodies.append(body)

    def names(self) -> Iterator[str]:
        """The first key of each item."""
        return (str(body[self._keys[0]]) for body in self.bodies if body is not None)

    def _values(self, body: Body, keys: Sequence[str]) -> tuple[object, ...]:
        values = [body.get(key) for key in keys]
        if self._rules.without_slashes:
            values = [value.rstrip("/") or "/" if isinstance(value, str) else value for value in values]
        return tuple(values)
