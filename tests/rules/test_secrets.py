"""Secrets are replaced, and what only looks like one is not."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tarfile
import time
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perdure
from conftest import WORDS_ONLY, every
from perdure.records.policy import Policy
from perdure.rules import personal_numbers, secret_shapes
from perdure.rules.personal_numbers import card_numbers
from perdure.rules.redaction import redact, redact_data, redact_key, redaction_note
from perdure.rules.secret_screen import may_hold_secrets
from perdure.rules.secret_values import PrefilteredPatterns
from perdure.rules.validation import inputs as intake

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


EXAMPLES = (
    ("aws access key", "AKIA", "Q3EGRIDT5XKLZ7MB"),
    ("secret", "aws_secret_access_key = |", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzK9q2LtWsv"),
    ("github token", "ghp_", "aBcD1234eFgH5678iJkL9012mNoP3456qRsT"),
    ("github token", "github_pat_", "11ABCDEFG0aBcDeFgHiJkL_mN0pQ2rS4tU6vW8xY0zA1bC3dE5fG7hI9jK1lM3nO5p"),
    ("gitlab token", "glpat-", "x7Kq9ZmP2sTvW4yB8nLc"),
    ("slack token", "xoxb-", "263594206564-2343594206574-FGqddMF8t08v8N7Oq4i57vs1"),
    ("slack token", "https://hooks.slack.com/services/", "T01234567/B01234567/aBcDeFgHiJkLmNoPqRsTuVwX"),
    ("stripe access key", "sk_live_", "4eC39HqLyjWDarjtT1zdp7dc5aBcDeFg"),
    ("api key", "sk-proj-", "Zx81kQpLm20vbnRtYuIoPasDfGhJkLqW"),
    ("anthropic api key", "sk-ant-api03-", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9"),
    ("json web token", "eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36P"),
    ("google api key", "AIza", "SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"),
    ("hugging face token", "hf_", "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"),
    ("npm token", "npm_", "aBcD1234eFgH5678iJkL9012mNoP3456qRsT"),
    ("sendgrid api key", "SG.", "ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf-09kqeF8tAmbihYzrnopKc-1s5cr"),
    ("telegram bot token", "123456789:", "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1"),
    ("azure storage account access key", "AccountKey=", "lJzRc1YdHaAA2KCNJJ1tkYwF" + "aB3/" * 15 + "Ab=="),
    ("private key", "-----BEGIN RSA ", "PRIVATE KEY-----\nMIIEowIBAAKCAQEAwJ0rGqv8iW5Xk9f3VbLqz2mN4pRsT6u"),
    ("basic auth credentials", "postgres://admin:|", "s3cr3tPassw0rd|@db.example.com:5432/app"),
    ("bearer token", "Authorization: Bearer |", "7f9c2ba4e88f827d616045507605853ed73b8093"),
    ("password", 'password = "|', 'Tr0ub4dor&3xyz|"'),
    ("password", "my password is |", "hunter2zebra!|"),
    ("api key", "api_key: |", "9f8e7d6c5b4a3f2e1d0c9b8a7f6e5d4c"),
    ("token", "the token was |", "9f8e7d6c-5b4a-3f2e-1d0c-9b8a7f6e5d4c"),
    # keys of services of 2024 to 2026, as a sentence says them that does not say what they are
    ("vercel token", "vercel_blob_rw_", "pzbP1rlpaJSBU8if_tl3tqlEHIk6pvAceIwfMNZfetou6"),
    ("runpod api key", "rpa_", "F4XSFEPKNLGXE1MBJJHHGWP7CGYYWR2UH54WUQXNIXDULP"),
    ("honeycomb key", "hcaik_", "bzewqho4vbi15i0xkejb13yliaxho14b9646wuyxvc7hy7zd8ep81x96s2"),
    ("aiven password", "AVNS_", "B36EgjitK-dUtxs_"),
    ("asana token", "2/1237980927367473/", "1244846954819492:0b700c9b618f0398df53f12b4d9e7a61"),
    ("discord bot token", "MTIzNDU2Nzg5MDEyMzQ1Njc4", ".v-KoOo.DSXhUKK3lVgLp3ev13WcdcZZMo7fQ2aBcDeFgH"),
    ("openrouter api key", "sk-or-v1-", "0b700c9b618f0398df53f12b4d9e7a610b700c9b618f0398df53f12b4d9e7a62"),
    ("anthropic api key", "sk-ant-oat01-", "ten2BFLfko3VlxJZ_NpANyax2R64pVKJo-rT14FcL-HaxHekDV5OGDGEcIzzOLWON8oc11J"),
    ("supabase token", "sbp_", "0b700c9b618f0398df53f12b4d9e7a610b700c9b"),
    ("planetscale token", "pscale_tkn_", "ten2BFLfko3VlxJZ_NpANyax2R64pVKJo-rT14FcL-H"),
    ("doppler token", "dp.pt.", "X7Kq9ZmP2sTvW4yB8nLcDXSUKK3VgLp3ev13WcdcZZM"),
    ("tailscale key", "tskey-auth-", "kX7Kq9ZmP2sTCNTRL-DXhUKK3VgLp3ev13WcdcZZMo7fQ2aBcD"),
    ("age secret key", "AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE"),
    ("azure key", "1WcTn2QbX7Kq9ZmP2sTvW4yB8nLcDXSUKK3VgLp3ev13WcdcZZMo", "JQQJ99BAACYeBjFXJ3w3AAABACOGx7Qp"),
    ("api key", "nimbus_live_", "X7Kq9ZmP2sTvW4yB8nLcDXSUKK3VgLp3ev13Wcd"),  # a service that nobody here knows
    ("api key", "weatherly_key = |", "aistqqnd7yd1r6ls74icrhu93l236jt5"),
    ("card number", "4111 1111", " 1111 1111"),
    ("card number", "3782", "82246310005"),
    ("card number", "5555-5555", "-5555-4444"),
)
"""(what it is, its first part, its second part); bars around the secret where not all of it is one."""


def secrets() -> list[tuple[str, str, str]]:
    """Return (what it is, the text, the secret in it); none stands whole in this file, where it would be a leak."""
    wholes = [(kind, "".join(parts)) for kind, *parts in EXAMPLES]
    return [(k, w.replace("|", ""), w.split("|")[1] if "|" in w else w) for k, w in wholes]


SECRETS = secrets()
GITHUB, NPM, CARD = (
    next(text for kind, text, _ in SECRETS if kind == k) for k in ("github token", "npm token", "card number")
)
SEED = "legal winner thank year wave sausage worth useful legal winner thank yellow"
PLAIN = [
    "commit 3f786850e387550fdab836ed7e6dc881de23001b fixed it",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "ISBN 978-3-16-148410-0",
    "call +1 (415) 555-2671 or 0044 20 7946 0958",
    "it cost $1,234,567.89 and 4111.50 more",
    "card 4111 1111 1111 1112",
    "order 1234567890123456, tracking 9400111899223197428490, at 1700000000000",
    "IBAN DE89370400440532013001",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "My password = the name of my dog? The secret is to simmer slowly.",
    "I forgot my password again: click here to reset it. The key is under the mat; the token is 4096 tokens long.",
    "password: ********, password: str, password=<your-password>, password = ${DB_PASSWORD}, pwd: changeme123",
    "token = get_token(), api_key=os.environ['OPENAI_API_KEY'], secret = settings.SECRET_KEY, token: self.token2.value",
    "api_key = 'your_api_key_1', app.config['SECRET_KEY'] = 'your_secret_key_here', password='password123'",
    "generate_password_hash uses `pbkdf2:sha256`",
    "https://user@example.com/path, https://user:password@localhost/db, git@github.com:org/repo.git",
    "arn:aws:iam::123456789012:role/Admin; 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "sk-learn, scikit-learn-intelex; task-force-organisation-of-the-year; eyJack.likes.it",
    "bearer of bad news; the years 4000 5000 6000 7000; ratio 3782:822463:10005",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "long " * 40,
    "def from_seed(cls, data: Buffer) -> MLDSA44PrivateKey: secret = kXxh3Secrets",
    "PASS tests/api/users_test.py::test_login_42",
    "PASS: test_login_flow_54 in 0.4s",
    "--- PASS: TestParse/case_22 (0.00s)",
    "pass --seed=90304 to make the run repeatable",
    "Token usage: prompt=10233 completion=1822 total=12055",
    "session_id=7d9f2b1e-4c3a-4f5b-9e8d-2a1b3c4d5e6f in the trace",
    "self.first_pass = use_encoder_hidden_states",
    "password_changed_at: 1763900000, token_count=128000000000x",
    "service key: svc-payments-eu1-v2, token budget: 200k-tokens-2026",
    "git://[path-to-repo[:][ref@]path",
    "order number 4678274297181491 was shipped; 0x4000000000000002",
    "pk_live_51NxT2aLkdIwHu7ixX7Kq9ZmP2sTvW4yB8nLcDXSUKK3VgLp3ev13Wcd is published with the page",
    "phc_X7Kq9ZmP2sTvW4yB8nLcDXSUKK3VgLp3ev13WcdcZZM, cs_test_a11YYufWQzNY63zpQ6QSNRQhkUpVph4WRmzW0zWJO2znZKdVuj",
    "perdure/__init__.py,sha256=byoeus4-lIOlWlEiRQdCc00qCkXpOB5peBY6yo9ik8s,1203",
    "sha512-X7Kq9ZmP2sTvW4yB8nLcDXSUKK3VgLp3ev13WcdcZZMo7fQ2aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789abcd==",
    "resp_0b700c9b618f0398df53f12b4d9e7a610b700c9b618f0398, chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
    "user_2NNEqL2nrIRdJ194ndJqAHwEfxC, msg_01XFDUDYJgAACzvnptvVoYEL, price_1MoBy5LkdIwHu7ixZhnattbh",
    "cache_key = 0b700c9b618f0398df53f12b4d9e7a61, file_key=AbCdEfGhIjK1mNoPq2RsTuVw, sort_key = created_at_2026",
    "sk_learn_pipeline_with_standard_scaler_2026, hf_transfer, npm_config_registry, fc-cache -fv, pul-l request 4512",
    "meta-llama/Llama-3.3-70B-Instruct-Turbo-Free, claude-sonnet-4-5-20250929, paraphrase-multilingual-MiniLM-L12-v2",
    "dp.values[i][j], st.session_state.messages, pat.demographics.date_of_birth, sl.under.the.table, as-is, 1000.50",
    "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kudj6h2fqxk5yup; 0x742d35Cc6634C0532925a3b844Bc454e4438f44e",
    "monkey: banana12345678; keyboard: QWERTZ105keys; the turkey was 12pounds4ounces",
]


@pytest.mark.behaviour("SF1")
@every(SECRETS)
def test_secrets_are_replaced_wherever_they_stand(kind, text, secret):
    for before, after in (("", ""), ("Use ", " please."), ("(", ")"), ("line\n", "\nline"), ("\u0130 ", ", then")):
        clean, names = redact(f"{before}{text}{after}")
        assert names == (kind,)
        assert clean == f"{before}{text.replace(secret, f'[redacted: {kind}]')}{after}"
        assert redact(clean) == (clean, ())


@pytest.mark.behaviour("SF2")
@every(PLAIN)
def test_what_only_looks_like_a_secret_stays(text):
    assert redact(text) == (text, ())


def test_a_private_key_goes_whole_with_or_without_its_end():
    body = "\n".join("MIIEowIBAAKCAQEAwJ0rGqv8iW5Xk9f3VbLqz2mN4pRsT6uV8wXyZ0aBcD1eFgH2" for _ in range(20))
    begin, end = "-----BEGIN " + "PRIVATE KEY-----", "-----END " + "PRIVATE KEY-----"
    assert redact(f"a\n{begin}\n{body}\n{end}\nb")[0] == "a\n[redacted: private key]\nb"
    cut, names = redact(f"a\n{begin}\n{body}")
    assert (cut, names) == ("a\n[redacted: private key]", ("private key",))


@given(st.integers(0, 10**15 - 1), st.sampled_from(["", " ", "-"]))
def test_of_ten_card_numbers_that_differ_in_their_last_digit_one_is_valid(number, gap):
    head = f"4{number:015d}"[:15]
    written = [gap.join(f"{head}{last}"[i : i + 4] for i in range(0, 16, 4)) for last in range(10)]
    assert [len(card_numbers(text)) for text in written].count(1) == 1
    assert [len(card_numbers(f"{text}1234567")) for text in written] == [0] * 10


@given(st.text(max_size=200), st.sampled_from(SECRETS), st.text(max_size=200))
def test_redacting_twice_changes_nothing_more(before, secret, after):
    once, _ = redact(f"{before} {secret[1]} {after}")
    assert redact(once)[0] == once


@given(st.text(alphabet=" \nabcXYZ019.-_:/@=\"'", max_size=300))
def test_a_text_without_secrets_is_the_very_same(text):
    clean, names = redact(text)
    assert names or clean is text


NUMBERS = (
    "DE89 3704 0044 0532 0130 00",
    "ssn 078-05-1120",
    "cpf 111.444.777-35",
    "dni 12345678Z",
    "QQ123456C",
    "pin: 4711",
)
PIECES = [
    *(text for _, text, _ in SECRETS),
    *(f'"auth": "{code}"' for code in ("dXNlcjpwYXNz", "eA==")),
    *(
        "curl -u ann:",
        "pw ",
        "7z -p",
        "SK",
        "xoxb-",
        "Q~",
        "key",
        "$1$",
        "token",
        "-us1",
        "http x -a b:",
        "\u00ad",
        " ",
        "\n",
    ),
    *(*NUMBERS, SEED, "[redacted: password]", "\uff21\uff2b\uff29\uff21", "hunter2!X9", "0" * 32, "a1b2c3d4e5"),
]


@given(
    st.lists(
        st.one_of(
            st.sampled_from(PIECES),
            st.builds(
                lambda text, at, size: text[at:][:size], st.sampled_from(PIECES), st.integers(0, 40), st.integers(1, 60)
            ),
            st.text(max_size=12),
        ),
        max_size=8,
    )
)
def test_what_is_skipped_for_want_of_a_clue_holds_no_secret(pieces):
    text = "".join(pieces)
    always = mock.Mock(search=lambda _: True)
    with (
        mock.patch.object(PrefilteredPatterns, "among", lambda self, _: self._items),
        mock.patch.object(secret_shapes, "_LONG_RUN", always),
        mock.patch.object(personal_numbers, "_TWO_DIGITS", always),
        mock.patch.object(personal_numbers, "_SHORTEST_PHRASE", 0),
    ):
        with_everything_tried = redact(text)
    assert redact(text) == with_everything_tried
    beside = ["We met at noon.", text, "", text.upper(), f"a {text}"]
    for one, may_hold in zip(beside, may_hold_secrets(beside), strict=True):
        assert may_hold or redact(one) == (one, ())


@pytest.mark.parametrize("text", [GITHUB, NPM, CARD, SEED, "DE89 3704 0044 0532 0130 00", "pw=hunter2zebra"])
def test_a_secret_is_found_among_many_texts_wherever_it_stands(text):
    others = [f"Meeting number {n} was moved to the other room." for n in range(40)]
    assert may_hold_secrets(others) == [False] * 40
    for place in (0, 20, 40):
        expected = [n == place for n in range(41)]
        assert may_hold_secrets([*others[:place], f"It says {text}", *others[place:]]) == expected


def test_data_is_redacted_in_its_keys_and_values():
    data = {"password": "hunter2zebra", "deep": [{"n": 1, "url": GITHUB}, None, True]}
    clean, names = redact_data({**data, NPM: "x"})
    assert clean == {
        "password": "[redacted: password]",
        "deep": [{"n": 1, "url": "[redacted: github token]"}, None, True],
        "[redacted: npm token]": "x",
    }
    assert sorted(names) == ["github token", "npm token", "password"]


def test_a_key_that_holds_a_secret_still_tells_two_apart():
    one, other = (redact_key(text) for text in (GITHUB, NPM))
    assert one != other
    assert one == redact_key(GITHUB)
    assert GITHUB not in one
    assert redact_key("message:1") == "message:1"


def test_what_is_told_has_kinds_and_counts_and_no_secret():
    said = redaction_note(redact(f"{NPM} {NPM} {CARD}")[1])
    assert said.startswith("3 secrets were replaced before storing (card number, 2 x npm token)")


def test_a_draft_says_what_was_replaced_and_a_policy_may_keep_it():
    policy = Policy()
    given_ = {"tags": [NPM], "metadata": {"k": CARD}, "source": "a", "now": 0}
    draft = intake.check_draft(f"Use {GITHUB}.", policy=policy, idempotency_key="k", **given_)
    assert (draft.text, draft.tags, draft.key) == ("Use [redacted: github token].", ("[redacted: npm token]",), "k")
    assert draft.redacted == ("github token", "npm token", "card number")
    kept = replace(policy, knowledge=replace(policy.knowledge, redact=False))
    assert intake.check_draft(GITHUB, policy=kept, now=0).text == GITHUB


@pytest.mark.behaviour("SF9")
def test_the_words_of_wallets_are_loaded_only_for_twelve_short_words_in_a_row():
    code = (
        "import sys, perdure\n"
        "from perdure.rules.redaction import redact\n"
        "redact('We deploy on Tuesdays at 10:00 with password = Tr0ub4dor&3xyz.')\n"
        "assert 'mnemonic' not in sys.modules\n"
        f"redact({SEED!r})\n"
        "assert 'mnemonic' in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""


HOSTILE = ["sk-", "eyJ", "://a:", "-----BEGIN PRIVATE KEY-----", "password=Aa1", "4111 ", "bearer ", "a", "key: ", "//"]


@every(HOSTILE)
def test_what_is_left_of_a_hostile_text_holds_no_secret(piece):
    clean, _ = redact(piece * (5_000 // len(piece)))
    assert redact(clean) == (clean, ())


@every(["glpat-", "$y$", "github_pat_", "xai-EXAMPLE", "secret-token:", "ab-", "AVNS_"])
def test_a_long_text_of_beginnings_alone_takes_time_in_proportion(piece):
    with perdure.open(":memory:", WORDS_ONLY) as memory:
        started = time.thread_time()
        memory.remember((piece * 60_000)[:60_000])
    assert time.thread_time() - started < 5  # it was 20 and more


def _beam() -> list[str]:
    found: list[str] = []

    def walk(item: object) -> None:
        if isinstance(item, dict) and isinstance(item.get("content"), str):
            found.append(item["content"])
        elif isinstance(item, dict | list):
            for part in item.values() if isinstance(item, dict) else item:
                walk(part)

    with tarfile.open(DATA / "beam_dev.tar.gz") as archive:
        for member in archive.getmembers():
            if member.name.endswith("chat.json") and (file := archive.extractfile(member)) is not None:
                walk(json.load(file))
    return found


@pytest.mark.behaviour("SF3")
@pytest.mark.skipif(not (DATA / "beam_dev.tar.gz").exists(), reason="skipped: data not present")
def test_real_conversations_lose_nothing():
    said = _beam()
    samples = json.loads(gzip.decompress((DATA / "locomo_dev.json.gz").read_bytes()))
    turns = [s["conversation"] for s in samples]
    said += [
        t["text"] for c in turns for k, v in c.items() if k.startswith("session_") and isinstance(v, list) for t in v
    ]
    assert len(said) > 4000
    assert sum(1 for text in said if redact(text)[1]) <= 1


@pytest.mark.filterwarnings("ignore::perdure.PerdureWarning")
def test_a_session_is_a_secret_from_twenty_characters_on_and_a_shorter_one_is_a_name():
    value = "Xq7k2Zp9Wm4Rt8Yb3Nc6"
    with perdure.open(":memory:", WORDS_ONLY) as memory:
        whole, short = (memory.remember(f"The cookie was session_id={v} then.").memory for v in (value, value[:-1]))
    assert "session_id=[redacted: session cookie] then" in whole.content
    assert f"session_id={value[:-1]} then" in short.content


@pytest.mark.filterwarnings("ignore::perdure.PerdureWarning")
@pytest.mark.parametrize("told", ["api_key = {}", "The password is {} since May.", "password = {}"])
def test_of_a_long_secret_no_end_is_left(told):
    value = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA" * 10
    with perdure.open(":memory:", WORDS_ONLY) as memory:
        content = memory.remember(told.format(value)).memory.content
    assert "[redacted: " in content
    assert value[-10:] not in content
