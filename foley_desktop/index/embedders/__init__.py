"""Embedders: the compact default, LAION-CLAP, a hash embedder for tests, and their host process."""
