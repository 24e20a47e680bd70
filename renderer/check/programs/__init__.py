"""Programs of others that checks ask, each only where the command line asks for it: kubeconform, kustomize, helm."""

from __future__ import annotations

from renderer.check.programs.helm import render_charts
from renderer.check.programs.kustomize import build_kustomization

__all__ = ["build_kustomization", "render_charts"]
