"""Keys and tokens that are known by their shape: what services give out, private keys, addresses that hold a secret.

Each shape is tried only where its clue stands, a fixed text that is searched for first: that is fast, and linear.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from perdure.records.patterns import lazy_pattern
from perdure.rules.secret_values import PrefilteredPatterns, is_beside_key_id, is_made_by_chance, is_sample

Found = tuple[int, int, str]  # (start, end, what it is)

_ALNUM: Final = r"[A-Za-z0-9]"
_WORD: Final = r"[A-Za-z0-9_-]"
_HEX: Final = r"[a-f0-9]"
_B64: Final = r"[A-Za-z0-9+/]"
_NUMBERS: Final = ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT")
"""How the base64 of a number of 17 digits or more begins."""
_UUID: Final = rf"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"

_STARTS: Final[tuple[tuple[str, str, str], ...]] = (
    *(("aws access key", f"{p}", r"[A-Z0-9]{16}(?![A-Za-z0-9])") for p in ("AKIA", "ASIA", "ABIA", "ACCA")),
    ("aws session token", "IQoJb3JpZ2lu", rf"{_B64}{{80,2000}}={{0,2}}"),
    ("aws bedrock key", "ABSK", rf"{_B64}{{100,300}}={{0,2}}"),
    ("alibaba access key", "LTAI", rf"{_ALNUM}{{16,24}}(?!{_ALNUM})"),
    ("google api key", "AIza", rf"{_WORD}{{35}}"),
    ("google oauth token", "ya29.", rf"{_WORD}{{20,}}"),
    ("google api key", "GOCSPX-", rf"{_WORD}{{28}}"),
    ("google api key", "AQ.Ab", rf"{_WORD}{{40,}}"),
    ("google oauth token", "1//0", rf"{_WORD}{{60,}}"),
    *(("github token", f"gh{p}_", rf"{_ALNUM}{{36,}}") for p in "pousr"),
    ("github token", "github_pat_", r"\w{22,}"),
    *(
        ("gitlab token", f"gl{p}-", rf"{_WORD}{{20,}}")
        for p in ("pat", "dt", "ft", "soat", "rt", "cbt", "imt", "ptt", "agent", "oas", "ffct", "wt")
    ),
    ("gitlab token", "GR1348941", rf"{_WORD}{{20,}}"),
    ("bitbucket token", "ATBB", rf"{_ALNUM}{{24,}}"),
    ("atlassian token", "ATATT3", r"[A-Za-z0-9_=-]{50,}"),
    ("atlassian token", "ATCTT3", r"[A-Za-z0-9_=-]{50,}"),
    ("atlassian token", "ATTA", rf"{_HEX}{{64}}[A-F0-9]{{8}}"),
    *(("slack token", f"xox{p}-", r"[A-Za-z0-9.-]{10,}") for p in "abceoprs"),
    ("slack token", "xapp-", r"\d-[A-Za-z0-9-]{10,}"),
    ("slack token", "xoxe.xox", r"[bp]-\d-[A-Za-z0-9-]{40,}"),
    *(("stripe access key", f"{k}_{m}_", rf"{_ALNUM}{{16,}}") for k in ("sk", "rk") for m in ("live", "test", "prod")),
    ("stripe access key", "whsec_", r"[A-Za-z0-9+/=]{24,}"),
    ("anthropic api key", "sk-ant-", rf"{_WORD}{{16,}}"),
    ("openrouter api key", "sk-or-v1-", rf"{_HEX}{{40,}}"),
    ("api key", "sk-", rf"(?=[A-Za-z_-]{{0,60}}[0-9]){_WORD}{{20,}}"),
    ("hugging face token", "hf_", rf"{_ALNUM}{{30,}}"),
    ("hugging face token", "api_org_", rf"{_ALNUM}{{30,}}"),
    ("groq api key", "gsk_", rf"{_ALNUM}{{30,}}"),
    ("replicate token", "r8_", rf"{_ALNUM}{{30,}}"),
    ("perplexity api key", "pplx-", rf"{_ALNUM}{{32,}}"),
    ("xai api key", "xai-", rf"{_WORD}{{30,}}"),
    ("nvidia api key", "nvapi-", rf"{_WORD}{{30,}}"),
    ("fireworks api key", "fw_", rf"{_ALNUM}{{22,}}(?!\w)"),
    ("langsmith api key", "lsv2_", r"(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    ("tavily api key", "tvly-", rf"{_WORD}{{24,}}"),
    ("firecrawl api key", "fc-", rf"{_HEX}{{32}}"),
    ("e2b api key", "e2b_", rf"{_HEX}{{32,}}"),
    ("pinecone api key", "pcsk_", r"\w{40,}"),
    ("weights and biases key", "wandb_v1_", rf"{_WORD}{{40,}}"),
    ("elevenlabs api key", "sk_", rf"{_HEX}{{48}}(?!{_ALNUM})"),
    ("cartesia api key", "sk_car_", rf"{_WORD}{{20,}}"),
    ("cerebras api key", "csk-", r"[a-z0-9]{40,}"),
    ("mem0 api key", "m0-", rf"{_ALNUM}{{40}}(?!{_ALNUM})"),
    ("brave api key", "BSA", rf"{_WORD}{{28}}(?![A-Za-z0-9_-])"),
    ("kaggle token", "KGAT_", rf"{_HEX}{{32}}"),
    ("cursor api key", "key_", rf"{_HEX}{{64}}(?!{_ALNUM})"),
    ("cursor api key", "crsr_", rf"{_HEX}{{64}}"),
    *(("modal token", p, rf"(?=[A-Za-z]{{0,21}}\d){_ALNUM}{{22}}(?![A-Za-z0-9_-])") for p in ("ak-", "as-")),
    ("astra token", "AstraCS:", rf"{_ALNUM}{{24}}:{_HEX}{{64}}"),
    *(("digitalocean token", f"do{p}_v1_", rf"{_HEX}{{64}}") for p in "opr"),
    ("heroku token", "HRKU-", rf"{_WORD}{{36,}}"),
    ("cloudflare origin key", "v1.0-", rf"{_HEX}{{24}}-{_HEX}{{100,}}"),
    ("cloudflare token", "cfut_", rf"{_WORD}{{40,}}"),
    ("cloudflare token", "cfat_", rf"{_WORD}{{40,}}"),
    ("netlify token", "nfp_", rf"{_ALNUM}{{30,}}"),
    *(("vercel token", f"vc{p}_", rf"{_ALNUM}{{24,}}") for p in "piark"),
    ("vercel token", "vercel_blob_rw_", rf"{_ALNUM}{{16}}_{_ALNUM}{{24,}}"),
    ("fly token", "fo1_", rf"{_WORD}{{40,}}"),
    ("fly token", "FlyV1 fm2_", r"[A-Za-z0-9+/=,_]{50,}"),
    ("render token", "rnd_", rf"{_ALNUM}{{24,}}"),
    ("supabase token", "sbp_", rf"{_HEX}{{40}}"),
    ("supabase token", "sb_secret_", rf"{_WORD}{{20,}}"),
    *(("planetscale token", f"pscale_{p}_", r"[A-Za-z0-9_.=-]{32,}") for p in ("tkn", "pw", "oauth")),
    ("neon token", "napi_", rf"{_ALNUM}{{40,}}"),
    ("neon password", "npg_", rf"{_ALNUM}{{12,}}"),
    ("databricks token", "dapi", rf"{_HEX}{{32}}(?:-\d)?(?!{_ALNUM})"),
    ("databricks token", "dose", rf"{_HEX}{{32}}(?!{_ALNUM})"),
    ("cockroachdb key", "CCDB1_", rf"{_ALNUM}{{22}}_{_ALNUM}{{40}}"),
    ("tinybird token", "p.eyJ", rf"{_WORD}{{40,}}\.{_WORD}{{20,}}"),
    ("new relic key", "NRAK-", r"[A-Z0-9]{27}"),
    ("new relic key", "NRII-", rf"{_WORD}{{32}}"),
    *(("grafana token", p, r"[A-Za-z0-9_+/=-]{32,}") for p in ("glsa_", "glc_")),
    *(("sentry token", f"sntry{p}_", r"[A-Za-z0-9+/=_-]{50,}") for p in "su"),
    ("dynatrace token", "dt0c01.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("sumo logic key", "SUMO", rf"(?:ID|KEY)-{_ALNUM}{{30,}}"),
    ("posthog key", "phx_", rf"{_ALNUM}{{40,}}"),
    *(("axiom token", f"xa{p}t-", _UUID) for p in "aip"),
    ("grafana token", "eyJrIjoi", rf"{_B64}{{50,}}"),
    *(("honeycomb key", f"hc{p}k_", rf"{_ALNUM}{{56,}}") for p in ("ai", "am", "ax", "bi", "xi")),
    ("aiven password", "AVNS_", rf"{_WORD}{{16,}}"),
    ("runpod api key", "rpa_", r"[A-Z0-9]{40,}"),
    ("asana token", "2/1", rf"\d{{15}}/\d{{16}}:{_HEX}{{32}}"),
    # the first part is the bot's number in base64
    *(("discord bot token", p, rf"{_WORD}{{21,26}}\.{_WORD}{{6}}\.{_WORD}{{27,40}}") for p in _NUMBERS),
    ("launchdarkly key", "sdk-", _UUID),
    ("launchdarkly key", "api-", _UUID),
    ("sendgrid api key", "SG.", rf"{_WORD}{{20,24}}\.{_WORD}{{39,50}}"),
    ("mailgun api key", "key-", rf"{_HEX}{{32}}(?!{_ALNUM})"),
    ("mandrill api key", "md-", rf"{_WORD}{{22}}(?![A-Za-z0-9_-])"),
    ("brevo api key", "xkeysib-", rf"{_HEX}{{64}}-{_ALNUM}{{16}}"),
    ("brevo api key", "xsmtpsib-", rf"{_HEX}{{64}}-{_ALNUM}{{16}}"),
    ("resend api key", "re_", rf"{_ALNUM}{{8}}_{_ALNUM}{{20,}}"),
    ("mapbox token", "sk.eyJ", rf"{_WORD}{{40,}}\.{_WORD}{{20,}}"),
    *(("linear api key", f"lin_{p}_", rf"{_ALNUM}{{30,}}") for p in ("api", "oauth", "wh")),
    ("notion token", "ntn_", rf"{_ALNUM}{{40,}}"),
    ("notion token", "secret_", rf"{_ALNUM}{{43}}(?!{_ALNUM})"),
    *(("figma token", p, rf"{_WORD}{{36,}}") for p in ("figd_", "figo_", "figu_")),
    ("airtable token", "pat", rf"{_ALNUM}{{14}}\.{_HEX}{{64}}"),
    ("clickup token", "pk_", r"\d{6,9}_[A-Z0-9]{32}"),
    ("dropbox token", "sl.", rf"(?:u\.)?{_WORD}{{100,}}"),
    ("box token", "boxsk", rf"{_WORD}{{32,}}"),
    *(("shopify token", f"shp{p}_", r"[a-fA-F0-9]{32}") for p in ("at", "ss", "ca", "pa")),
    ("square oauth secret", "sq0csp-", rf"{_WORD}{{43}}"),
    ("square oauth secret", "sq0atp-", rf"{_WORD}{{22}}"),
    ("square access token", "EAAA", rf"{_WORD}{{60}}(?!{_ALNUM})"),
    ("facebook token", "EAA", rf"{_ALNUM}{{80,}}(?![A-Za-z0-9+/=])"),
    ("instagram token", "IGQV", rf"{_WORD}{{100,}}"),
    ("twitter bearer token", "A" * 20, r"(?=A{0,5}[B-Za-z0-9])[A-Za-z0-9%]{60,}"),
    ("npm token", "npm_", rf"{_ALNUM}{{36}}"),
    ("pypi token", "pypi-AgE", rf"{_WORD}{{50,}}"),
    ("rubygems key", "rubygems_", rf"{_HEX}{{48}}"),
    ("crates io token", "cio", rf"{_ALNUM}{{32}}(?!{_ALNUM})"),
    ("nuget api key", "oy2", r"[a-z0-9]{43}(?![A-Za-z0-9])"),
    ("clojars token", "CLOJARS_", rf"{_HEX}{{60}}"),
    *(("docker token", f"dckr_{p}_", rf"{_WORD}{{20,}}") for p in ("pat", "oat")),
    ("artifactory key", "AKCp", rf"{_ALNUM}{{60,}}"),
    ("artifactory key", "cmVmdGtu", rf"{_ALNUM}{{48,}}"),
    *(("vault token", f"hv{p}.", rf"{_WORD}{{20,}}") for p in "sbr"),
    *(
        ("doppler token", f"dp.{p}.", rf"(?:[a-z0-9_-]{{2,35}}\.)?{_ALNUM}{{40,44}}")
        for p in ("pt", "st", "ct", "sa", "scim", "audit")
    ),
    ("pulumi token", "pul-", rf"{_HEX}{{40}}"),
    *(("sonarqube token", f"sq{p}_", rf"{_HEX}{{40}}") for p in "apu"),
    *(("snyk token", f"snyk_{p}.", r"[a-z0-9]{8}\.[A-Za-z0-9_.-]{40,}") for p in ("uat", "sat")),
    ("sourcegraph token", "sgp_", rf"(?:{_HEX}{{16}}_|local_)?{_ALNUM}{{40,}}"),
    ("harness token", "pat.", rf"{_WORD}{{22}}\.{_ALNUM}{{24}}\.{_ALNUM}{{20}}"),
    ("stackhawk api key", "hawk.", rf"{_ALNUM}{{20}}\.{_ALNUM}{{20}}"),
    ("octopus api key", "API-", r"[A-Z0-9]{25,}(?![A-Za-z0-9_-])"),
    ("inngest signing key", "signkey-", rf"[a-z]{{3,12}}-{_HEX}{{32,}}"),
    ("infisical token", "st.", rf"{_HEX}{{24}}\.{_HEX}{{32}}\.{_HEX}{{32}}"),
    ("bitwarden token", "0.", rf"{_UUID}\.{_ALNUM}{{30}}:{_B64}{{22}}=="),
    ("packagist token", "packagist_", rf"[a-z]{{3}}_{_HEX}{{60,}}"),
    ("secret token", "secret-token:", r"[A-Za-z0-9._~%!$&'*+,;=:@-]{16,}"),  # RFC 8959
    ("infracost key", "ico-", rf"{_ALNUM}{{32}}"),
    ("scalr token", "at-", rf"{_ALNUM}{{64}}(?!{_ALNUM})"),
    ("prefect key", "pnu_", rf"{_ALNUM}{{36}}"),
    ("1password token", "ops_eyJ", rf"{_WORD}{{200,}}"),
    ("1password secret key", "A3-", r"[A-Z0-9]{6}-[A-Z0-9]{6,11}(?:-[A-Z0-9]{5}){3,4}"),
    ("circleci token", "CCIPAT_", rf"{_ALNUM}{{22}}_{_HEX}{{40}}"),
    ("buildkite token", "bkua_", rf"{_HEX}{{40}}"),
    ("postman api key", "PMAK-", rf"{_HEX}{{24}}-{_HEX}{{34}}"),
    ("readme api key", "rdme_", r"[a-z0-9]{70}"),
    ("tailscale key", "tskey-", rf"[a-z]+-{_WORD}{{20,}}"),
    ("contentful token", "CFPAT-", rf"{_WORD}{{43}}"),
    ("hubspot token", "pat-na", rf"\d-{_UUID}"),
    ("hubspot token", "pat-eu", rf"\d-{_UUID}"),
    ("klaviyo api key", "pk_", rf"{_HEX}{{34}}(?!{_ALNUM})"),
    *(("scrapfly api key", f"scp-{p}-", rf"{_HEX}{{32}}") for p in ("live", "test")),
    ("mailersend token", "mlsn.", rf"{_HEX}{{64}}"),
    ("intercom token", "dG9rO", rf"{_B64}{{40,}}={{0,2}}"),
    ("pagerduty token", "pdus+", rf"{_WORD}{{20,}}"),
    ("salesforce token", "00D", rf"{_ALNUM}{{12,15}}![A-Za-z0-9._]{{80,}}"),
    ("zoho token", "1000.", rf"{_HEX}{{32}}\.{_HEX}{{32}}"),
    *(("shippo token", f"shippo_{p}_", rf"{_HEX}{{40}}") for p in ("live", "test")),
    *(("woocommerce key", f"c{p}_", rf"{_HEX}{{40}}(?!{_ALNUM})") for p in "ks"),
    *(("easypost key", f"EZ{p}K", rf"{_ALNUM}{{54}}") for p in "AT"),
    ("zapier key", "sk-ak-", rf"{_WORD}{{32,}}"),
    ("plaid token", "access-production-", _UUID),
    ("paypal token", "A21AA", rf"{_WORD}{{60,}}"),
    *(("flutterwave key", f"FLWSECK{p}", r"[a-z0-9A-Z-]{20,}") for p in ("-", "_TEST-", "_LIVE-")),
    ("razorpay key", "rzp_live_", rf"{_ALNUM}{{14,}}"),
    ("adyen key", "AQE", rf"[A-Za-z0-9+/]{{40,200}}=?-{_B64}{{30,}}"),
    ("discord webhook", "discord.com/api/webhooks/", rf"\d{{17,20}}/(?P<s>{_WORD}{{60,}})"),
    ("discord webhook", "discordapp.com/api/webhooks/", rf"\d{{17,20}}/(?P<s>{_WORD}{{60,}})"),
    ("slack token", "https://hooks.slack.com/", r"[a-z]+/[A-Za-z0-9_/-]{30,}"),
    ("teams webhook", "webhook.office.com/webhookb2/", rf"[^\s/]{{70,80}}/IncomingWebhook/(?P<s>{_HEX}{{32}})"),
    ("zapier webhook", "hooks.zapier.com/hooks/catch/", rf"\d+/(?P<s>{_ALNUM}{{5,}})"),
    ("twilio api key", "SK", rf"{_HEX}{{32}}(?!{_ALNUM})"),
    ("azure storage account access key", "AccountKey=", rf"{_B64}{{80,90}}={{0,2}}"),
    ("age secret key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}"),
    ("wallet key", "xprv", rf"{_ALNUM}{{107,108}}(?!{_ALNUM})"),
    ("nostr secret key", "nsec1", r"[a-z0-9]{58}(?![A-Za-z0-9])"),
    ("json web token", "eyJ", rf"{_WORD}{{6,}}(?:\.{_WORD}*){{2,4}}"),
    *(("password hash", f"${p}$", r"[./A-Za-z0-9,=$+-]{20,}") for p in ("apr1", "1", "5", "6", "y")),
    *(("password hash", f"$2{p}$", r"\d\d\$[./A-Za-z0-9]{20,}") for p in "aby"),
    *(("password hash", f"$argon2{p}$", r"[A-Za-z0-9=,+/$]{30,}") for p in ("d", "i", "id")),
)
"""(what it is, how it begins, what follows); the whole match is the secret, or its group ``s``."""

_MOST: Final = 400
"""Characters after a beginning that are judged: a long text of beginnings alone would be read once for each of them."""
_STARTING: Final = PrefilteredPatterns(
    ((start,), (name, start, lazy_pattern(rest.replace(",}", f",{_MOST}}}")))) for name, start, rest in _STARTS
)
_DIGIT: Final = lazy_pattern(r"\d")
_REST: Final = lazy_pattern(r"(?:[A-Za-z0-9_\-+/=~]|\.(?=[A-Za-z0-9_\-]))*")
"""A token goes on to its end, also where its shape stops before."""
_TIGHT: Final = frozenset("_-+/")
"""What may not stand before a clue of letters and digits: there it is a part of something longer, often of base64."""


def _decode(value: str) -> bytes:
    try:
        return b64decode(value + "=" * (-len(value) % 4))
    except (Error, ValueError):
        return b""


def _is_private_key(value: str) -> bool:
    return b"PRIVATE KEY" in _decode(value[:80])


def _is_login(value: str) -> bool:
    return b":" in _decode(value)[1:]


def _is_any(_: str) -> bool:
    return True


_AROUNDS: Final[tuple[tuple[str, tuple[str, ...], int, int, str, Callable[[str], bool]], ...]] = (
    ("telegram bot token", (":aa",), 12, 60, rf"(?<!\d)\d{{8,10}}:AA{_WORD}{{33,40}}", _is_any),
    ("mailchimp access key", ("-us",), 33, 8, rf"(?<!{_ALNUM}){_HEX}{{32}}-us\d{{1,2}}(?!{_ALNUM})", _is_any),
    ("new relic key", ("nral",), 37, 6, rf"(?<!{_ALNUM}){_HEX}{{36}}NRAL", _is_any),
    ("azure client secret", ("q~",), 6, 50, rf"(?<!{_ALNUM})[\w~.-]{{3}}\dQ~[\w~.-]{{31,34}}", _is_any),
    ("azure key", ("jqqj99",), 52, 40, rf"(?<!{_ALNUM}){_ALNUM}{{52}}JQQJ99{_ALNUM}{{20,30}}", _is_any),
    ("azure devops token", ("azdo",), 76, 8, rf"(?<!{_ALNUM}){_ALNUM}{{76}}AZDO{_ALNUM}{{4}}", _is_any),
    ("maxmind licence key", ("_mmk",), 36, 4, rf"(?<!\w){_ALNUM}{{6}}_{_ALNUM}{{29}}_mmk", _is_any),
    ("terraform token", (".atlasv1.",), 16, 90, rf"{_ALNUM}{{14}}\.atlasv1\.[\w-]{{60,70}}", _is_any),
    (
        "discord bot token",
        ("discord", "bot.run", "client.login"),
        120,
        160,
        rf"(?<!{_ALNUM})[MNO]{_WORD}{{23,27}}\.{_WORD}{{6}}\.{_WORD}{{27,40}}",
        _is_any,
    ),
    (
        "aws secret key",
        ("akia", "asia"),
        80,
        120,
        rf"(?<![A-Za-z0-9/+=]){_B64}{{38,42}}(?![A-Za-z0-9/+=])",
        is_beside_key_id,
    ),
    ("asana token", ("asana",), 120, 120, rf"(?<!\w)\d/\d{{10,20}}(?:/\d{{10,20}})?:{_HEX}{{32}}", _is_any),
    ("azure signature", ("sig=",), 1, 220, r"(?<=[?&]sig=)[A-Za-z0-9%+/=]{30,200}", _is_any),
    ("private key", ("ls0tls1crudjti",), 0, 40_000, r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]{20,40000}", _is_private_key),
    (
        "basic auth credentials",
        ('"auth',),
        0,
        400,
        rf'"auth\\?"\s{{0,4}}:\s{{0,4}}\\?"(?P<s>{_B64}{{8,300}}={{0,2}})',
        _is_login,
    ),
)
"""(what it is, clues, how far before and after them it is looked for, its shape, a further test)."""

_PREFIXED: Final = lazy_pattern(
    r"(?<![A-Za-z0-9_/+.%@-])(?<!sha256=)(?<!sha512=)(?!(?:pk|pub|public|client|phc|cs|sha|md)\d*[_-])(?:[a-z]{2,16}|[A-Z]{2,12})\d{0,2}[_-]"
    r"(?=[A-Za-z0-9_-]{32})[A-Za-z0-9_-]*+"
)
"""A word and then 32 characters or more, as services form their keys today; what is public by its name is not meant."""
_BLOCK: Final = lazy_pattern(r"[A-Za-z0-9]{20,}+")

SHORTEST_KEY: Final = 15  # characters with its beginning, none of them white space
_LONG_RUN: Final = lazy_pattern(rf"\S{{{SHORTEST_KEY}}}")
AROUND: Final = PrefilteredPatterns(
    (clues, (name, clues, back, on, lazy_pattern(shape), is_one)) for name, clues, back, on, shape, is_one in _AROUNDS
)

KEY_BLOCK: Final = lazy_pattern(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[^-]{0,40000}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|(?:(?:\s|\\n)*[A-Za-z0-9+/=]{20,}+)*)"
)
"""A private key between its marks; without the second one, the lines of it that are there."""


def find_shapes(text: str, lower: str) -> Iterator[Found]:
    """Yield keys and tokens known by their shape; ``lower`` is the text in lower case, character by character."""
    if "PRIVATE KEY" in text:
        yield from ((*m.span(), "private key") for m in KEY_BLOCK.finditer(text))
    if _LONG_RUN.search(text) is not None:
        for name, start, rest in _STARTING.among(lower):
            yield from _find_start(text, name, start, rest)
        yield from ((*m.span(), "api key") for m in _PREFIXED.finditer(text) if _has_chance(m[0]))
    for name, clues, back, on, shape, is_one in AROUND.among(lower):
        for begin, stop in _windows(lower, clues, back, on):
            for match in shape.finditer(text, begin, stop):
                if is_one(secret := match["s"] if match.re.groups else match[0]):
                    at = match.end() - len(secret)
                    yield at, match.end(), name


def _find_start(text: str, name: str, start: str, rest: re.Pattern[str]) -> Iterator[Found]:
    at = text.find(start)
    while at >= 0:
        after = at + len(start)
        match = rest.match(text, after) if _is_apart(text, at, start) else None
        if match is not None and _is_varied(match[0]) and not is_sample(match[0]):
            whole = _REST.match(text, match.end())
            after = whole.end() if whole else match.end()
            yield (*match.span("s"), name) if "s" in rest.groupindex else (at, after, name)
        at = text.find(start, after)


def _is_apart(text: str, at: int, start: str) -> bool:
    """Whether what starts there is not the inside of a longer word."""
    if at == 0 or not start[0].isalnum():
        return True
    return not (text[at - 1].isalnum() or (text[at - 1] in _TIGHT and start.isalnum()))


def _has_chance(value: str) -> bool:
    return any(is_made_by_chance(block) for block in _BLOCK.findall(value))


def _is_varied(value: str) -> bool:
    """Whether a value looks random: a word in one case, without a digit, is a name."""
    return _DIGIT.search(value) is not None or value.lower() != value != value.upper()


def _windows(lower: str, clues: Iterable[str], back: int, on: int) -> Iterator[tuple[int, int]]:
    """Yield parts of a text around clues; they do not overlap."""
    found: list[int] = []
    for clue in clues:
        at = lower.find(clue)
        while at >= 0:
            found.append(at)
            at = lower.find(clue, at + len(clue))
    begin = stop = -1
    for at in sorted(found):
        if begin >= 0 and at - back > stop:
            yield begin, stop
            begin = -1
        begin = max(0, at - back) if begin < 0 else begin
        stop = at + on
    if begin >= 0:
        yield begin, stop
