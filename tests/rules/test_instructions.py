"""What asks its reader to do something once, and what says how things are or are always done."""

from __future__ import annotations

from conftest import every
from perdure.records.memory import Message
from perdure.rules.lasting import is_instruction

TASKS = """
fix the failing test in tests/test_orders.py
ok now commit it
Please add a retry to fetch_orders, max 5 attempts
could you check whether the webhook handles duplicates
Can you, when you have a minute, look at the log of last night
rename get_user to fetch_user everywhere
great, and write a migration that adds a column shipped_at
Run the whole suite once more
test src/parser.py with an empty file
I want you to split OrderService into two classes
Show me what the retry decorator does
let me know when the build is green
Kannst du die Tests laufen lassen
Peux-tu vérifier le journal
bump version.txt to 2.3.0
fix the test that is red
explain what is going on in core/http.py
Check parseOrder for empty input
who wrote this
whats this legacy table
how many boxes does one need
get rid of the warning in adc.c
KeyError: 'group' in settle.py line 88
publish.py: connection refused
do that on 27 March
""".strip().splitlines()

TELLS = """
we use pnpm here, not npm
The staging database is on db-staging.internal:5433
Run the migrations by hand, never from the pipeline
Add a changelog entry with every release
Test data lies in tests/fixtures
Build servers are in Frankfurt
Check-ins happen on Mondays
Change of plan: the launch is on 16 March
Use tenacity instead of your own loop
Keep commit messages in the imperative
Write access to main is limited to Priya and Tom
Pull requests must be reviewed by Lena
Start date is 4 May
I added the column yesterday
Reports go out on Fridays
Always run the linter before you push
Log level is INFO in production
Whenever you touch the schema, update the diagram
What matters to me is the date
Do not reformat what you did not change
I want you to know that I am vegan and live in Oslo
I need you to remember that I am allergic to penicillin
Take 5 mg of ramipril each morning
Call me Max
Put all secrets in Vault, not in env files
Write commit messages in English
Deploy to prod happens on Tuesdays at 10:00
Export to CSV uses semicolons since version 2.3
Polish customers pay in zloty, 4 % discount
Mark and Ana share an account at DNB, number 4711
Where is the office: Torggata 5, Oslo
Do what you want, but the port is 8080 and must stay so
Check that every PR has two reviewers: Ana and Bo
Reset tokens expire after 15 minutes
Read replicas sit in eu-west-1
Answer in German
Warning: Bo is allergic to nuts
Exception: Ana may deploy on Fridays
Error budget is 0.1 percent per month
redis: connection limit 1000
What is left goes to charity
What was decided: we use Postgres
When is the deadline: 3 May
What does not fit in 80 columns gets wrapped
Set it to 96 a day, the customer has signed
""".strip().splitlines()


@every(TASKS)
def test_what_is_to_be_done_once_is_an_instruction(text):
    assert is_instruction(text)


@every(TELLS)
def test_what_holds_or_is_always_to_be_done_is_none(text):
    assert not is_instruction(text)


def test_tasks_given_to_an_agent_are_neither_kept_in_view_nor_shown_beside_a_prompt(opening, clock):
    memory = opening()
    said = [
        *TASKS,
        "The staging database is on db-staging.internal:5433, and Petra owns it. Now restart src/worker.py.",
    ]
    for number, text in enumerate(said):
        clock.passes(minutes=1)
        memory.ingest([Message(text, "user", at=clock(), key=str(number), session="before")])
    assert len(memory.list(limit=100)) == len(said)  # all are stored
    clock.passes(days=1)
    for shown in (memory.digest(), memory.agent.opening("next", "default")):
        assert "- The staging database is on db-staging.internal:5433, and Petra owns it." in shown
        assert sum(line.startswith("- ") for line in shown.splitlines()) == 1
        assert "worker.py" not in shown
    assert memory.agent.beside("the failing test in tests/test_orders.py", "next", "default") == ""
    assert memory.recall("failing test orders").hits  # found by who asks for it
