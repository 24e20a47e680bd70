"""Makes the image of Argo CD's plugin, for GitLab and Tekton too, as an OCI layout: no daemon, and nothing is pulled.

Two layers: a root of Debian packages, and the program with the packages of requirements/runtime.txt. Needs Linux, root,
mmdebstrap and umoci. The same wheel, lock and packages of Debian give the same digest. What the image has to be able to
do is tried by tests/install/image.py.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from renderer import __version__

ROOT: Final = Path(__file__).resolve().parents[1]
SUITE: Final = "trixie"
PACKAGES: Final = ("ca-certificates", "git", "libstdc++6", "python3")  # beside Debian's essential ones: sh, coreutils
LEFT_OUT: Final = ("doc", "info", "locale", "man")  # below /usr/share, less the copyright of each package
UNREPEATABLE: Final = ("etc/apt", "etc/hostname", "etc/resolv.conf", "var/cache", "var/log")
EPOCH: Final = "1577836800"  # the time of each file and of the image: 2020-01-01
CREATED: Final = "2020-01-01T00:00:00Z"
GLIBC: Final = 41  # 2.41, of SUITE: wheels for an older one run there
USER: Final = 999  # that of Argo CD, as renderer/integrations/gitops/plugin.py has it
PLUGIN: Final = "home/argocd/cmp-server/config/plugin.yaml"
START: Final = "#!/usr/bin/python3 -IB\nfrom renderer.cli import main\n\nmain()\n"
LICENSES: Final = "usr/share/doc/llmaz/README"
LICENSES_TEXT: Final = """\
llmaz: Apache-2.0. Licences of all parts: those of Debian's packages are in /usr/share/doc/*/copyright, those of llmaz
and of the Python packages in /usr/local/lib/python3*/dist-packages/*.dist-info.
"""


class ImageError(Exception):
    """Why there is no image."""


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make_image.py", description="Makes the image as an OCI layout.")
    parser.add_argument("--wheels", type=Path, default=ROOT / "dist", help="the folder of the wheel; default: dist")
    parser.add_argument("--output", type=Path, default=ROOT / "dist" / "image", help="default: dist/image")
    parser.add_argument("--mirror", default="", help="of Debian; default: that of mmdebstrap")
    parser.add_argument("--source", default="", help="the repository's address, for the image's label")
    options = parser.parse_args(words)
    os.umask(0o022)  # the modes of the image's files are not those of whoever makes it
    try:
        check_machine(options.wheels)
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            make_layers(folder, options.wheels, options.mirror)
            make_layout(folder, options.output, options.source)
    except ImageError as error:
        print(f"make_image.py: {error}", file=sys.stderr)
        return 1
    print(f"{options.output}:{__version__}")
    return 0


def check_machine(wheels: Path) -> None:
    """Raises ImageError where the machine lacks something."""
    lacking = [name for name in ("mmdebstrap", "tar", "umoci") if not shutil.which(name)]
    if lacking:
        raise ImageError(f"install {' and '.join(lacking)} first, packages of Debian and Ubuntu")
    if os.geteuid() != 0:
        raise ImageError("it needs root, for the owners of the image's files")
    if not (wheels / f"llmaz_renderer-{__version__}-py3-none-any.whl").is_file():
        raise ImageError(f"{wheels} has no wheel of llmaz {__version__}: run make release-check first")


def make_layers(folder: Path, wheels: Path, mirror: str) -> None:
    """Writes system.tar and program.tar into the folder."""
    system, program = folder / "system", folder / "program"
    make_system(system, mirror)
    pack(system, folder / "system.tar")
    version = chroot(system, "python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    packages = f"usr/local/lib/python{version}/dist-packages"
    install(program / packages, version, wheels)
    for path, text in program_files().items():
        file = program / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        file.chmod(0o755 if path == "usr/local/bin/llmaz" else 0o644)
    shutil.copytree(program, system, dirs_exist_ok=True)
    compile_python(system, f"/{packages}")
    shutil.copytree(system / packages, program / packages, dirs_exist_ok=True)
    pack(program, folder / "program.tar")


def make_system(system: Path, mirror: str) -> None:
    """Installs Debian's packages."""
    excludes = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in LEFT_OUT]
    words = ("--variant=essential", "--format=directory", f"--include={','.join(PACKAGES)}", *excludes)
    copyright_file = "--dpkgopt=path-include=/usr/share/doc/*/copyright"
    run("mmdebstrap", "--quiet", *words, copyright_file, SUITE, str(system), *([mirror] if mirror else []))
    for path in UNREPEATABLE:
        if (system / path).is_dir():
            shutil.rmtree(system / path)
        (system / path).unlink(missing_ok=True)
    (system / "var" / "log").mkdir()
    (system / "var" / "cache").mkdir()
    with (system / "etc" / "passwd").open("a") as users, (system / "etc" / "group").open("a") as groups:
        users.write(f"argocd:x:{USER}:{USER}:Argo CD:/home/argocd:/usr/sbin/nologin\n")
        groups.write(f"argocd:x:{USER}:\n")
    compile_python(system, "/usr/lib/python3")
    for library in sorted((system / "usr" / "lib").glob("python3.*")):
        compile_python(system, f"/usr/lib/{library.name}")


def install(packages: Path, version: str, wheels: Path) -> None:
    """Installs llmaz, and what the lock names, for another Python than this one, with the licence of each."""
    machine = platform.machine()
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in range(GLIBC, 4, -1)]
    words = [*(f"--platform={tag}" for tag in platforms), f"--python-version={version}", "--only-binary=:all:"]
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-compile")
    target = ("--no-deps", "--target", str(packages), *words)
    run(*pip, *target, "--require-hashes", "--requirement", str(ROOT / "requirements" / "runtime.txt"))
    shutil.rmtree(packages / "bin", ignore_errors=True)  # with this Python in their first lines
    run(*pip, *target, "--no-index", "--find-links", str(wheels), f"llmaz-renderer=={__version__}")
    shutil.rmtree(packages / "bin", ignore_errors=True)
    for text in (ROOT / "requirements" / "licenses").iterdir():  # of wheels that have none
        (info,) = packages.glob(f"{text.stem}-*.dist-info")
        (info / "licenses").mkdir()
        shutil.copy(text, info / "licenses" / "LICENSE")


def program_files() -> Mapping[str, str]:
    """What belongs to the program beside its packages, by path."""
    from renderer import yamlio
    from renderer.integrations.gitops import plugin

    return {"usr/local/bin/llmaz": START, PLUGIN: yamlio.dump(plugin.config()), LICENSES: LICENSES_TEXT}


def compile_python(system: Path, path: str) -> None:
    """Compiles a folder of the root by its own Python; nothing in the image is checked against a time or hash later."""
    words = ("-m", "compileall", "-q", "-f", "--invalidation-mode", "unchecked-hash", path)
    chroot(system, "python3", *words)


def pack(folder: Path, layer: Path) -> None:
    """Writes a folder as tar; the same files give the same bytes."""
    times = ("--sort=name", "--format=pax", "--pax-option=delete=atime,delete=ctime", f"--mtime=@{EPOCH}")
    owners = ("--numeric-owner", "--owner=0", "--group=0") if layer.name == "program.tar" else ("--numeric-owner",)
    modes = "--mode=go=rX,u+rw,a-s" if layer.name == "program.tar" else "--mode=a-s"
    words = (*times, *owners, modes, "--exclude=./dev/*", "--exclude=./proc/*", "--exclude=./sys/*")
    run("tar", "--create", f"--file={layer}", f"--directory={folder}", *words, ".")


def make_layout(folder: Path, output: Path, source: str) -> None:
    """Makes the OCI layout of the two layers, tagged with the version."""
    layout = folder / "layout"
    image = f"{layout}:{__version__}"
    history = ["--history.created", CREATED, "--history.author", ""]
    run("umoci", "init", "--layout", str(layout))
    run("umoci", "new", "--image", image)
    for layer, title in (("system.tar", f"Debian {SUITE}"), ("program.tar", f"llmaz {__version__}")):
        words = ["--image", image, *history, "--history.created_by", title, str(folder / layer)]
        run("umoci", "raw", "add-layer", *words)
    labels = {"title": "llmaz", "version": __version__, "licenses": "Apache-2.0"} | (
        {"source": source} if source else {}
    )
    settings = [f"--config.label=org.opencontainers.image.{name}={value}" for name, value in labels.items()]
    settings += ["--config.env=PATH=/usr/local/bin:/usr/bin:/bin", "--config.env=LANG=C.UTF-8"]
    settings += [f"--config.user={USER}:{USER}", "--config.workingdir=/", "--config.cmd=llmaz", "--config.cmd=--help"]
    machine = {"aarch64": "arm64", "x86_64": "amd64"}[platform.machine()]
    settings += [f"--created={CREATED}", f"--architecture={machine}", "--os=linux", "--author="]
    run("umoci", "config", "--image", image, "--no-history", *settings)
    run("umoci", "gc", "--layout", str(layout))
    shutil.rmtree(output, ignore_errors=True)
    shutil.copytree(layout, output)


def chroot(system: Path, *command: str) -> str:
    return run("chroot", str(system), *command)


def run(*command: str) -> str:
    """What a program prints. Raises ImageError when it fails."""
    variables = {key: os.environ[key] for key in os.environ if not key.startswith(("LC_", "PYTHON"))}
    variables |= {"SOURCE_DATE_EPOCH": EPOCH, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ImageError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    raise SystemExit(main())
