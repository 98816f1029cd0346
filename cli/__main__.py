"""``python -m accord.cli``: the same as the command ``accord``."""

import sys

from . import main

sys.exit(main())
