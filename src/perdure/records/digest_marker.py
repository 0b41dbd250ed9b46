"""The lines that begin and end a digest in a file: who writes the file and who reads it in must agree on them."""

from __future__ import annotations

import re
from typing import Final

BEGIN_MARKER: Final = re.compile(r"<!-- perdure:begin(?: ([^\s<>]{1,64}))? -->")
"""With a checksum of what stands below it; earlier versions wrote none, and a person's hand may have damaged it."""
END_MARKER: Final = "<!-- perdure:end -->"
