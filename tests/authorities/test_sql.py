"""A database as an authority: real files, a real server, slow queries, hostile subjects, attempts to write."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

import perdure
from perdure.knowledge.authorities.sql import SqlAuthority
from perdure.knowledge.records.authority import AnswerStatus, AuthorityQuestion, SqlConfig

pytest.importorskip("sqlalchemy")

DAYS = "SELECT day FROM customer WHERE name = :subject"
SLOW = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000)"
    " SELECT count(*) FROM n WHERE :subject <> ''"
)
TABLE = "CREATE TABLE customer (name TEXT, day TEXT, terms INTEGER)"
ROWS = [
    ("Gai Media", "Thursday", 30),
    ("Kai Media", None, None),
    ("Two Days", "Monday", 10),
    ("Two Days", "Tuesday", 10),
    ("O'Brien; DROP TABLE customer; --", "Friday", 14),
]


@pytest.fixture
def folder(tmp_path):
    with closing(sqlite3.connect(tmp_path / "domain.db")) as connection:
        connection.execute(TABLE)
        connection.executemany("INSERT INTO customer VALUES (?, ?, ?)", ROWS)
        connection.commit()
    return tmp_path


def authority(folder, query=DAYS, *, url="sqlite:///domain.db", seconds=1.0, variable=""):
    config = SqlConfig("crm", "" if variable else url, variable, seconds, {"day": query})
    return SqlAuthority(config, folder)


def asked(who, name="Gai Media", *aliases):
    (answer,) = who.answers([AuthorityQuestion("day", "some-id", name, aliases)])
    return answer


def test_it_answers_with_the_value_and_says_where_from(folder):
    answer = asked(authority(folder))
    assert (answer.standing, answer.values) == (AnswerStatus.KNOWN, ("Thursday",))
    assert answer.evidence == "crm: day of 'Gai Media' is 'Thursday'"


def test_null_and_no_row_are_nothing_known(folder):
    assert asked(authority(folder), "Kai Media").standing is AnswerStatus.SILENT
    assert asked(authority(folder), "Nobody").standing is AnswerStatus.SILENT
    assert authority(folder).answers([AuthorityQuestion("phone", "x", "Gai Media")])[0].standing is AnswerStatus.SILENT
    assert authority(folder).answers([]) == []


def test_two_rows_are_two_values_and_the_same_twice_is_one(folder):
    assert asked(authority(folder), "Two Days").values == ("Monday", "Tuesday")
    same = authority(folder, "SELECT terms FROM customer WHERE name = :subject")
    assert asked(same, "Two Days").values == ("10",)


def test_aliases_are_bound_as_a_list(folder):
    who = authority(folder, "SELECT day FROM customer WHERE name IN :aliases")
    assert asked(who, "gai", "GAI", "Gai Media").values == ("Thursday",)
    assert asked(who, "gai").standing is AnswerStatus.SILENT


@pytest.mark.behaviour("AU12")
@pytest.mark.parametrize(
    "name",
    [
        "Gai Media' OR '1'='1",
        "x'; DROP TABLE customer; --",
        "x' UNION SELECT 'Sunday' --",
        ":subject",
        "%s %(subject)s {0} \\' \x01",
        "Gai Media\\",
    ],
)
def test_a_subject_is_never_part_of_the_query(folder, name):
    before = (folder / "domain.db").read_bytes()
    answer = asked(authority(folder), name)
    assert answer.standing is AnswerStatus.SILENT
    assert (folder / "domain.db").read_bytes() == before


def test_a_hostile_name_that_is_in_the_database_is_found(folder):
    assert asked(authority(folder), "O'Brien; DROP TABLE customer; --").values == ("Friday",)
    assert asked(authority(folder)).values == ("Thursday",)


@pytest.mark.behaviour("AU15")
def test_a_slow_query_is_stopped_in_time(folder):
    begun = time.monotonic()
    answer = asked(authority(folder, SLOW, seconds=0.3))
    assert time.monotonic() - begun < 2.0
    assert answer.standing is AnswerStatus.UNREACHABLE
    assert answer.evidence == "no answer within 0.3 s; the query was stopped"


def test_a_database_that_fails_again_and_again_is_not_asked_for_ever(folder):
    begun = time.monotonic()
    answers = authority(folder, SLOW, seconds=0.1).answers([AuthorityQuestion("day", "x", f"n{i}") for i in range(200)])
    assert time.monotonic() - begun < 3.0
    assert {a.standing for a in answers} == {AnswerStatus.UNREACHABLE}
    assert "skipped after 3 failures in a row" in answers[3].evidence
    assert len(answers) == 200


def test_one_slow_query_does_not_spoil_the_next(folder):
    config = SqlConfig("crm", "sqlite:///domain.db", "", 0.2, {"slow": SLOW, "day": DAYS})
    slow, fast = SqlAuthority(config, folder).answers(
        [AuthorityQuestion("slow", "x", "Gai Media"), AuthorityQuestion("day", "x", "Gai Media")]
    )
    assert (slow.standing, fast.values) == (AnswerStatus.UNREACHABLE, ("Thursday",))


@pytest.mark.behaviour("AU13")
@pytest.mark.parametrize(
    "query",
    [
        "INSERT INTO customer VALUES (:subject, 'x', 1) RETURNING day",
        "UPDATE customer SET day = 'Sunday' WHERE name = :subject RETURNING day",
        "DELETE FROM customer WHERE name = :subject RETURNING day",
        "WITH x AS (SELECT :subject) INSERT INTO customer SELECT 'a', 'b', 1 FROM x RETURNING day",
        "PRAGMA user_version",
        "PRAGMA user_version = 7",
        "SELECT day FROM customer, pragma_table_info('customer') WHERE :subject <> ''",
        "ATTACH DATABASE 'other.db' AS other",
        "VACUUM INTO 'copy.db'",
        "CREATE TABLE other (x)",
        "SELECT load_extension(:subject)",
        "BEGIN",
    ],
)
def test_whatever_writes_is_refused_by_the_database_itself(folder, query):
    """Not by looking at the words: these queries come past the check of the configuration."""
    before = (folder / "domain.db").read_bytes()
    assert asked(authority(folder, query)).standing is AnswerStatus.UNREACHABLE
    assert (folder / "domain.db").read_bytes() == before
    assert [p.name for p in folder.iterdir()] == ["domain.db"]


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT day FROM client WHERE name = :subject", "no such table: client"),
        ("SELECT day, terms FROM customer WHERE name = :subject", "the query returns 2 columns; it must return one"),
        (("SELECT day FROM customer WHERE :subject <> '' UNION SELECT CAST(value AS TEXT) FROM "
         "(WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 99) SELECT value FROM n)"),
         "the query returns more than 50 rows"),
        ("SELECT x'00ff' WHERE :subject <> ''", "the query returns a bytes; cast it to text"),
        ("SELECT '' WHERE :subject <> ''", "the query returns an empty text; return NULL if there is no value"),
        ("SELECT hex(zeroblob(4000000)) WHERE :subject <> ''", "the query returns a text of 8,000,000 characters"),
        ("SELECT zeroblob(2000000000) WHERE :subject <> ''", "string or blob too big"),
        ("SELEC", 'near "SELEC": syntax error'),
    ],
)  # fmt: skip
def test_what_is_no_answer_says_why(folder, query, why):
    answer = asked(authority(folder, query))
    assert answer.standing is AnswerStatus.UNREACHABLE
    assert answer.evidence.startswith(why)


def test_numbers_are_told_as_they_are_written(folder):
    def value(expression):
        return asked(authority(folder, f"SELECT {expression} WHERE :subject <> ''")).values

    assert value("30") == ("30",)
    assert value("0.1 + 0.2") == ("0.3",)
    assert value("'  Thursday '") == ("Thursday",)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("sqlite:///missing.db", "there is no file missing.db"),
        ("sqlite:///", "the URL must name a file: sqlite:///domain.db"),
        ("sqlite:///domain.db?mode=rwc", "the URL must name a file"),
        ("sqlite:///file:domain.db", "the URL must name a file"),
        ("mysql://root:secret@host/db", "the URL must be sqlite:///FILE or postgresql+psycopg://..."),
        ("nonsense secret", "Could not parse SQLAlchemy URL"),
    ],
)
def test_what_cannot_be_opened_says_why_and_makes_nothing(folder, url, why):
    answer = asked(authority(folder, url=url))
    assert answer.standing is AnswerStatus.UNREACHABLE
    assert answer.evidence.startswith(why)
    assert "secret" not in answer.evidence
    assert [p.name for p in folder.iterdir()] == ["domain.db"]


def test_a_file_that_is_no_database_is_unreachable(folder):
    (folder / "domain.db").write_bytes(b"this is a text file, and not a database at all" * 100)
    assert asked(authority(folder)).evidence == "file is not a database"


def test_a_locked_database_is_waited_for_no_longer_than_the_timeout(folder):
    with closing(sqlite3.connect(folder / "domain.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        begun = time.monotonic()
        answer = asked(authority(folder, seconds=0.3))
        assert time.monotonic() - begun < 2.0
    assert (answer.standing, answer.evidence) == (AnswerStatus.UNREACHABLE, "database is locked")


def test_the_url_may_come_from_the_environment(folder, monkeypatch):
    who = authority(folder, variable="PERDURE_TEST_CRM")
    monkeypatch.delenv("PERDURE_TEST_CRM", raising=False)
    assert asked(who).evidence == "the environment variable PERDURE_TEST_CRM is not set"
    monkeypatch.setenv("PERDURE_TEST_CRM", "sqlite:///domain.db")
    assert asked(who).values == ("Thursday",)


def test_it_counts_where_the_configuration_says(folder):
    who = authority(folder)
    assert who.knows("day", "any")
    assert not who.knows("phone", "any")
    bound = SqlAuthority(SqlConfig("crm", "x", predicates={"day": DAYS}, namespaces=("sales",)), folder)
    assert [bound.knows("day", place) for place in ("sales", "private")] == [True, False]


def test_sqlalchemy_is_loaded_with_the_first_question_only(folder):
    code = (
        "import sys, pathlib, perdure\n"
        "from perdure.knowledge.authorities.sql import SqlAuthority\n"
        "from perdure.knowledge.records.authority import SqlConfig, AuthorityQuestion\n"
        "config = SqlConfig('crm', 'sqlite:///domain.db', predicates={'day': 'SELECT 1'})\n"
        "who = SqlAuthority(config, pathlib.Path('.'))\n"
        "assert 'sqlalchemy' not in sys.modules\n"
        "sys.modules['sqlalchemy'] = None\n"
        "print(who.answers([AuthorityQuestion('day', 'x', 'x')])[0].evidence)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path[1:], str(Path(perdure.__file__).parents[1])])}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "install perdure[authorities]" in done.stdout


# --- a server


@pytest.fixture(scope="module")
def server():
    if sys.platform == "win32":
        pytest.skip("no local server")
    from servers import drop_database, fresh_database

    url = fresh_database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(TABLE)
        connection.cursor().executemany("INSERT INTO customer VALUES (%s, %s, %s)", ROWS)
    yield url
    drop_database(url)


def state_of(server):
    with psycopg.connect(server) as connection:
        return connection.execute("SELECT * FROM customer ORDER BY 1, 2").fetchall()


def test_a_server_answers(server, tmp_path):
    who = authority(tmp_path, url=server)
    assert asked(who).values == ("Thursday",)
    assert asked(who, "Two Days").values == ("Monday", "Tuesday")
    assert asked(who, "Kai Media").standing is AnswerStatus.SILENT
    assert asked(who, "x' OR '1'='1").standing is AnswerStatus.SILENT
    assert asked(who, "100 %s").standing is AnswerStatus.SILENT
    listed = authority(tmp_path, "SELECT day FROM customer WHERE name IN :aliases", url=server)
    assert asked(listed, "gai", "Gai Media").values == ("Thursday",)
    typed = authority(tmp_path, "SELECT DATE '2026-03-01' WHERE CAST(:subject AS text) <> ''", url=server)
    assert asked(typed).values == ("2026-03-01",)
    money = authority(tmp_path, "SELECT 1350.50::numeric WHERE name LIKE '%' FROM customer", url=server)
    assert asked(money).standing is AnswerStatus.UNREACHABLE
    money = authority(
        tmp_path, "SELECT CAST(1350.50 AS numeric(10, 4)) WHERE CAST(:subject AS text) LIKE '%'", url=server
    )
    assert asked(money).values == ("1350.5",)


@pytest.mark.behaviour("AU16")
def test_a_server_stops_a_slow_query(server, tmp_path):
    who = authority(tmp_path, "SELECT CAST(pg_sleep(30) AS text) WHERE CAST(:subject AS text) <> ''", url=server)
    who = SqlAuthority(
        replace(who._config, timeout_seconds=0.3, predicates={**who._config.predicates, "fast": DAYS}), tmp_path
    )
    begun = time.monotonic()
    slow, fast = who.answers([AuthorityQuestion("day", "x", "Gai Media"), AuthorityQuestion("fast", "x", "Gai Media")])
    assert time.monotonic() - begun < 3.0
    assert slow.evidence == "no answer within 0.3 s; the query was stopped"
    assert fast.values == ("Thursday",)


@pytest.mark.behaviour("AU14")
@pytest.mark.parametrize(
    "query",
    [
        "INSERT INTO customer VALUES (:subject, 'x', 1) RETURNING day",
        "WITH gone AS (DELETE FROM customer WHERE name = :subject RETURNING day) SELECT day FROM gone",
        "SELECT day INTO other FROM customer WHERE name = :subject",
        "SELECT day FROM customer WHERE name = :subject FOR UPDATE",
        "SELECT set_config('transaction_read_only', 'off', false) WHERE CAST(:subject AS text) <> ''",
        "CREATE TABLE other (x int)",
        "SET default_transaction_read_only = off",
    ],
)
def test_a_server_refuses_to_write(server, tmp_path, query):
    before = state_of(server)
    answer = asked(authority(tmp_path, query, url=server))
    assert answer.standing is AnswerStatus.UNREACHABLE
    assert state_of(server) == before


@pytest.mark.behaviour("AU18")
def test_a_wrong_password_and_a_missing_server_are_told_without_credentials(server, tmp_path):
    wrong = server.replace("//", "//perdure:s3cret-word@", 1) if "@" not in server else None
    dead = "postgresql+psycopg://joe:s3cret-word@127.0.0.1:1/none?connect_timeout=60&sslpassword=s3cret-key"
    for url in filter(None, (wrong, dead)):
        begun = time.monotonic()
        answer = asked(authority(tmp_path, url=url))
        assert time.monotonic() - begun < 10.0
        assert "s3cret" not in answer.evidence
    assert answer.standing is AnswerStatus.UNREACHABLE


class Deaf:
    """A server that takes connections and never says a word; with a target it passes on so many bytes before."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.taken = []
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self):
        while True:
            try:
                self.taken.append(self.socket.accept()[0])
            except OSError:
                return

    def close(self):
        for one in (self.socket, *self.taken):
            one.close()


def test_a_server_that_never_answers_is_left(tmp_path):
    deaf = Deaf()
    begun = time.monotonic()
    answer = asked(authority(tmp_path, url=f"postgresql://u:pw@127.0.0.1:{deaf.port}/d", seconds=0.5))
    assert answer.standing is AnswerStatus.UNREACHABLE
    assert time.monotonic() - begun < 6.0
    deaf.close()


@pytest.mark.behaviour("AU17")
def test_a_server_that_hangs_in_the_middle_is_cut_off(server, tmp_path):
    """A backend that is stopped in its query cannot keep its own timeout: the line is cut a second later."""
    query = "SELECT CAST(pg_sleep(20) AS text) WHERE CAST(:subject AS text) <> 'frozen'"
    stopped = []

    def freeze():
        with psycopg.connect(server, autocommit=True) as other:
            for _ in range(100):
                found = other.execute(
                    "SELECT pid FROM pg_stat_activity"
                    " WHERE application_name = 'perdure verify' AND query LIKE '%frozen%'"
                ).fetchall()
                if found:
                    stopped.append(found[0][0])
                    os.kill(found[0][0], signal.SIGSTOP)
                    return
                time.sleep(0.02)

    thread = threading.Thread(target=freeze)
    thread.start()
    try:
        begun = time.monotonic()
        answer = asked(authority(tmp_path, query, url=server, seconds=3.0))
        assert time.monotonic() - begun < 9.0
    finally:
        thread.join()
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    assert stopped
    assert answer.standing is AnswerStatus.UNREACHABLE
    assert "stopped" not in answer.evidence
