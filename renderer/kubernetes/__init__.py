"""Facts and forms of Kubernetes: names, quantities, versions of components, rules of gateways, fields of objects."""
