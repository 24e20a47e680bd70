"""The lists of options in the folder that RenderConfig names: which of them nothing needs, and which are none."""

from __future__ import annotations

import os
from collections.abc import Iterator

from renderer.api import BackendRuntime, Inputs, UnreadableList
from renderer.diagnostics import Diagnostic, make_diagnostic
from renderer.engines.option_lists import is_listed, list_path, list_stem


def unneeded_lists(inputs: Inputs) -> Iterator[Diagnostic]:
    """An error for each file that is no list, and a note for each list that does not count."""
    folder = inputs.config.get("optionLists")
    if not folder:
        return
    files, origin = inputs.option_files, inputs.config.origin("optionLists")
    for name, what in files.unread().items():
        if not _is_beside(inputs, name):
            yield make_diagnostic("E839", origin, name=f"{folder}/{name}", what=what)
    owners = {
        os.path.basename(list_stem(path)): runtime for runtime in inputs.runtimes.values() if (path := _path(runtime))
    }
    for name, file in files.learnt().items():
        runtime = owners.get(name.removesuffix(f"-{file.learnt}.txt"))
        if runtime is None:
            why = f"no backend has a list '{name.removesuffix(f'-{file.learnt}.txt')}'"
        elif _is_known(inputs, runtime, file.learnt):
            why = f"this release of llmaz knows the options of {runtime.name} {file.learnt}, and they count"
        else:
            continue
        yield make_diagnostic("N839", origin, name=f"{folder}/{name}", why=why)


def _is_beside(inputs: Inputs, name: str) -> bool:
    """Whether a file of the folder is there for a BackendRuntime of the tree, which has its lists in the same one."""
    place = os.path.dirname(inputs.config.document.name), str(inputs.config.get("optionLists")), name
    path = os.path.abspath(os.path.join(*place))
    stems = [
        os.path.abspath(os.path.join(os.path.dirname(runtime.document.name), list_stem(listed)))
        for runtime in inputs.runtimes.values()
        if not runtime.ours and (listed := _path(runtime))
    ]
    return any(path.startswith((f"{stem}.", f"{stem}-")) for stem in stems)


def _path(runtime: BackendRuntime) -> str:
    return list_path(runtime.spec.get("engine") or {})


def _is_known(inputs: Inputs, runtime: BackendRuntime, version: str) -> bool:
    """Whether a list that was not learnt has the version."""
    try:
        return is_listed(inputs.option_files, runtime, version)
    except UnreadableList:  # told of the runtime
        return False
