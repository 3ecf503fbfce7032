"""Qt threads around the blocking library: lanes, jobs, cancellation, shutdown."""

from foley_desktop.workers.qt_guard import keep_singletons

keep_singletons()
