"""``python -m foley_desktop``, and where a frozen application begins: it is its own model process as well."""

import sys

from foley_desktop.index.embedders import CHILD_FLAG


def start() -> int:
    """Runs the command line, or becomes a model process where that was asked for."""
    if sys.argv[1:] == [CHILD_FLAG]:
        from foley_desktop.index.embedders.host_child import main as serve

        serve()
    from foley_desktop.cli import main

    return main()


if __name__ == "__main__":
    sys.exit(start())
