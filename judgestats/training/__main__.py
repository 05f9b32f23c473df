"""``python -m judgestats.training train|coverage``: your own models, on exported judgments."""

import sys

from judgestats.cli import main

if __name__ == "__main__":
    sys.exit(main(program="python -m judgestats.training"))
