"""``python -m judgestats``."""

import signal
import sys

if __name__ == "__main__":
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not one that is ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends the process while modules load
    from judgestats.cli import main

    sys.exit(main())
