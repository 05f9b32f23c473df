"""``python -m judgestats``."""

import sys

from judgestats.cli import main

if __name__ == "__main__":
    sys.exit(main())
