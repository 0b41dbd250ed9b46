"""Which authorities a file may name, and which queries it may hold."""

from __future__ import annotations

import tomllib

import pytest

from conftest import every
from perdure.knowledge.records.authority import SqlConfig, TreeConfig
from perdure.knowledge.rules.authority_config import authorities_from, checked_query
from perdure.records.errors import PolicyError

GOOD = """
[synonyms]
delivery = "shipping"

[authorities.crm]
url = "sqlite:///domain.db"
timeout_seconds = 0.5
namespaces = ["sales", "sales/north"]
[authorities.crm.predicates]
delivery_day_preference = "SELECT day FROM customer WHERE name = :subject;"

[authorities.erp]
url_variable = "ERP_URL"
predicates = { payment_terms = "WITH x AS (SELECT 1) SELECT terms FROM c WHERE name IN :aliases" }

[authorities.code]
working_tree = "."
"""


def test_databases_and_trees_are_read_in_the_order_of_the_file():
    crm, erp, code = authorities_from(tomllib.loads(GOOD), "knowledge.toml")
    assert crm == SqlConfig(
        "crm", "sqlite:///domain.db", "", 0.5,
        {"delivery_day_preference": "SELECT day FROM customer WHERE name = :subject"}, ("sales", "sales/north"),
    )  # fmt: skip
    assert isinstance(erp, SqlConfig)
    assert (erp.url, erp.url_variable, erp.timeout_seconds) == ("", "ERP_URL", 2.0)
    assert code == TreeConfig("code", ".")
    assert authorities_from({}, "x") == ()


FAULTS = {
    "no url": ('predicates = {d = "SELECT :subject"}', "it needs either url or url_variable"),
    "both": ('url = "sqlite:///x"\nurl_variable = "X"', "it needs either url or url_variable"),
    "another database": ('url = "mysql://root:s3cret@host/d"\npredicates = {d = "SELECT :subject"}', "url must be"),
    "another driver": ('url = "postgresql+asyncpg://h/d"\npredicates = {d = "SELECT :subject"}', "url must be"),
    "memory": ('url = "sqlite://"\npredicates = {d = "SELECT :subject"}', "url must be"),
    "no text": ('url = 7\npredicates = {d = "SELECT :subject"}', "url must be"),
    "variable": ('url_variable = "A B"', "not the name of an environment variable"),
    "no queries": ('url = "sqlite:///x"', "it needs predicates"),
    "empty": ('url = "sqlite:///x"\npredicates = {}', "it needs predicates"),
    "predicate": ('url = "sqlite:///x"\npredicates = {"Delivery day" = "SELECT :subject"}', "not in normal form"),
    "key": ('url = "sqlite:///x"\nquery = "x"', "there is no key 'query'"),
    "tree key": ('working_tree = "."\nurl = "sqlite:///x"', "there is no key 'url'"),
    "time": ('working_tree = "."\ntimeout_seconds = 0', "timeout_seconds must be"),
    "time as text": ('working_tree = "."\ntimeout_seconds = "2"', "timeout_seconds must be"),
    "never": ('working_tree = "."\ntimeout_seconds = inf', "timeout_seconds must be"),
    "not a number": ('working_tree = "."\ntimeout_seconds = nan', "timeout_seconds must be"),
    "namespaces": ('working_tree = "."\nnamespaces = "sales"', "namespaces must be a list"),
    "namespace": ('working_tree = "."\nnamespaces = ["../x"]', "is not allowed"),
    "tree": ("working_tree = 3", "working_tree must be text"),
}


@every(FAULTS)
def test_a_faulty_table_is_named_with_what_is_wrong(name):
    lines, why = FAULTS[name]
    with pytest.raises(PolicyError) as refused:
        authorities_from(tomllib.loads(f"[authorities.crm]\n{lines}\n"), "knowledge.toml")
    (problem,) = refused.value.problems
    assert problem.startswith("knowledge.toml, authority 'crm': ")
    assert why in problem
    assert "s3cret" not in str(refused.value)


def test_all_faults_are_told_at_once():
    data = {"authorities": {"1": {}, "a": 7, "b": {"url": "sqlite:///x", "predicates": {"d": "DROP TABLE x"}}}}
    with pytest.raises(PolicyError) as refused:
        authorities_from(data, "k")
    assert len(refused.value.problems) == 3
    for wrong in ([], "x", {key: {} for key in map(str, range(101))}):
        with pytest.raises(PolicyError, match="at most 100"):
            authorities_from({"authorities": wrong}, "k")


REFUSED = {
    "INSERT INTO c VALUES (:subject) RETURNING day": "begin with SELECT or WITH",
    "PRAGMA table_info(c)": "begin with SELECT or WITH",
    "(SELECT day FROM c WHERE n = :subject)": "begin with SELECT or WITH",
    "EXPLAIN SELECT :subject": "begin with SELECT or WITH",
    "SELECTED :subject": "begin with SELECT or WITH",
    "SELECT :subject; DROP TABLE c": "one statement",
    "WITH x AS (DELETE FROM c WHERE n = :subject RETURNING day) SELECT day FROM x": "DELETE is not allowed",
    "SELECT day INTO other FROM c WHERE n = :subject": "INTO is not allowed",
    "SELECT day FROM c WHERE n = :subject FOR UPDATE": "UPDATE is not allowed",
    "SELECT day FROM c WHERE n = :subject -- note": "not contain a comment",
    "SELECT day /* note */ FROM c WHERE n = :subject": "not contain a comment",
    "SELECT E'\\'' || :subject": "plain quotes",
    "SELECT day FROM c WHERE n = :subject AND x = '\\'": "backslash",
    "SELECT $$text$$ || :subject": "dollar quote",
    "SELECT day FROM c WHERE n = ':subject": "open quote",
    "SELECT day FROM c WHERE n = :name": "there is no value :name",
    "SELECT day FROM c": "must ask about :subject",
    "SELECT day FROM c WHERE n = ':subject'": "must ask about :subject",
    "SELECT day FROM c WHERE n = :subject::text": "CAST(:subject",
    "  ": "is empty",
    "SELECT :subject \x00": "NUL",
    "SELECT :subject " + "x" * 10_000: "characters",
}


@pytest.mark.behaviour("AU19")
@every(REFUSED)
def test_what_is_no_plain_question_is_refused(query):
    with pytest.raises((TypeError, ValueError)) as refused:
        checked_query(query)
    assert REFUSED[query] in str(refused.value)


def test_no_number_is_a_query():
    with pytest.raises(ValueError, match="must be text"):
        checked_query(7)


def test_colons_in_quotes_are_not_bindings():
    query = "SELECT '12:30 :other' AS \"a:b\" FROM c WHERE n = :subject AND t = 'it''s: so'"
    assert checked_query(query) == (
        "SELECT '12\\:30 \\:other' AS \"a\\:b\" FROM c WHERE n = :subject AND t = 'it''s\\: so'"
    )


def test_words_that_write_may_stand_in_quotes():
    query = "SELECT \"update\" FROM c WHERE n = :subject AND kind <> 'delete' AND deleted = 0"
    assert checked_query(query) == query


def test_casts_with_colons_elsewhere_are_kept():
    query = "SELECT terms::text FROM c WHERE n = :subject"
    assert checked_query(query) == query
