"""Parts of Kubernetes that all of resolve uses: images, environments, resources, the API server's defaults."""
