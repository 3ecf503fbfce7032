"""Vectors, keywords and their fusion. Free of Qt and of the other rooms."""
