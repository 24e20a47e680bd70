"""What scales a workload."""
