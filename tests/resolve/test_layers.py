"""Who wins of several layers, and that a merge keeps who that was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from renderer.api import ConfigPart, Inputs, RenderConfig
from renderer.diagnostics import Collector, Origin, Path
from renderer.engines.dialect import ArgLayer, build_style
from renderer.load.option_lists import OptionListReader
from renderer.load.preset_files import accelerator_types, preset
from renderer.resolve import flavors
from renderer.resolve.engine import arg_merge
from renderer.resolve.engine.arg_merge import merge_args
from renderer.resolve.flavors import INSTANCE_TYPE, FlavorOrigins
from renderer.resolve.layers import Position, ValueLayer, merge_entries, merge_items, origins, replacements

if TYPE_CHECKING:
    from renderer.input_types import FlavorSpec, OptionsSpec, RenderConfigFlavorSpec


class Named:
    """A source by name, without places."""

    def __init__(self, name: str) -> None:
        self.name = name

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return 0, 0


PRESET, MODEL, USER = (Origin(Named(name)) for name in ("preset", "model", "user"))


def env(**variables: str) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in variables.items()]


def test_a_later_entry_takes_the_place_of_an_earlier_one() -> None:
    merged = merge_entries([env(A="1", B="2"), (), env(C="3", A="4")])
    assert list(merged.entries) == env(A="4", B="2", C="3")
    assert merged.history == {
        ("A",): [Position(0, (0,)), Position(2, (1,))],
        ("B",): [Position(0, (1,))],
        ("C",): [Position(2, (0,))],
    }
    assert dict(origins(merged.history, [PRESET, MODEL, USER]))["A",] == [PRESET.at(0), USER.at(1)]


def test_one_author_who_says_a_name_twice() -> None:
    merged = merge_entries([[*env(A="1"), *env(A="2"), *env(B="3")]])
    assert list(merged.entries) == env(A="2", B="3")
    assert merged.history["A",] == [Position(0, (0,)), Position(0, (1,))]
    assert merged.history["B",] == [Position(0, (2,))]  # as it stands in the list, doubles and all


def test_kept_entries_stay_the_same_objects() -> None:
    layer = env(A="1")
    assert merge_entries([layer, env(B="2")]).entries[0] is layer[0]


def test_an_item_is_the_first_authors() -> None:
    merged = merge_items([["a", "a", "b"], ["b", "c"]])
    assert merged.items == ("a", "b", "c")
    assert merged.positions == (Position(0, (0,)), Position(0, (2,)), Position(1, (1,)))


def test_what_is_replaced_as_a_whole() -> None:
    authors: list[tuple[dict[str, Any], Origin]] = [({"version": "1"}, PRESET), ({}, MODEL), ({"version": "2"}, USER)]
    assert replacements("version", authors) == [
        ValueLayer("1", PRESET.at("version")),
        ValueLayer("2", USER.at("version")),
    ]
    assert replacements("image", authors) == []


def spoken(*lines: tuple[Origin, str]) -> list[tuple[str, Origin, list[Origin]]]:
    """Of each argument that is left: itself, where it stands, and who gives its option."""
    settings: OptionsSpec = {"style": "argparse", "dotted": True, "aliases": {"-t": "--two"}}
    reads = build_style(settings, [lines[0][1].split()])
    layers = [ArgLayer(text.split(), origin) for origin, text in lines]
    args, form = merge_args(reads, layers)
    return [
        (arg, *option_origins)
        for arg, option_origins in zip(args, arg_merge.arg_origins(reads, layers, args, form), strict=True)
    ]


def test_arguments() -> None:
    assert spoken((PRESET, "--a 1 --b 2"), (USER, "--c 3 --a 4")) == [
        ("--b", PRESET.at(2), [PRESET.at(2)]),
        ("2", PRESET.at(3), [PRESET.at(2)]),
        ("--c", USER.at(0), [USER.at(0)]),
        ("3", USER.at(1), [USER.at(0)]),
        ("--a", USER.at(2), [PRESET.at(0), USER.at(2)]),
        ("4", USER.at(3), [PRESET.at(0), USER.at(2)]),
    ]


def test_an_argument_in_another_spelling_is_still_its_authors() -> None:
    """Two keys of the same name, of two options."""
    left = spoken((PRESET, "--one.key 1 --two.key 2"), (USER, "-t.other 3"))
    assert [(arg, origin) for arg, origin, _ in left][:4] == [
        ("--one.key", PRESET.at(0)),
        ("1", PRESET.at(1)),
        ("-t.key", PRESET.at(2)),
        ("2", PRESET.at(3)),
    ]


def flavor(own: FlavorSpec, catalog: RenderConfigFlavorSpec | None) -> FlavorOrigins:
    """The flavor `a` of a model over the one of the catalog."""
    config = RenderConfig({"flavors": {"a": catalog}} if catalog else {}, Named("config"), {})
    collector = Collector()
    inputs = Inputs(
        config=config,
        apps=(),
        models={},
        runtimes={},
        preset_runtimes={},
        own_accelerators={},
        loaders={},
        accelerators=tuple(preset("accelerators").value["spec"]["resources"]),
        definitions=(),
        option_files=OptionListReader(),
        accelerator_types=accelerator_types,
        broken={},
        unreadable=False,
        foreign=0,
    )
    known = flavors.flavor_catalog(inputs, collector).get("a")
    merged = flavors.merge_flavor({"name": "a", **own}, MODEL, known, config, collector)
    assert collector.problems == []
    return FlavorOrigins(merged, MODEL)


def test_the_words_of_a_flavor() -> None:
    words = flavor(
        {"limits": {"nvidia.com/gpu": 2}, "params": {"INSTANCE-TYPE": "p5"}},
        {"limits": {"nvidia.com/gpu": 1, "rdma/hca": 1}, "nodeSelector": {INSTANCE_TYPE: "g6", "zone": "a"}},
    )
    catalog = ConfigPart(RenderConfig({}, Named("config"), {}), ("flavors", "a"))
    assert words.flavor.limits == {"nvidia.com/gpu": "2", "rdma/hca": "1"}
    assert words.at("limits", "nvidia.com/gpu") == MODEL.at("limits", "nvidia.com/gpu")
    assert words.at("limits", "rdma/hca").path == catalog.at("limits", "rdma/hca").path
    # The model's instance type wins over the catalog's label, so it is said there.
    assert words.flavor.node == {INSTANCE_TYPE: "p5", "zone": "a"}
    assert words.at("node", INSTANCE_TYPE) == MODEL.at("params", "INSTANCE-TYPE")
    assert words.at("node", "zone").path == catalog.at("nodeSelector", "zone").path


def test_a_flavor_that_the_catalog_does_not_know() -> None:
    words = flavor({"params": {"INSTANCE-TYPE": "p5"}, "nodeSelector": {INSTANCE_TYPE: "g6"}}, None)
    assert words.flavor.node == {INSTANCE_TYPE: "g6"}
    assert words.at("node", INSTANCE_TYPE) == MODEL.at("nodeSelector", INSTANCE_TYPE)
