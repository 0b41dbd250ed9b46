"""``python -m perdure.interfaces.mcp``: the command that clients' configurations hold."""

import sys

from perdure.interfaces.mcp.run import main
from perdure.records.errors import PerdureError

try:
    main()
except PerdureError as error:
    sys.exit(str(error))
