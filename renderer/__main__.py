"""`python -m renderer` is `llmaz`."""

from renderer.cli import main

main()
