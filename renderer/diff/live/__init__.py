"""Compares what runs in a cluster, or what somebody else wrote, with what the tree renders."""
