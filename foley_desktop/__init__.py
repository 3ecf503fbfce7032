"""Foley Desktop: find, hear and hand over a sound, and measure how well the finding works."""

__version__ = "0.1.0"
