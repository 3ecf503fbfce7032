"""Widgets. They paint and react; work is done in the workers."""
