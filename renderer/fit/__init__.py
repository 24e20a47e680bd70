"""GPU memory: what a model needs on a GPU, and what an engine leaves for its KV cache. Pure arithmetic on facts."""

from __future__ import annotations
