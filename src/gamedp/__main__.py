"""What ``python -m gamedp`` runs: the command line."""

import sys

from gamedp.cli import main

if __name__ == "__main__":
    sys.exit(main())
