"""What a change of the input does to the cluster: two sides of rendered files, compared object by object."""
