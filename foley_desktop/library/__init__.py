"""The catalog and everything that keeps it true; the facade that windows and commands call."""
