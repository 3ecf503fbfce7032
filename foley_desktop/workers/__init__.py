"""Qt threads around the blocking library: lanes, jobs, cancellation, shutdown."""
