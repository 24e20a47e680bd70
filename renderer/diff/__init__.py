"""The differences between two sides of rendered files, object by object, and their effect on the cluster."""
