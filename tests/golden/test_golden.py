"""What users and models see is what is recorded here; an intended change is recorded anew, and shows in the commit."""

import re
import sys

import pytest

from conftest import weekly
from golden import doors, record
from golden.tour import SAME, TOURS
from perdure.interfaces.cli.commands import command_name
from perdure.interfaces.cli.file_commands import STEPS
from perdure.verbs.declaration import VERBS

pytestmark = pytest.mark.filterwarnings("ignore::perdure.PerdureWarning")  # the tour stores a secret


def unchanged(recorded, pattern):
    lines = record.difference(recorded, pattern)
    if lines:
        pytest.fail(f"Run `{record.ACCEPT}` if these changes are intended:\n{''.join(lines)}", pytrace=False)


def test_the_tools_of_each_profile_are_as_recorded():
    unchanged(record.record_tools(), "tools-*.json")


def test_every_help_page_is_as_recorded():
    unchanged(record.record_help(), "help/*.txt")


def test_every_verb_answers_as_recorded_by_each_door():
    unchanged(record.record_tour(), "tour/*")


VARIES = {"compact", "create_token"}
"""Verbs of which the tour would tell sizes and secrets that are different in each run."""


def test_the_tour_calls_every_verb_by_each_door():
    steps = [step for part, _ in TOURS for step in part]
    methods = {step.py[0] for step in steps if step.py}
    tools = {call[0] for step in steps if (call := step.py if step.mcp is SAME else step.mcp)}
    commands = [f"{step.cli} " for step in steps]
    for name, declared in VERBS.items():
        assert name in methods | VARIES, f"{name} from Python"
        assert name in tools or not declared.tool, f"the tool {name}"
        if name not in VARIES and (declared.command or name in STEPS):
            assert any(line.startswith(f"{command_name(declared)} ") for line in commands), f"the command of {name}"
    assert tools - {verb.name for verb in VERBS.values() if verb.tool} == {"dream"}  # the step unknown-command


@pytest.mark.skipif(sys.platform == "win32", reason="no local server")
@pytest.mark.parametrize("door", [pytest.param(d, marks=() if d == "python" else weekly) for d in doors.DOORS])
def test_a_server_answers_as_a_file_does_but_for_what_is_recorded(door):
    name = f"tour-postgres/{door}.json"
    unchanged({name: record.as_text(record.server_changes(door))}, name)


def texts(data):
    """Yield every text within JSON data, or within the JSON that a command printed."""
    if isinstance(data, dict | list):
        for item in data.values() if isinstance(data, dict) else data:
            yield from texts(item)
    elif isinstance(data, str):
        yield data


@pytest.mark.parametrize("door", doors.DOORS)
def test_every_instant_in_a_result_has_one_form(door):
    found = [
        t for t in texts(record.tour("sqlite", door)) if re.fullmatch(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*(?: UTC)?", t)
    ]
    assert len(found) > 100
    assert [t for t in found if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", t)] == []


@pytest.mark.parametrize("door", doors.DOORS)
def test_no_step_of_the_tour_meets_a_defect(door):
    met = {
        name: answer
        for name, answer in record.tour("sqlite", door).items()
        if isinstance(answer, dict) and (answer.keys() & {"invalid", "raised"} or "Traceback" in str(answer))
    }
    assert met == {}
