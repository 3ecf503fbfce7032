"""``python -m foley_desktop``."""

import sys

from foley_desktop.cli import main

if __name__ == "__main__":
    sys.exit(main())
