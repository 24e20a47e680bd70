#!/usr/bin/env python3
"""Draws the comment of a pull request as docs/pictures/comment.png, for the top of README.md.

Needs what `make docs` installs, git, and Chromium on PATH. The change is that of CHANGE to TREE; the text is what
`llmaz diff --format markdown` prints of it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import markdown

ROOT: Final = Path(__file__).parent.parent
PICTURE: Final = ROOT / "docs" / "pictures" / "comment.png"
TREE: Final = {
    "llmaz.yaml": """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderConfig
metadata: {name: config}
spec:
  fleet: {currency: USD, perHour: {h100-80g: "2.40"}}
  flavors: {h100: {limits: {nvidia.com/gpu: 2}, accelerator: h100-80g}}
""",
    "llmaz-policy.yaml": """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderPolicy
metadata: {name: policy}
spec:
  quotas: [{accelerators: [h100-80g], max: 16}]
""",
    "chat.yaml": """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat, namespace: demo}
spec:
  replicas: 2
  modelClaim: {modelName: qwen3-32b, inferenceFlavors: [h100]}
  backendRuntimeConfig: {backendName: vllm, args: [--max-model-len, "16384"]}
""",
}
CHANGE: Final = (("chat.yaml", '"16384"', '"32768"'), ("chat.yaml", "replicas: 2", "replicas: 4"))
WIDTH: Final = 900
HEIGHT: Final = 545
STYLE: Final = """
body { margin: 16px; font: 14px/1.5 "Liberation Sans", Arial, sans-serif; color: #1f2328; background: #fff; }
section { border: 1px solid #d1d9e0; border-radius: 6px; }
header { padding: 8px 16px; background: #f6f8fa; border-bottom: 1px solid #d1d9e0; color: #59636e; }
article { padding: 4px 16px; }
h3 { font-size: 17px; }
code { padding: .15em .35em; border-radius: 5px; background: #eff1f3; font: 85% "Liberation Mono", monospace; }
table { margin: 12px 0; border-collapse: collapse; }
th, td { padding: 5px 12px; border: 1px solid #d1d9e0; text-align: left; vertical-align: top; }
summary { padding: 2px 0; }
"""


def run(*command: str, folder: Path) -> str:
    return subprocess.run(command, cwd=folder, check=True, text=True, stdout=subprocess.PIPE).stdout


def comment() -> str:
    """What `llmaz diff --format markdown` prints of the change."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in TREE.items():
            (folder / file).write_text(text, "utf-8")
        run("git", "init", "--quiet", folder=folder)
        run("git", "add", ".", folder=folder)
        author = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        run("git", *author, "commit", "--quiet", "--message", "before", folder=folder)
        for file, before, after in CHANGE:
            text = (folder / file).read_text("utf-8")
            if before not in text:
                raise SystemExit(f"make_comment_picture.py: {file} does not hold {before}")
            (folder / file).write_text(text.replace(before, after), "utf-8")
        return run(sys.executable, "-m", "renderer", "diff", "--format", "markdown", folder=folder)


def main() -> None:
    body = markdown.markdown(comment(), extensions=["tables", "fenced_code", "md_in_html"])
    PICTURE.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "comment.html"
        page.write_text(
            f'<!doctype html><meta charset="utf-8"><style>{STYLE}</style>'
            f"<section><header><b>github-actions</b> commented</header><article>{body}</article></section>",
            "utf-8",
        )
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={WIDTH},{HEIGHT}"]
        command = ["chromium", *options, f"--screenshot={PICTURE}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    main()
