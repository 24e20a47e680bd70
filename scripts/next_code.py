"""The next free code of an area, and the folder of its case: `python -m scripts.next_code pods an-odd-port`.

Without a name it only says the code. The wording goes into `renderer/diagnostics/wordings/<area>.py`; the folder gets
an input to spoil, and `make test ARGS="--snapshot-update -k <code>"` writes its stderr.txt.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Final

from renderer.diagnostics.wordings import WORDINGS

ROOT = Path(__file__).resolve().parents[1]
AREAS: Final = {
    "input": range(100, 200),
    "models": (*range(200, 300), *range(910, 950)),
    "pods": (*range(300, 400), *range(846, 860)),
    "engines": (*range(400, 500), *range(829, 840), *range(885, 895)),
    "cluster": range(500, 620),
    "gateways": range(620, 700),
    "delivery": range(700, 800),
    "nodes": (*range(880, 885), *range(895, 900)),
    "policy": (*range(800, 829), *range(840, 846), *range(860, 880)),
    "adoption": (*range(950, 970), *range(990, 1000)),
    "migration": range(970, 990),
}
"""The numbers of each area's new codes; older codes lie in the file of their area with whatever number they have."""
INPUT = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: small}
spec:
  familyName: family
  source: {modelHub: {modelID: org/small}}
  inferenceConfig: {flavors: [{name: gpu, limits: {nvidia.com/gpu: 1}}]}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat}
spec:
  modelClaim: {modelName: small}
"""


def next_code(area: str, letter: str) -> str:
    """The code with the lowest number of the area that no error, warning or note has. Raises SystemExit when all are
    taken.
    """
    used_numbers = {int(code[1:]) for code in WORDINGS}
    for number in AREAS[area]:
        if number not in used_numbers:
            return f"{letter}{number}"
    raise SystemExit(f"next_code.py: no number of {area} is free: give the area another range in {Path(__file__).name}")


def make_case(code: str, name: str, root: Path = ROOT) -> Path:
    """The new folder of the code's case, with an input that renders. Raises SystemExit where the name has other
    characters than the folders beside it, or the folder is there.
    """
    if not re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", name):
        raise SystemExit(f"next_code.py: '{name}': write small letters, digits and hyphens")
    folder = root / "tests" / "errors" / f"{code}-{name}"
    if folder.exists():
        raise SystemExit(f"next_code.py: {folder.relative_to(root)} is there already")
    folder.mkdir(parents=True)
    (folder / "app.yaml").write_text(INPUT, "utf-8")
    return folder


def main() -> None:
    """Prints the code, and where its wording and its case are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("area", choices=AREAS)
    parser.add_argument("name", nargs="?", help="what the case shows, such as a-port-that-nobody-names")
    parser.add_argument("--letter", choices="EWN", default="E", help="error, warning or note (default: error)")
    arguments = parser.parse_args()
    code = next_code(arguments.area, arguments.letter)
    print(f"{code}: write its wording into renderer/diagnostics/wordings/{arguments.area}.py")
    if arguments.name:
        print(f"case: {make_case(code, arguments.name).relative_to(ROOT)}/app.yaml: spoil it")


if __name__ == "__main__":
    main()
