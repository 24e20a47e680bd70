"""The image as Argo CD and GitLab run it: unpacked, as user 999, with a read-only root, without network and home.

`make image-test` asks. It also makes the image a second time, and compares.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from renderer import __version__
from renderer.integrations.gitops import plugin
from scripts import join_layouts, make_image
from tests.install.sandbox import Result, Sandbox
from tests.paths import ROOT

IMAGE = ROOT / "dist" / "image"
QUICKSTART = ROOT / "examples" / "quickstart" / "chat.yaml"
GOLDEN = ROOT / "tests" / "cases" / "example-quickstart" / "expected"
WORK = "/tmp/_cmp_server/9d1f"  # noqa: S108 - where Argo CD's server has its copy of the repository
CONFIG = "apiVersion: renderer.llmaz.io/v1alpha1\nkind: RenderConfig\nmetadata: {name: config}\nspec: {%s}\n"
NOTES = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\n"


def questions(source: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Each question about the image with what is wrong, '' where nothing is. `folder`: empty, others can read it."""
    yield "the image is made again, with the same digest", second_build(source, folder)
    yield "skopeo reads the layout", inspection()
    yield "skopeo reads an index of two architectures", index_problem(folder)
    bundle = folder / "bundle"
    run("umoci", "unpack", "--image", f"{IMAGE}:{__version__}", str(bundle))
    bundle.chmod(0o755)
    root = bundle / "rootfs"
    yield "umoci unpacks the layout, and sets the user", user_problem(bundle)
    yield "plugin.yaml is there, that of this version", plugin_problem(root)
    yield "every package of Debian and every wheel has its licence", licence_problem(root)
    yield "nothing of the machine that made it is in it", trace_problem(root)
    repository = folder / "repository"
    for path, text in files().items():
        file = repository / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    sandbox = Sandbox(root, 999, {repository: WORK})
    yield from plugin_questions(sandbox)
    yield from shell_questions(sandbox)


def files() -> dict[str, str]:
    """A repository with an Application in each folder."""
    chat = QUICKSTART.read_text("utf-8")
    return {
        "models/chat.yaml": chat,
        "configured/chat.yaml": chat,
        "configured/llmaz.yaml": CONFIG % 'ignore: ["docs/**"], environments: {prod: {}}',  # asks re2
        "wrong/chat.yaml": chat.replace("modelName: qwen2--5-0--5b", "modelName: qwen2--5-0--5"),
        "empty/notes.yaml": NOTES,
    }


def plugin_questions(sandbox: Sandbox) -> Iterator[tuple[str, str]]:
    """What Argo CD's server runs, and how it ends."""
    commands = plugin.config()["spec"]
    assert isinstance(commands, dict)
    parameters, generate = commands["parameters"]["dynamic"]["command"], commands["generate"]["command"]
    result = call(sandbox, "configured", *parameters)
    titles = [] if result.code else [parameter["tooltip"] for parameter in json.loads(result.out)]
    yield "parameters name the environments", problem(titles[:1] == ["one of prod"], result)
    result = call(sandbox, "models", *generate)
    golden = (GOLDEN / "demo" / "chat.yaml").read_text("utf-8").partition("\n")[2]
    same = result.out.partition("\n")[2] == golden
    yield "generate without llmaz.yaml prints the quickstart's golden", problem(same and not result.err, result)
    result = call(sandbox, "configured", *generate, ARGOCD_ENV_LLMAZ_ENVIRONMENT="prod")
    same = result.out.partition("\n")[2] == golden
    yield "generate of an environment prints it too", problem(same and not result.err, result)
    result = call(sandbox, "wrong", *generate)
    refused = result.code == 2 and not result.out and "wrong/chat.yaml:22:16: " in result.err and "[E203]" in result.err
    yield "an error prints nothing, ends with 2 and says the line", problem(refused, result)
    result = call(sandbox, "empty", *generate)
    refused = result.code == 2 and not result.out and result.err.startswith("empty: nothing to render: ")
    yield "nothing to render is an error", problem(refused, result)


def shell_questions(sandbox: Sandbox) -> Iterator[tuple[str, str]]:
    """What a job of GitLab and a step of Tekton run: lines for sh."""
    result = sandbox.run("sh", "-c", "llmaz render --stdout", folder=f"{WORK}/models")
    golden = (GOLDEN / "demo" / "chat.yaml").read_text("utf-8").partition("\n")[2]
    yield "sh -c renders", problem(result.out.partition("\n")[2] == golden, result)
    lines = "cp -R . /tmp/copy && cd /tmp/copy && llmaz render && git init --quiet && git add . && llmaz render --check"
    result = sandbox.run("sh", "-c", lines, folder=f"{WORK}/models", HOME="/tmp")  # noqa: S108
    yield "sh -c renders into a work tree, with git", problem(result.code == 0, result)
    result = sandbox.run(
        "sh", "-c", "id -u; test -w / || echo read-only; cat /etc/ssl/certs/ca-certificates.crt | wc -l"
    )
    user, root, certificates = (*result.out.split(), "", "", "")[:3]
    right = (user, root) == ("999", "read-only") and int(certificates or 0) > 1000
    yield "the user is 999, the root is read-only, CA certificates are there", problem(right, result)


def call(sandbox: Sandbox, path: str, *command: str, **variables: str) -> Result:
    """A command with the environment that Argo CD's server sets."""
    variables |= {"ARGOCD_APP_NAME": "llmaz", "ARGOCD_APP_SOURCE_PATH": path, "KUBE_VERSION": "1.36.3"}
    return sandbox.run(*command, folder=f"{WORK}/{path}", **variables)


def problem(right: bool, result: Result) -> str:
    """What is seen where it is not right."""
    return "" if right else f"exit code {result.code}\n{result.out[:2000]}{result.err[:2000]}"


def second_build(source: str, folder: Path) -> str:
    """What differs of another build, from a copy of the wheel, at another time and with another umask."""
    wheels, second = folder / "wheels", folder / "second"
    wheels.mkdir()
    (wheel,) = (ROOT / "dist").glob("*.whl")
    shutil.copy(wheel, wheels)
    command = [sys.executable, "-m", "scripts.make_image", "--wheels", str(wheels), "--output", str(second)]
    command += ["--source", source] if source else []
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, umask=0o077)
    first, other = (digest(path) for path in (IMAGE, second))
    shutil.rmtree(second)
    return "" if first == other else f"{first} and {other}: has Debian's mirror changed between them?"


def digest(layout: Path) -> str:
    """The digest of a layout's one manifest."""
    (manifest,) = json.loads((layout / "index.json").read_text("utf-8"))["manifests"]
    text = manifest["digest"]
    assert isinstance(text, str)
    return text


def inspection() -> str:
    """What is wrong with what skopeo says."""
    image = json.loads(run("skopeo", "inspect", f"oci:{IMAGE}:{__version__}"))
    facts = (image["Digest"], image["Os"], image["Labels"]["org.opencontainers.image.version"])
    return "" if facts == (digest(IMAGE), "linux", __version__) else str(facts)


def index_problem(folder: Path) -> str:
    """What is wrong with the joined layout of this image and of one that says it is for arm64."""
    other, layout = folder / "other", folder / "index"
    shutil.copytree(IMAGE, other)
    architecture = {"amd64": "arm64", "arm64": "amd64"}[
        json.loads(run("skopeo", "inspect", f"oci:{IMAGE}:{__version__}"))["Architecture"]
    ]
    run("umoci", "config", "--image", f"{other}:{__version__}", f"--architecture={architecture}", "--no-history")
    index = join_layouts.join([other, IMAGE], layout)
    run("skopeo", "copy", "--all", f"oci:{layout}:{__version__}", f"oci:{folder}/copy:{__version__}")
    manifests = json.loads(run("skopeo", "inspect", "--raw", f"oci:{folder}/copy:{__version__}"))["manifests"]
    names = [manifest["platform"]["architecture"] for manifest in manifests]
    digests = [manifest["digest"] for manifest in manifests]
    return "" if names == ["amd64", "arm64"] and digest(IMAGE) in digests else f"{index}: {names}, {digests}"


def user_problem(bundle: Path) -> str:
    process = json.loads((bundle / "config.json").read_text("utf-8"))["process"]
    identity = (process["user"]["uid"], process["user"]["gid"])
    return "" if identity == (make_image.USER, make_image.USER) else str(identity)


def plugin_problem(root: Path) -> str:
    config = yaml.safe_load((root / make_image.PLUGIN).read_text("utf-8"))
    return "" if config == plugin.config() else str(config)


def licence_problem(root: Path) -> str:
    names = run("chroot", str(root), "dpkg-query", "--show", "--showformat=${Package}\\n").split()
    lacking = [name for name in names if not (root / "usr/share/doc" / name / "copyright").is_file()]
    infos = [*root.glob("usr/local/lib/python3.*/dist-packages/*.dist-info")]
    for info in infos:
        texts = [path for path in info.rglob("*") if path.name.upper().startswith(("LICEN", "COPYING", "NOTICE"))]
        if not any(path.is_file() for path in texts):
            lacking.append(info.name)
    return ", ".join(lacking) if len(names) > 50 and len(infos) > 10 else f"{len(names)} packages, {len(infos)} wheels"


def trace_problem(root: Path) -> str:
    """Files that name this repository's folder, or hold what the machine is called."""
    infos = [*root.glob("usr/local/lib/python3.*/dist-packages/*.dist-info")]
    texts = [path for info in infos for path in info.iterdir() if path.name in ("RECORD", "direct_url.json")]
    odd = [str(path) for path in texts if str(ROOT) in path.read_text("utf-8") or path.name == "direct_url.json"]
    odd += [path for path in make_image.UNREPEATABLE if (root / path).is_file() or any((root / path).glob("*"))]
    return ", ".join(odd)


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
