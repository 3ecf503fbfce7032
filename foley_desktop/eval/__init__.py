"""Retrieval metrics, golden sets and TREC files. Free of Qt and of the other rooms."""
