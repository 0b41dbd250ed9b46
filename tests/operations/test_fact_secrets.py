"""What a fact's predicate shows to be a secret is replaced wherever the call says it, and the caller is told."""

import warnings

import pytest

import perdure
from conftest import WORDS_ONLY, tables
from perdure.rules.redaction import redact

KEY = "k9Zx8kk29LmQQ77aa0"
SECRETS = (
    ("wifi", "password", "Zx8!kk29Lm", "password"),
    ("stripe", "api key", KEY, "api key"),
    ("Büro-WLAN", "Passwort", "Tr0ub4dor&3x", "password"),
    ("ci", "token", "ghp_" + "aBcD1234eFgH5678iJkL9012mNoP3456qRsT", "github token"),
    ("door", "PIN", "48213", "pin"),
    ("bank card", "pin", 739152, "pin"),
    ("wifi password", "is", "Zx8!kk29Lm", "password"),
)
PLAIN = (
    *(("wifi", "password hint", "the dog's name"), ("password", "length", "16chars"), ("ci", "token count", 3000)),
    *(("Ana", "password manager", "Bitwarden"), ("Ana", "home", "Oslo")),
)


@pytest.fixture
def memory(opening):
    return opening(WORDS_ONLY)


def fact(subject, predicate, value, **more):
    return {"subject": subject, "predicate": predicate, "value": value, **more}


def told(call, *args, **kwargs):
    """What a call returns, and what it warns of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        done = call(*args, **kwargs)
    assert all(issubclass(w.category, perdure.PerdureWarning) for w in said)
    assert not any(w.category is perdure.EmbedderWarning for w in said)
    return done, [str(w.message).partition(";")[0] for w in said]


@pytest.mark.parametrize(("subject", "predicate", "value", "name"), SECRETS)
def test_a_value_that_its_predicate_shows_to_be_a_secret_is_stored_nowhere(
    memory, path, subject, predicate, value, name
):
    said = fact(subject, predicate, value, quote=f"it is {value} now")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = memory.remember(f"For {subject} it is {value} now.", facts=[said])
        memory.update(one.id, f"Of {subject} ({value}).", facts=[fact(subject, predicate, value)])
        memory.remember_many([{"content": f"Access: {value}", "facts": [fact(subject, predicate, value)]}])
        memory.learn(claims=[fact(f"the other {subject}", predicate, value)])
        found = memory.facts(subject)[0]
        memory.correct(found.id, "Vienna")
        again = memory.facts(subject)[0]
        memory.correct(again.id, f"{value}")
    assert one.memory.content == f"For {subject} it is [redacted: {name}] now."
    assert f"[redacted: {name}]" in {f.shown_value for f in memory.facts()}
    rows = [row for rows in tables(path).values() for row in rows]
    assert [row for row in rows if str(value) in repr(row)] == []


def test_what_is_no_secret_stays_and_a_policy_may_keep_secrets(memory, opening):
    memory.learn(claims=[fact(*claim) for claim in PLAIN])
    assert {f.shown_value for f in memory.facts()} == {str(value) for _, _, value in PLAIN}
    keeping = opening({**WORDS_ONLY, "knowledge": {"redact": False}})
    kept = keeping.remember("Zx8!kk29Lm opens it.", facts=[fact("wifi", "password", "Zx8!kk29Lm")])
    assert kept.memory.content == "Zx8!kk29Lm opens it."
    assert "Zx8!kk29Lm" in {f.shown_value for f in keeping.facts("wifi")}


@pytest.mark.filterwarnings("ignore::perdure.PerdureWarning")
@pytest.mark.parametrize("predicate", ["password", "login"])
def test_a_value_is_replaced_as_its_note_is_with_the_signs_at_its_end(memory, predicate):
    """A predicate that tells nothing of a secret stored what was replaced in the note itself."""
    for text in (
        "The staging password is Gr1msel99!",
        "The password for staging (Gr1msel99!)",
        "Use admin:Gr1msel99! there.",
        "The staging password was changed from Abc!1234 to Gr1msel99!",
    ):
        kept = memory.remember(text, facts=[fact("staging", predicate, "Gr1msel99!")], namespace=text[:12])
        assert "Gr1msel99" not in kept.memory.content
        assert "!" not in kept.memory.content
        assert [f.shown_value for f in memory.facts("staging", namespace=text[:12])] == ["[redacted: password]"]


@pytest.mark.filterwarnings("ignore::perdure.PerdureWarning")
def test_a_new_password_takes_the_place_of_the_one_that_it_replaces(memory):
    memory.learn(claims=[fact("wifi", "password", "Zx8!kk29Lm")])
    memory.learn(claims=[fact("wifi", "password", "Qq77!kk29Lm", replaces="Zx8!kk29Lm")])
    assert [f.shown_value for f in memory.facts("wifi")] == ["[redacted: password]"]
    (old,) = memory.facts("wifi")
    done = memory.learn(claims=[fact("wifi", "password", "none", replaces=old.id)])
    assert [f.shown_value for f in memory.facts("wifi")] == ["none"]
    assert done.unknown == ()


def test_each_verb_that_stores_words_tells_what_was_replaced_in_them(memory):
    one, note = told(memory.remember, "Bob uses the VPN.")
    assert note == []
    password = fact("wifi", "password", "Zx8!kk29Lm")
    expected = ["1 secret was replaced before storing (password)"]
    assert told(memory.remember, "The network.", facts=[password])[1] == expected
    assert told(memory.remember_many, [{"content": "Its name.", "facts": [password]}])[1] == expected
    assert told(memory.learn, claims=[{**password, "subject": "guest wifi"}])[1] == expected
    new, note = told(memory.update, one.id, "Bob uses VPN2.", facts=[{**password, "subject": "vpn"}])
    assert note == expected
    assert told(memory.correct, new.id, "password: Zx8!kk29Lm")[1] == expected
    (home,) = memory.learn(claims=[fact("Bob", "home", "Oslo")]).created
    assert told(memory.correct, home, "Rome")[1] == []
    vpn = memory.learn(claims=[fact("router", "password", "none")]).created[0]
    assert told(memory.answer, vpn, "correct", "Zx8!kk29Lm")[1] == expected


@pytest.mark.parametrize(("subject", "predicate", "value", "name"), SECRETS)
def test_a_secret_is_replaced_among_many_claims_and_many_memories(memory, subject, predicate, value, name):
    others = [fact(f"Person {n}", "home", f"Town {n}") for n in range(6)]
    secret = fact(subject, predicate, value)
    texts = [f"{subject} {predicate}: {value}", *(f"Person {n} lives in Town {n}" for n in range(6))]
    account = {"content": "An account", "source": f"{subject} {predicate}: {value}"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        memory.learn(claims=[*others, secret])
        stored = memory.remember_many([*texts, account])
    values = [found.value for found in memory.facts(limit=100)]
    assert sorted(values) == sorted([*(other["value"] for other in others), f"[redacted: {name}]"])
    assert [one.memory.content for one in stored[1:7]] == texts[1:]
    assert stored[0].memory.content == redact(texts[0])[0]  # as each is read by itself
    assert stored[7].memory.source == redact(account["source"])[0]


def test_a_number_that_a_claim_shows_to_be_a_secret_is_one_in_a_text_alone(memory):
    text = "The bank card pin: 739152."
    done, warned = told(memory.remember, text)
    assert memory.get(done.id).content == "The bank card pin: [redacted: pin]."
    assert warned == ["1 secret was replaced before storing (pin)"]
