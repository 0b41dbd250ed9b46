"""Every verb is a route with the parameters, defaults and errors of the Python method, walked from the declarations."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

import perdure
from conftest import Clock, ScriptedModel, opened, tables
from perdure.interfaces.http.openapi import openapi_document
from perdure.interfaces.http.routes import parameters_of, path_of
from perdure.records.errors import InvalidInput, NotFound, PerdureError
from perdure.records.wording import JSON, worded
from perdure.verbs.declaration import VERBS
from service.conftest import POLICY
from service.test_limits import serving

ALL = sorted(VERBS)
SAMPLES = {
    "text": "words",
    "integer": 3,
    "number": 0.8,
    "flag": True,
    "instant": "2026-01-01T00:00:00Z",
    "object": {"gates": {"golden": ""}},
    "texts": ["abcdef"],
    "objects": [{"role": "user", "content": "We deploy on Tuesdays."}],
    "texts or object": ["abcdef", "fedcba"],
}
WRONG = {
    "text": 7,
    "integer": "soon",
    "number": "much",
    "flag": "perhaps",
    "choice": "purple",
    "instant": "yesterday",
    "object": 7,
    "texts": 7,
    "choices": ["purple"],
    "objects": 7,
    "texts or object": 7,
}


def sample(parameter):
    if parameter.choices:
        return [parameter.choices[0]] if parameter.kind == "choices" else parameter.choices[0]
    value = SAMPLES[parameter.kind]
    if parameter.param.ge is not None and not isinstance(value, bool) and isinstance(value, int | float):
        return max(value, type(value)(parameter.param.ge))
    return value


def required(verb):
    return {p.name: sample(p) for p in parameters_of(verb) if p.required}


def refusal(answer):
    problem = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["status"] == answer.status_code
    assert problem["fault"] in {"caller", "policy", "store", "machine", "conflict"}
    assert problem["detail"]
    assert problem["type"] == f"urn:perdure:{problem['error']}"
    return problem


def in_python(verb, given):
    instants = {p.name for p in verb.parameters if p.kind == "instant"}
    return {name: datetime.fromisoformat(value) if name in instants else value for name, value in given.items()}


def python_error(memory, verb, arguments):
    try:
        getattr(memory, verb.method.__name__)(**arguments)
    except PerdureError as error:
        return error
    return None


@pytest.mark.parametrize("name", ALL)
def test_a_wrong_type_is_the_error_that_python_raises(client, memory, name):
    verb = VERBS[name]
    for parameter in parameters_of(verb):
        given = {**required(verb), parameter.name: WRONG[parameter.kind]}
        problem = refusal(answer := client.post(path_of(verb), json=given))
        assert answer.status_code == 422, given
        assert problem["error"] == "InvalidInput"
        assert parameter.name in problem["detail"]
        assert problem["remedy"]
        if parameter.kind not in {"instant", "objects"}:  # Python takes datetimes; items are checked by their verbs
            with worded(JSON):  # in other words
                error = python_error(memory, verb, in_python(verb, given))
            assert isinstance(error, InvalidInput)
            assert (problem["detail"], problem["remedy"]) == (error.message, error.remedy)


def test_a_body_holds_values_of_the_types_that_the_description_says(client, memory):
    kept = memory.remember("Deploys happen on Tuesdays.")
    for name, text in (("limit", "3"), ("touch", "false"), ("kinds", '["note"]'), ("min_relevance", "0.1")):
        given = {"query": "deploys", name: text}
        problem = refusal(answer := client.post("/v1/recall", json=given))
        assert (answer.status_code, problem["error"]) == (422, "InvalidInput")
        assert name in problem["detail"]
    assert refusal(client.post("/v1/recall", json={"query": "deploys", "limit": 3.5}))["error"] == "InvalidInput"
    whole = client.post("/v1/recall", json={"query": "deploys", "limit": 3.0, "min_relevance": 0})
    assert [hit["memory"]["id"] for hit in whole.json()["hits"]] == [kept.id]
    assert client.get("/v1/list?limit=3&include_archived=true").status_code == 200  # a query string has texts alone


@pytest.mark.parametrize("name", ALL)
def test_a_value_out_of_range_is_refused_with_pythons_words(client, memory, name):
    verb = VERBS[name]
    for parameter in parameters_of(verb):
        told = parameter.param
        beyond = [
            bound for bound in (told.ge is not None and told.ge - 1, told.le is not None and told.le * 2 + 1) if bound
        ]
        for bound in beyond:
            value = int(bound) if parameter.kind == "integer" else bound
            problem = refusal(client.post(path_of(verb), json={**required(verb), parameter.name: value}))
            assert problem["error"] == "InvalidInput"
            assert f"{parameter.name} must be a" in problem["detail"]
            assert str(value) in problem["detail"]


@pytest.mark.parametrize("name", ALL)
def test_a_missing_argument_an_unknown_one_and_a_wrong_body(client, name):
    verb = VERBS[name]
    for missing in required(verb):
        given = {k: v for k, v in required(verb).items() if k != missing}
        answer = client.post(path_of(verb), json=given)
        assert answer.status_code == 422
        assert refusal(answer)["detail"] == f"Missing argument: {missing}."
    answer = client.post(path_of(verb), json={**required(verb), "colour": 1})
    assert answer.status_code == 422
    assert "Unknown argument: 'colour'" in refusal(answer)["detail"]
    for body, status in ((b"{", 400), (b"[1]", 400), (b'{"a": NaN}', 400), (b"\xff\xfe", 400), (b"[" * 100_000, 400)):
        answer = client.post(path_of(verb), content=body, headers={"content-type": "application/json"})
        assert answer.status_code == status
        assert refusal(answer)["error"] == "RequestRefused"
    answer = client.post(path_of(verb), content=b"{}", headers={"content-type": "text/plain"})
    assert answer.status_code == 415
    refusal(answer)


def test_only_a_post_asks_a_language_model():
    """A HEAD asked it as a POST does."""
    model = ScriptedModel({"sentences": []})
    policy = {**POLICY, "model": {"base_url": "http://localhost:1/v1", "name": "m", "digest": True}}
    with opened(":memory:", policy, Clock(), model=model) as memory, serving(memory) as client:
        memory.remember("The Northwall staging server listens on port 8081.")
        memory.remember("The Northwall staging server is run by Jonas.")
        for method in ("GET", "HEAD"):
            for path in ("/v1/digest", "/memory-md"):
                assert client.request(method, path).status_code == 200
                assert model.asked == [], (method, path)
        assert client.post("/v1/digest", json={}).status_code == 200
        assert len(model.asked) == 1


def contents_of(memory):
    """All rows of a store, to see whether anything was done."""
    return list(memory.export())


def test_no_verb_takes_arguments_from_the_query_string_of_a_post():
    """They were left out of account: who asked for a dry run there changed the store."""
    clock = Clock()
    with perdure.open(":memory:", POLICY, clock=clock) as memory, serving(memory) as client:
        memory.remember_many([f"Server {n} listens on port {n}." for n in range(10)])
        clock.passes(days=200)
        before = contents_of(memory)
        for verb in VERBS.values():
            own = [f"{p.name}={json.dumps(sample(p))}" for p in parameters_of(verb)]
            for query in (*own, "dry_run=true", "colour=1", "=", "%ff", "&", "x" * 4000):  # also what cannot be read
                answer = client.post(f"{path_of(verb)}?{query}", json=required(verb))
                problem = refusal(answer)
                assert (answer.status_code, problem["error"]) == (422, "InvalidInput"), (verb.name, query)
                assert "query string" in problem["detail"]
                assert "body" in problem["remedy"]
        assert contents_of(memory) == before
        assert client.post("/v1/sweep?", json={"dry_run": True}).status_code == 200  # there is nothing in it
        assert client.post("/v1/sweep", json={}).status_code == 200
        assert contents_of(memory) != before  # there was something to do


@pytest.mark.parametrize("name", ALL)
def test_only_verbs_that_read_answer_get(client, name):
    verb = VERBS[name]
    answer = client.get(
        path_of(verb), params=[(k, v if isinstance(v, str) else json.dumps(v)) for k, v in required(verb).items()]
    )
    assert (answer.status_code == 405) == (not verb.reads)
    if not verb.reads:
        refusal(answer)
        assert "POST" in answer.headers["allow"]
    for method in ("put", "delete", "patch"):
        assert getattr(client, method)(path_of(verb)).status_code == 405


@pytest.mark.parametrize("name", [n for n in ALL if any(p.param.refers and p.required for p in VERBS[n].parameters)])
def test_an_id_that_is_not_there_is_not_found(client, memory, name):
    verb = VERBS[name]
    answer = client.post(path_of(verb), json=required(verb))
    problem = refusal(answer) if answer.status_code != 200 else None
    if problem is None:  # a list of ids: the verb reports each
        assert "abcdef" in answer.text
    else:
        assert (answer.status_code, problem["error"]) == (404, "NotFound")
        error = python_error(memory, verb, required(verb))
        assert error is None or isinstance(error, NotFound)


def test_the_results_are_those_of_python(client, memory):
    made = client.post("/v1/remember", json={"content": "Deploys happen on Tuesdays.", "tags": ["ops"]}).json()
    assert memory.get(made["id"]).content == "Deploys happen on Tuesdays."
    assert client.post("/v1/get", json={"id": made["id"]}).json() == json.loads(
        json.dumps(memory.get(made["id"]).to_dict())
    )
    recalled = client.post("/v1/recall", json={"query": "When do we deploy?", "touch": False}).json()
    assert [hit["memory"]["id"] for hit in recalled["hits"]] == [made["id"]]
    listed = client.get("/v1/list", params={"limit": "1", "tags": ["ops"], "kinds": ["note"]}).json()
    assert [item["id"] for item in listed["memories"]] == [made["id"]]
    assert client.get("/v1/list", params={"tags": ["ops", "dev"]}).json() == {"memories": []}
    many = client.post("/v1/remember-many", json={"items": [{"content": "One."}, {"content": "Two."}]}).json()
    assert [item["content"] for item in many["items"]] == ["One.", "Two."]


def test_a_hidden_memory_is_not_found_and_the_problem_says_how_to_see_it(client, memory):
    kept = memory.remember("Deploys happen on Tuesdays.")
    memory.forget(kept.id)
    answer = client.get("/v1/get", params={"id": kept.id})
    assert answer.status_code == 404
    problem = refusal(answer)
    assert problem["detail"] == f"The memory {kept.id} is archived."
    assert problem["remedy"] == "Pass include_archived=true."
    answers = [client.get(f"/v1/{name}", params={"id": "no-such"}) for name in ("get", "why")]
    assert {refusal(answer)["detail"] for answer in answers} == {"There is no memory 'no-such'."}
    assert client.get("/v1/get", params={"id": kept.id, "include_archived": "true"}).json()["id"] == kept.id


def tagged(client, name, etag=None, **params):
    return client.get(path_of(VERBS[name]), params=params, headers={"if-none-match": etag} if etag else {})


@pytest.fixture(scope="module")
def aging():
    """A memory with facts whose clock goes on, a client of its service, and what each reading verb is asked."""
    clock = Clock()
    with perdure.open(":memory:", {"preset": "facts", **POLICY}, clock=clock) as memory, serving(memory) as client:
        fact = {"subject": "Ana", "predicate": "home", "value": "Oslo"}
        kept = memory.remember("Ana lives in Oslo.", facts=[fact])
        memory.recall("Where does Ana live?")
        given = {"id": kept.id, "query": "Where does Ana live?", "name_or_id": "Ana", "days": "30"}
        asked = {
            verb.name: {p.name: given.get(p.name, "Ana") for p in parameters_of(verb) if p.required}
            for verb in VERBS.values()
            if verb.reads and all(p.kind != "object" for p in parameters_of(verb) if p.required)
        }
        yield clock, memory, client, asked


def test_a_read_that_says_the_same_a_while_later_is_not_sent_again(aging):
    clock, _, client, asked = aging
    assert len(asked) > 15
    for name, given in asked.items():
        first = tagged(client, name, **given)
        clock.passes(seconds=2)
        again = tagged(client, name, first.headers["etag"], **given)
        assert (again.status_code, again.content) == (304, b""), name
        for header, value in (("cache-control", "private, no-cache"), ("vary", "accept, authorization, cookie")):
            assert first.headers[header] == again.headers[header] == value, (name, header)
        assert first.headers["etag"] == again.headers["etag"]
        assert first.headers["etag"].startswith('W/"')


def test_an_etag_is_of_four_digits_and_changes_with_them(aging):
    clock, memory, client, asked = aging
    given = asked["get"]
    first = tagged(client, "get", **given)
    clock.passes(seconds=2)
    later = tagged(client, "get", **given)
    assert first.content != later.content  # its value has faded a little
    assert first.headers["etag"] == later.headers["etag"]
    clock.passes(days=1)
    faded = tagged(client, "get", first.headers["etag"], **given)
    assert (faded.status_code, faded.json()["value"] < later.json()["value"]) == (200, True)
    assert faded.headers["etag"] != first.headers["etag"]
    assert memory.get(given["id"]).access_count == 1  # by the recall: what is read by GET counts none


def test_a_read_is_sent_again_after_a_write(aging):
    _, memory, client, asked = aging
    names = ["get", "list", "stats", "facts", "digest", "history", "namespaces"]
    before = {name: tagged(client, name, **asked[name]).headers["etag"] for name in names}
    memory.remember("Mia lives in Bergen.", facts=[{"subject": "Mia", "predicate": "home", "value": "Bergen"}])
    memory.remember("Tea is green.", namespace="other")
    memory.pin(asked["get"]["id"])
    for name in names:
        changed = tagged(client, name, before[name], **asked[name])
        assert (changed.status_code, changed.headers["etag"] != before[name]) == (200, True), name
        weak = changed.headers["etag"]
        strong = weak.removeprefix("W/")
        assert strong.startswith('"')
        known = [weak, strong, f'"x", {weak}', f'W/"a, b",{strong},"y"', f" {strong} ", "*", " * "]
        for tags in known:
            assert tagged(client, name, tags, **asked[name]).status_code == 304, (name, tags)
        for tags in (strong.upper(), strong.strip('"'), f'"W/{strong[1:]}', f'"x, {strong[1:-1]}"', '"*"', '""', "W/"):
            assert tagged(client, name, tags, **asked[name]).status_code == 200, (name, tags)
        several = [("if-none-match", '"x"'), ("if-none-match", strong)]
        assert client.get(path_of(VERBS[name]), params=asked[name], headers=several).status_code == 304, name


def test_what_is_posted_or_refused_is_not_kept(client, memory):
    kept = memory.remember("Deploys happen on Tuesdays.")
    posted = client.post("/v1/get", json={"id": kept.id}, headers={"if-none-match": "*"})
    written = client.post("/v1/pin", json={"id": kept.id}, headers={"if-none-match": "*"})
    refused = tagged(client, "get", "*", id="no-such-id")
    lines = client.get("/v1/list", headers={"accept": "application/x-ndjson", "if-none-match": "*"})
    for answer, status in ((posted, 200), (written, 200), (refused, 404), (lines, 200)):
        assert (answer.status_code, answer.headers["cache-control"], "etag" in answer.headers) == (
            status,
            "no-store",
            False,
        )
        assert answer.content


def test_a_list_comes_as_lines_where_they_are_asked_for(client, memory):
    for number in range(250):
        memory.remember(f"Server {number} listens on port {8000 + number}.")
    answer = client.get("/v1/list", params={"limit": "1000"}, headers={"accept": "application/x-ndjson"})
    assert answer.headers["content-type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert lines == client.get("/v1/list", params={"limit": "1000"}).json()["memories"]
    assert len(lines) == 250


@pytest.mark.parametrize("name", [n for n in ALL if any(p.name == "touch" for p in VERBS[n].parameters)])
def test_without_touch_no_row_is_written(tmp_path, name):
    verb, path = VERBS[name], tmp_path / "agent.db"
    with perdure.open(path, POLICY) as memory:
        kept = memory.remember("Deploys happen on Tuesdays.")
        given = {**required(verb), **{p.name: "When do deploys happen?" for p in verb.parameters if p.name == "query"}}
        before = tables(path)
        with serving(memory) as client:
            answer = client.post(path_of(verb), json={**given, "touch": False})
            assert kept.id in answer.text
            assert tables(path) == before
            assert kept.id in client.post(path_of(verb), json=given).text
            assert tables(path) != before


def test_repair_cannot_be_told_a_file_of_the_machine(client):
    answer = client.post("/v1/repair", json={"source": "/etc/passwd"})
    assert answer.status_code == 422
    assert "Unknown argument: 'source'" in refusal(answer)["detail"]


def test_an_unexpected_failure_shows_no_internals(client, memory, monkeypatch):
    def fail(*_args, **_named):
        raise RuntimeError("secret: /home/me/.key")

    monkeypatch.setattr(type(memory), "stats", fail)
    answer = client.get("/v1/stats")
    assert answer.status_code == 500
    assert refusal(answer)["error"] == "InternalError"
    assert "secret" not in answer.text


def test_the_description_is_openapi_and_has_every_verb(client):
    document = client.get("/openapi.json").json()
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []
    assert document == json.loads(json.dumps(openapi_document()))
    assert sorted(document["paths"]) == sorted(["/v1/export", *(path_of(verb) for verb in VERBS.values())])
    for verb in VERBS.values():
        schema = document["paths"][path_of(verb)]["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert list(schema["properties"]) == [p.name for p in verb.parameters if not p.param.local]
        assert schema.get("required", []) == [p.name for p in verb.parameters if p.required]
        for parameter in parameters_of(verb):
            told = schema["properties"][parameter.name]
            assert told.get("minimum") == parameter.param.ge
            assert told.get("maximum") == parameter.param.le


def told_of(document, answer, method):
    """What a description says of an answer: the response object, its references followed."""
    path = answer.request.url.path
    told = document["paths"][path][method]["responses"][str(answer.status_code)]
    return document["components"]["responses"][told["$ref"].rpartition("/")[2]] if "$ref" in told else told


def parts_of(value):
    """All that is inside JSON data, itself included."""
    yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts_of(part)


def test_the_items_of_lists_are_described_as_they_come(client, memory):
    kept = memory.remember("Deploys happen on Tuesdays.", tags=["ops"], metadata={"a": 1})
    memory.archive(kept.id, "gone")
    memory.create_token("admin", "*", actor="ana")
    token = memory.create_token("admin", "*", actor="bo").secret
    document = client.get("/openapi.json").json()
    for verb in VERBS.values():
        answers = document["paths"][path_of(verb)]["post"]["responses"]["200"]["content"]["application/json"]
        assert {} not in list(parts_of(answers)), verb.name
    lists = {"list?include_archived=true": "memories", "list-tokens": "tokens", "history": "entries"}
    for asked, items in {**lists, f"history?id={kept.id}": "entries", "alerts": "alerts"}.items():
        name, _, query = asked.partition("?")
        given = {k: True if v == "true" else v for k, v in [query.split("=")]} if query else {}
        answer = client.post(f"/v1/{name}", json=given, headers={"authorization": f"Bearer {token}"})
        schema = told_of(document, answer, "post")["content"]["application/json"]["schema"]
        found = answer.json()
        assert found[items] or name == "alerts"
        assert list(Draft202012Validator(schema).iter_errors(found)) == []
        assert not Draft202012Validator(schema).is_valid({**found, items: [{}]})


def test_the_description_says_how_to_log_in_and_which_headers_come_and_go(memory):
    kept = memory.remember("Deploys happen on Tuesdays.")
    reader, agent = (memory.create_token(role, "*", actor="ana").secret for role in ("reader", "agent"))
    with serving(memory) as client, serving(memory, rate=0.01) as slow:
        document = client.get("/openapi.json").json()
        parts = document["components"]
        ((name, scheme),) = parts["securitySchemes"].items()
        assert {name: []} in document["security"]
        headers = {"authorization": f"{scheme['scheme'].capitalize()} {reader}"}
        first = client.get("/v1/list", headers=headers)
        sent = {parts["parameters"]["IfNoneMatch"]["name"]: first.headers["etag"]}
        answers = [first, client.get("/v1/list", headers={**headers, **sent})]
        answers += [client.get("/v1/list"), client.post("/v1/pin", json={"id": kept.id}, headers=headers)]
        answers.append([slow.get("/v1/list", headers=headers) for _ in range(3)][-1])
        assert [answer.status_code for answer in answers] == [200, 304, 401, 403, 429]
        for answer in answers:
            told = told_of(document, answer, answer.request.method.lower())
            assert set(told.get("headers", ())) == {
                name for name in ("ETag", "WWW-Authenticate", "Retry-After") if name in answer.headers
            }
            if answer.status_code != 304:
                assert answer.headers["content-type"] in told["content"]
        key = {parts["parameters"]["IdempotencyKey"]["name"]: "k", "authorization": f"Bearer {agent}"}
        given = [{"memory_ids": [kept.id], "amount": amount} for amount in (0.01, 0.02)]
        assert [client.post("/v1/strengthen", json=body, headers=key).status_code for body in given] == [200, 422]
    for verb in VERBS.values():
        posted = document["paths"][path_of(verb)]["post"].get("parameters", [])
        takes_key = {"$ref": "#/components/parameters/IdempotencyKey"} in posted
        assert takes_key is not (verb.reads or verb.shows_secret), verb.name


def test_an_item_of_remember_many_takes_what_its_description_says(client, memory):
    document = client.get("/openapi.json").json()
    body = document["paths"]["/v1/remember-many"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    told = body["properties"]["items"]["description"]
    left_out = set(re.search(r"the arguments of remember, without (\w+) and (\w+),", told).groups())
    assert " ISO 8601 " in told
    taken = {p.name for p in parameters_of(VERBS["remember"])} - left_out | {"speaker"}
    facts = [{"subject": "Ana", "predicate": "home", "value": "Oslo", "valid_from": "2026-01-01"}]
    samples = {p.name: sample(p) for p in parameters_of(VERBS["remember"])} | {"speaker": "Ana", "facts": facts}
    whole = {name: samples[name] for name in taken} | {"content": "Ana lives in Oslo.", "at": "2025-12-31T23:00:00Z"}
    answer = client.post("/v1/remember-many", json={"items": [whole]})
    assert answer.status_code == 200, answer.text
    kept = memory.get(answer.json()["items"][0]["id"])
    assert (kept.speaker, kept.created_at) == ("Ana", datetime(2025, 12, 31, 23, tzinfo=UTC))
    for name in left_out:
        refused = client.post("/v1/remember-many", json={"items": [{"content": "Tea.", name: samples[name]}]})
        assert f"Unknown argument: '{name}'" in refusal(refused)["detail"]
    for wrong, reason in (("yesterday", "is not an ISO 8601 date"), ("2025-12-31", "has no time zone")):
        refused = client.post("/v1/remember-many", json={"items": [{"content": "Tea.", "at": wrong}]})
        assert (refused.status_code, reason in refusal(refused)["detail"]) == (422, True)


def test_alive_and_ready(client, memory, monkeypatch):
    monkeypatch.setattr("perdure.interfaces.http.app.READY_SECONDS", 0.0)  # it is asked anew each time
    assert client.get("/healthz").json() == {"status": "ok"}
    ready = client.get("/readyz").json()
    assert (ready["status"], ready["writable"], ready["worker_lag_seconds"]) == ("ready", True, 0.0)
    memory.close()
    assert client.get("/healthz").status_code == 200
    answer = client.get("/readyz")
    assert answer.status_code >= 500


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('{"content": "first", "content": "second"}', "the key 'content' stands in one object 2 times"),
        ('{"content": "x", "metadata": {"a": 1, "a": 2}}', "the key 'a' stands in one object 2 times"),
        ('{"content": "x", "metadata": {"a": NaN}}', "NaN is not a JSON number"),
        ('{"content": "x",\n "tags": [}', "(line 2, column 11)"),
        (b'{"content": "\xff"}', "byte 14 is not valid UTF-8"),
    ],
)
def test_a_body_that_is_no_json_is_refused_with_the_place(client, memory, body, told):
    answer = client.post("/v1/remember", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert told in answer.json()["detail"]
    assert memory.list() == []


def test_a_browser_that_asks_for_an_unknown_page_gets_a_page(client):
    answer = client.get("/nowhere", headers={"accept": "text/html,application/xhtml+xml"})
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "There is no such page." in answer.text
    assert 'href="/"' in answer.text
    assert client.get("/nowhere").headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/v1/why_not", "POST /v1/why-not"),
        ("/v1/remember_many", "POST /v1/remember-many"),
        ("/v1/whyNot/", "POST /v1/why-not"),
        ("/why-not", "POST /v1/why-not"),
    ],
)
def test_a_verb_in_another_spelling_is_told_its_route(client, path, route):
    answer = client.post(path, json={})
    assert (answer.status_code, answer.json()["remedy"]) == (404, f"Use {route}.")
    assert client.post("/v1/nothing", json={}).json()["remedy"] == "See /openapi.json for the routes."
