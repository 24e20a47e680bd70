"""4: Manifests → texts, the same bytes every run; and the folder that holds them: compare, write, prune."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from renderer import yamlio
from renderer.api import Scope
from renderer.plan import Joint, Manifest, Plan, Way
from renderer.problems import Origin, Problem, problem
from renderer.records import NamedTuple
from renderer.tree import CONFIG, MARK, Readable, glob

_BEGIN, _END = MARK, ". Do not edit."
# Both as text: few runs need them, and re keeps what it has compiled.
_TEMPORARY = r"\.(?:yaml|yml|json)\.llmaz-(\d{1,10})$"
_SUFFIXES = (".yaml", ".yml", ".json")
_SHARED = r"kustomization\.yaml|_cluster\.yaml|(?!_extra/)[^/]+/_(shared|routes-\d+)\.yaml"


class Text(NamedTuple):
    """One output file: its path below the output folder, and what it holds."""

    path: str
    text: str


def header(source: str) -> str:
    """The line that says that a file is ours, and from which input it came."""
    return f"{_BEGIN}{source}{_END}\n"


def texts(plans: Sequence[Plan | Way], manifests: Sequence[Manifest], layout: str = "file") -> list[Text]:
    """The files of one Playground or Service, ModelRoute or InferenceModel: one; with layout `app` in a folder of its
    own; with `object` one an object. None without objects.
    """
    if not manifests:
        return []
    line = header(plans[0].file)
    paths = _paths(plans[0], manifests, layout)
    bodies = [filled or body for body, _, filled in manifests]
    if layout == "object":
        return [Text(path, yamlio.dump(body, head=line)) for path, body in zip(paths, bodies, strict=True)]
    return [Text(paths[0], yamlio.dump(*bodies, head=line))]


def bare(plans: Sequence[Plan | Way], manifests: Sequence[Manifest], layout: str = "file") -> list[Text]:
    """The files that `texts` makes, with nothing in them."""
    return [Text(path, "") for path in _paths(plans[0], manifests, layout)] if manifests else []


def _paths(plan: Plan | Way, manifests: Sequence[Manifest], layout: str) -> list[str]:
    """Where these objects of an app go."""
    if layout == "object":
        folder = f"{plan.namespace}/{plan.app}"
        return [f"{folder}/{body['kind'].lower()}-{body['metadata']['name']}.yaml" for body, *_ in manifests]
    folder = f"{plan.namespace}/{plan.app}" if layout == "app" else plan.namespace
    return [f"{folder}/{plan.app}.yaml"]


def shared(joint: Joint, manifests: Sequence[Manifest]) -> list[Text]:
    """The file of what apps share of a namespace, or of the cluster: one, whatever the layout; none without objects."""
    text = yamlio.dump(*(manifest.body for manifest in manifests), head=header(CONFIG))
    return [Text(shared_path(joint.namespace, joint.part), text)] if manifests else []


def shared_path(namespace: str, part: str = "shared") -> str:
    """Where the apps of a namespace share what they need together; '' is the cluster."""
    return f"{namespace}/_{part}.yaml" if namespace else "_cluster.yaml"


def common(scope: Scope, states: dict[str, str], joint: Iterable[Text] = ()) -> tuple[list[Text], list[Problem]]:
    """Files that belong to no single app, their states noted: shared ones, passThrough, and `kustomization.yaml` where
    asked for.
    """
    patterns = [glob(pattern) for pattern in scope.config.get("passThrough") or ()]
    made = list(joint)
    problems: list[Problem] = []
    for file in scope.tree.files if patterns else ():
        if any(pattern.fullmatch(file.key) for pattern in patterns):
            try:
                made += _copied(file)
            except UnicodeDecodeError as error:
                what = f"byte {error.start + 1} is no UTF-8"
                problems.append(problem("E142", Origin(file), what=what))
            except ValueError as error:
                problems.append(problem("E142", Origin(file), what=error))
    if scope.config.get("output", "kustomization") and not scope.prunes:
        resources = sorted([*states, *(text.path for text in made)])
        body = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": resources}
        made.append(Text("kustomization.yaml", yamlio.dump(body, head=header(CONFIG))))
    states.update(compare(scope, made))
    return made, problems


def _copied(file: Readable) -> list[Text]:
    """A passThrough file, byte for byte below our line; nothing of one that we wrote. Raises ValueError where that
    line would break it.
    """
    if file.key.endswith(".json"):
        raise ValueError("JSON has no room for a comment")
    data = file.read()
    if data.startswith(b"\xef\xbb\xbf"):
        raise ValueError("it begins with a byte order mark")
    ours = data.startswith(MARK.encode())
    return [] if ours else [Text(f"_extra/{file.key}", header(file.key) + data.decode("utf-8"))]


def compare(scope: Scope, files: Sequence[Text], bare: dict[str, bool] | None = None) -> list[tuple[str, str]]:
    """Each file's path and what is on disk: same, changed, new, or foreign (something in the way that is not ours).

    `bare`: what is known of folders, and what gets known: whether there is nothing in them.
    """
    if not scope.options.compares:
        return [(path, "new") for path, _ in files]
    mark, folder = _BEGIN.encode(), scope.folder
    bare = {} if bare is None else bare
    states = []
    for path, text in files:
        parent = path.rpartition("/")[0]
        if parent not in bare:
            bare[parent] = _bare(f"{folder}/{parent}")
        if bare[parent]:
            states.append((path, "new"))
            continue
        try:
            descriptor = os.open(f"{folder}/{path}", os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            states.append((path, "new"))
            continue
        except OSError:  # a folder where a file belongs, or the other way round
            states.append((path, "foreign"))
            continue
        try:
            data = text.encode()
            old = os.read(descriptor, len(data) + 1)
            states.append((path, "same" if old == data else "changed" if old.startswith(mark) else "foreign"))
        except IsADirectoryError:
            states.append((path, "foreign"))
        finally:
            os.close(descriptor)
    return states


def _bare(folder: str) -> bool:
    """Whether nothing lies in a folder, or it is not there."""
    try:
        with os.scandir(folder) as scan:
            return next(scan, None) is None
    except FileNotFoundError:
        return True
    except OSError:  # who opens a file in there will see
        return False


def stale(scope: Scope, kept: Mapping[str, str], others: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Our files that nothing makes any more, and what killed runs left behind; both below the folder, sorted.

    A file is ours when it carries our line; it is this run's business when its input lies below PATHS. Shared files
    depend on all input, so a run over a part of the tree leaves them alone. `others`: folders that are not looked at.
    """
    below = tuple(f"{path}/" for path in scope.prunes)
    gone, left = [], []
    for path in _files(scope.folder, ""):
        if path in kept or path.partition("/")[0] in others or (below and re.fullmatch(_SHARED, path)):
            continue
        if path.endswith(_SUFFIXES):
            source = made_from(f"{scope.folder}/{path}")
            if source is not None and (not below or source in scope.prunes or source.startswith(below)):
                gone.append(path)
        elif (found := re.search(_TEMPORARY, path)) and not _runs(int(found[1])):
            left.append(path)
    return sorted(gone), sorted(left)


def _runs(process: int) -> bool:
    """Whether there is such a process; it may be writing right now."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


def made_from(path: str) -> str | None:
    """The input that the file's first line names; None when it is not ours."""
    try:
        with open(path, "rb") as file:
            line = file.readline(4096).decode("utf-8", "replace")
    except OSError:
        return None
    line = line.rstrip("\r\n")  # a checkout may have turned our line ends
    return line[len(_BEGIN) : -len(_END)] if line.startswith(_BEGIN) and line.endswith(_END) else None


def _files(folder: str, below: str) -> Iterator[str]:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(os.path.join(folder, below)) as scan:
        for entry in scan:
            if entry.is_dir(follow_symlinks=False):
                if not os.path.exists(os.path.join(entry.path, "Chart.yaml")):  # a chart has files of ours too
                    yield from _files(folder, f"{below}{entry.name}/")
            else:
                yield below + entry.name


def write(scope: Scope, files: Iterable[Text]) -> None:
    """Writes each file whole: a temporary file beside it, then a rename, so that none is ever half written.

    Raises OSError.
    """
    folder, made = scope.folder, set()
    for path, text in files:
        target = f"{folder}/{path}"
        parent = target[: target.rindex("/")]
        if parent not in made:
            os.makedirs(parent, exist_ok=True)
            made.add(parent)
        whole(target, text)


def whole(target: str, text: str) -> None:
    """Writes one file in a folder that is there, whole or not at all. Raises OSError."""
    temporary = f"{target}.llmaz-{os.getpid()}"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        try:
            data = memoryview(text.encode())
            while data:
                data = data[os.write(descriptor, data) :]
        finally:
            os.close(descriptor)
        os.rename(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def settle(scope: Scope, common: Iterable[Text], states: Mapping[str, str], rubbish: Iterable[str]) -> None:
    """What is done once the apps' files are there: the common files are written, the rubbish and empty folders go."""
    write(scope, [text for text in common if states[text.path] != "same"])
    for path in rubbish:
        os.unlink(os.path.join(scope.folder, path))
        while path := os.path.dirname(path):
            try:
                os.rmdir(os.path.join(scope.folder, path))
            except OSError:
                break
