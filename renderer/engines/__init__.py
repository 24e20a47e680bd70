"""Engines as they run in pods, whoever wrote these: how their command lines are read, which options a version has, and
what is said of an engine that runs.
"""
