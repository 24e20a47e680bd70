"""Runs another release of llmaz, in a virtual environment of its own: a wheel without network, a version from pip.

A wheel is installed without what it needs: its environment sees the packages of the Python that runs here, behind its
own. A version gets packages of its own, since pip asks the network for it anyway. No current folder, PYTHONPATH or
user's packages come before them (`python -I`).
"""

from __future__ import annotations

import json
import os
import re
import sys
import zipfile
from collections.abc import Mapping, Sequence
from email import message_from_bytes

from msgspec import Struct

from renderer.check.programs.process import CommandResult, run_command
from renderer.diagnostics import Diagnostic, NamedSource, Origin, RenderError, make_diagnostic
from renderer.kubernetes.json_values import text_at

PACKAGE = "llmaz-renderer"
INSTALL_SECONDS = 300.0
RENDER_SECONDS = 300.0
_VERSION = r"v?[0-9][0-9A-Za-z.!+-]*"
_PIP = ("-m", "pip", "--no-input", "--disable-pip-version-check", "--quiet")
_NEWER_KEYS = "if the input has keys that it does not know, compare with a newer one"


class RendererSource(Struct, frozen=True):
    """Where another renderer comes from."""

    text: str  # as the user writes it
    version: str  # of a wheel that which its metadata says
    wheel: str = ""  # its path, '' for a version that pip fetches

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"llmaz {self.version}"

    def refusal(self, code: str, **words: object) -> RenderError:
        """The error with that code about it."""
        return RenderError([make_diagnostic(code, Origin(NamedSource(self.text)), **words)])


def renderer_source(text: str) -> RendererSource:
    """What `--llmaz` names. Raises RenderError for what is neither a wheel of llmaz nor a version.

    A version is one whatever the tree holds: no file of that name takes its place.
    """
    if re.fullmatch(_VERSION, text) and not text.endswith(".whl"):
        return RendererSource(text, text.removeprefix("v"))
    source = RendererSource(text, "", text)
    try:
        with zipfile.ZipFile(text) as wheel:
            [path] = [name for name in wheel.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)]
            metadata = message_from_bytes(wheel.read(path))
    except FileNotFoundError:
        raise source.refusal("E744", what="there is no such file, and it is not a version") from None
    except OSError as error:
        raise source.refusal("E744", what=error.strerror or error) from None
    except (ValueError, RuntimeError, zipfile.BadZipFile):  # no metadata, or more; encrypted; no archive
        raise source.refusal("E744", what="the file is not a wheel") from None
    package = re.sub(r"[-_.]+", "-", metadata["Name"] or "").lower()
    if package != PACKAGE:
        raise source.refusal("E744", what=f"the wheel is of the package '{package}'")
    return RendererSource(text, metadata["Version"] or "of no version", os.path.abspath(text))


def render_by(source: RendererSource, arguments: Sequence[str], output: str) -> None:
    """Renders by another llmaz into the folder `output`. `arguments`: of `llmaz render`. Raises RenderError where it
    cannot be installed, does not run, or finds errors.
    """
    python = _install(source, os.path.join(os.path.dirname(output), "venv"))
    command = [python, "-I", "-m", "renderer", "render", "--format", "json", "-o", output, *arguments]
    result = _run(command, RENDER_SECONDS)
    if result.status == 0 and not result.stopped:
        return
    if problems := [] if result.stopped else _errors(result.data):
        raise RenderError(_as_its_own(source, problem) for problem in problems)
    raise source.refusal("E748", name=source.name, what=result.stopped or _last_line(result))


def _install(source: RendererSource, folder: str) -> str:
    """The path of the Python of a new virtual environment in which the renderer is installed."""
    result = _run([sys.executable, "-I", "-m", "venv", folder], INSTALL_SECONDS)
    if result.status or result.stopped:
        raise source.refusal("E745", what=result.stopped or _venv_message(result))
    python = os.path.join(folder, "bin", "python")
    if not source.wheel:
        words = [f"{PACKAGE}=={source.version}"]
        _run_pip(source, python, words, f"see whether pip finds it: pip download --no-deps {words[0]}")
        return python
    offline = ["--isolated", "--no-index", "--no-compile", source.wheel]
    _run_pip(source, python, ["--no-deps", *offline], "name a wheel that suits this Python")
    _share_packages(folder)
    hint = "it runs with the packages of the installed llmaz: install the missing ones, or name a version"
    _run_pip(source, python, offline, hint)  # says which packages it misses, or needs in another version
    return python


def _share_packages(folder: str) -> None:
    """Lets a virtual environment see the packages of this Python, behind its own. Their `.pth` files do not count, so
    that no checkout of llmaz comes along.
    """
    shared = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    path = os.path.join(folder, "lib", version, "site-packages", "llmaz-shared-packages.pth")
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(f"{os.path.abspath(line)}\n" for line in shared))


def _run_pip(source: RendererSource, python: str, words: Sequence[str], hint: str) -> None:
    """`pip install`, by the pip of a virtual environment. Raises RenderError when it fails."""
    result = _run([python, "-I", *_PIP, "install", *words], INSTALL_SECONDS)
    if result.status or result.stopped:
        errors = [line for line in result.message.splitlines() if line.startswith("ERROR: ")]
        what = result.stopped or (errors[0].removeprefix("ERROR: ") if errors else _last_line(result))
        raise source.refusal("E746", what=what, hint=hint)


def _run(command: Sequence[str], seconds: float) -> CommandResult:
    try:
        return run_command(command, os.environ, seconds)
    except OSError as error:
        return CommandResult(1, b"", f"{command[0]}: {error.strerror or error}")


def _last_line(result: CommandResult) -> str:
    return (result.message.splitlines() or [f"it ended with {result.status}"])[-1]


def _venv_message(result: CommandResult) -> str:
    """What venv says of its failure: a line, which on Debian names the package that is missing."""
    text = " ".join((result.data.decode("utf-8", "replace") or result.message).split())
    return text or _last_line(result)


def _errors(data: bytes) -> list[Mapping[str, object]]:
    """The errors in what `--format json` prints; none where it is no such list."""
    try:
        problems = json.loads(data)
    except ValueError:
        return []
    items = problems if isinstance(problems, list) else []
    return [item for item in items if isinstance(item, dict) and item.get("severity") == "error"]


class _Place(NamedSource):
    """A place in a file, as another renderer says it."""

    def __init__(self, problem: Mapping[str, object]) -> None:
        super().__init__(text_at(problem, "file"))
        line, column = (problem.get(key) for key in ("line", "column"))
        self._place = line if isinstance(line, int) else 0, column if isinstance(column, int) else 0

    def locate(self, path: object, *, key: bool = False) -> tuple[int, int]:
        return self._place


def _as_its_own(source: RendererSource, problem: Mapping[str, object]) -> Diagnostic:
    """An error of another renderer, told as one of its own."""
    field, message, code = (text_at(problem, key) for key in ("field", "message", "code"))
    what = f"{field}: {message} [{code}]" if field else f"{message} [{code}]"
    hint = text_at(problem, "hint")
    hint = f"{hint}; {_NEWER_KEYS}" if hint else _NEWER_KEYS
    return make_diagnostic("E747", Origin(_Place(problem)), name=source.name, what=what, hint=hint)
