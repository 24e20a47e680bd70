"""Output for other tools of a cluster: Argo CD, Flux, Helm, Kustomize, prometheus-adapter."""
