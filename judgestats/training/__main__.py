"""``python -m judgestats.training train|coverage``: models of one's own, on exported judgments."""

import sys

from judgestats.cli import main

if __name__ == "__main__":
    sys.exit(main(program="python -m judgestats.training"))
