"""Replicas, triggers and autoscalers."""
