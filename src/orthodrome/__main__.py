"""`python -m orthodrome`: the command line, where its script is not on the path."""

import sys

from orthodrome.cli.main import main

sys.exit(main())
