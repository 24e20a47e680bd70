"""Programs of others that checks ask, each only where the command line asks for it: kubeconform, kustomize, helm."""
