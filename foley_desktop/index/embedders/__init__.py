"""Embedders: the compact default, LAION-CLAP, a hash embedder for tests, and their host process."""

CHILD_FLAG = "--model-host"
"""A frozen application is started with this argument alone to become its own model process."""
