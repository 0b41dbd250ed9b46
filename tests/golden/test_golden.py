"""What users and models see is what is recorded here; an intended change is recorded anew, and shows in the commit."""

import pytest

from golden import record


def unchanged(recorded, pattern):
    lines = record.difference(recorded, pattern)
    if lines:
        pytest.fail(f"Run `{record.ACCEPT}` if these changes are intended:\n{''.join(lines)}", pytrace=False)


def test_the_tools_of_each_profile_are_as_recorded():
    unchanged(record.record_tools(), "tools-*.json")


def test_every_help_page_is_as_recorded():
    unchanged(record.record_help(), "help/*.txt")
