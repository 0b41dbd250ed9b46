import os
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import perdure_embedder
import pytest

import perdure
from perdure.models import inference, local
from perdure.models.inference import batches_by_length
from perdure.models.local import LocalEmbedder
from perdure.records.deadline import within
from perdure.records.errors import DeadlineExceeded, EmbedderError, InvalidInput
from perdure.records.installation import install_command

needs_model = pytest.mark.skipif(
    find_spec("onnxruntime") is None or find_spec("perdure_embedder") is None,
    reason="needs onnxruntime and the weights: pip install perdure[local]",
)


@pytest.fixture(scope="module")
def model():
    return LocalEmbedder()


def cosine(left, right):
    pairs = zip(struct.unpack("<384f", left), struct.unpack("<384f", right), strict=True)
    return sum(a * b for a, b in pairs)


@pytest.fixture(autouse=True)
def own_sessions(monkeypatch):
    """Each embedder opens its session, as outside of tests."""
    monkeypatch.setattr(inference, "open_session", inference.open_session.__wrapped__)


def one(model, text):
    return model.embed([text], purpose="document")[0]


MIXED = [
    "yes",
    "The user's sister Anna moved to Lisbon in March and started to work as a nurse.",
    "",
    "Deploys go out on Tuesdays. " * 12,
    "東京に住んでいます 😀",
    "How do I reset my password?",
    "a long one " * 200,
    "The build fails with exit code 137 when memory runs out.",
    "I like green tea",
    "SELECT * FROM memories WHERE namespace = ?",
    "no",
]


@needs_model
def test_related_sentences_are_closer_than_unrelated_ones(model):
    query, tea, build = model.embed(
        [
            "What does the user like to drink?",
            "Her favourite beverage is green tea.",
            "The build fails when memory runs out.",
        ],
        purpose="query",
    )
    assert cosine(query, tea) > cosine(query, build) + 0.2


@needs_model
def test_vectors_have_the_space_dimensions_and_length_one(model):
    for vector in model.embed(MIXED, purpose="document"):
        assert len(vector) == 4 * model.space.dimensions == 1536
        assert cosine(vector, vector) == pytest.approx(1.0, abs=1e-5)


@needs_model
def test_the_same_text_gives_the_same_bytes(model):
    assert (
        one(model, MIXED[1]) == one(model, MIXED[1]) == LocalEmbedder(threads=1).embed([MIXED[1]], purpose="query")[0]
    )


@needs_model
def test_company_does_not_change_a_vector_and_order_is_kept(model):
    together = model.embed(MIXED, purpose="document")
    alone = [one(model, text) for text in MIXED]
    assert min(map(cosine, together, alone)) > 0.9999
    # Were two texts exchanged, they would match others better than themselves.
    for position, vector in enumerate(together):
        assert max(range(len(alone)), key=lambda other: cosine(vector, alone[other])) == position


@needs_model
def test_text_beyond_256_tokens_is_not_seen(model):
    text = ("perdure keeps what an agent learns " * 300)[:10_000]
    assert len(text) == 10_000
    assert model.count_tokens(text) > 1000
    assert one(model, text) == one(model, text + " something else")
    assert one(model, text) != one(model, "something else " + text)


@needs_model
def test_empty_and_broken_texts_have_vectors(model):
    assert len(one(model, "")) == 1536
    assert one(model, "\ud800") == one(model, "")
    assert one(model, "tea\udc00") == one(model, "tea")
    assert model.embed([], purpose="query") == []


@needs_model
def test_many_threads_load_the_model_once(monkeypatch):
    opened = []
    open_session = inference.open_session
    monkeypatch.setattr(inference, "open_session", lambda *given: opened.append(1) or open_session(*given))
    fresh = LocalEmbedder()
    with ThreadPoolExecutor(8) as pool:
        vectors = set(pool.map(lambda _: one(fresh, "the same text"), range(16)))
    assert len(vectors) == 1
    assert len(opened) == 1


@needs_model
def test_a_fresh_process_prints_nothing_and_loads_late():
    script = (
        "import sys\n"
        "from perdure.models.local import LocalEmbedder\n"
        "model = LocalEmbedder(); model.space\n"
        "heavy = {'numpy', 'onnxruntime', 'tokenizers'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "model.count_tokens('hello'); assert not heavy & set(sys.modules)\n"
        "model.embed(['hello'], purpose='query')\n"
        "assert 'tokenizers' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@needs_model
def test_several_batches_give_the_same_bytes_by_any_number_of_threads_and_in_a_forked_process():
    texts = [f"{text} {n}" for n in range(8) for text in MIXED]
    alone = LocalEmbedder(threads=1).embed(texts, purpose="document")
    shared = LocalEmbedder(threads=4)
    assert shared.embed(texts, purpose="document") == alone
    child = os.fork()
    if child == 0:
        os._exit(0 if shared.embed(texts, purpose="document") == alone else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_space_names_the_weights_without_loading():
    space = LocalEmbedder().space
    assert (space.model, space.dimensions) == ("perdure-embedder", 384)
    assert perdure_embedder.SHA256[:12] in space.version


def test_tokens_are_counted_without_the_model():
    assert LocalEmbedder().count_tokens("Hello, world!") == 4


def test_one_string_is_refused_before_loading():
    with pytest.raises(InvalidInput):
        LocalEmbedder().embed("hello", purpose="query")


def test_damaged_weights_are_refused(tmp_path, monkeypatch):
    other = tmp_path / "model.onnx"
    other.write_bytes(b"other weights")
    monkeypatch.setattr(perdure_embedder, "model_path", lambda: other)
    model = LocalEmbedder()
    for _ in range(2):  # a failure is not remembered as a success
        with pytest.raises(EmbedderError, match="SHA-256") as caught:
            one(model, "hello")
        assert "--force-reinstall" in caught.value.remedy


def test_missing_weights_are_told(tmp_path):
    with pytest.raises(EmbedderError, match="cannot be read") as caught:
        one(LocalEmbedder(weights=tmp_path / "none.onnx"), "hello")
    assert install_command("local") in caught.value.remedy


@pytest.mark.parametrize("package", ["perdure_embedder", "onnxruntime"])
def test_a_missing_package_is_told(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)  # makes its import fail
    with pytest.raises(EmbedderError, match="not installed") as caught:
        one(LocalEmbedder(), "hello")
    assert install_command("local") in caught.value.remedy


@needs_model
def test_weights_that_the_runtime_refuses_are_told(tmp_path, monkeypatch, capfd):
    broken = tmp_path / "model.onnx"
    broken.write_bytes(b"no ONNX")
    with pytest.raises(EmbedderError, match="cannot load"):
        one(LocalEmbedder(weights=broken), "hello")
    assert capfd.readouterr() == ("", "")


class FailingSession:
    def run(self, *_):
        raise RuntimeError("bad allocation")


def test_a_failing_session_is_told(monkeypatch):
    pytest.importorskip("numpy")
    monkeypatch.setattr(inference, "embedder_weights", lambda: None)
    monkeypatch.setattr(inference, "open_session", lambda *_: FailingSession())
    with pytest.raises(EmbedderError, match="bad allocation"):
        one(LocalEmbedder(), "hello")


class RecordingSession:
    def __init__(self):
        self.feeds = []

    def run(self, _, feed):
        self.feeds.append(feed)
        return [feed["input_ids"][:, :, None].astype("float32").repeat(384, axis=2)]


def test_the_model_sees_start_text_end_and_padding_and_no_more_than_256_tokens(monkeypatch):
    pytest.importorskip("numpy")
    session = RecordingSession()
    monkeypatch.setattr(inference, "embedder_weights", lambda: None)
    monkeypatch.setattr(inference, "open_session", lambda *_: session)
    LocalEmbedder().embed(["tea " * 1000, "tea time", "tea"], purpose="document")
    long, short = sorted(session.feeds, key=lambda feed: len(feed["input_ids"]))
    assert short["input_ids"].tolist() == [[101, 5572, 102, 0], [101, 5572, 2051, 102]]
    assert short["attention_mask"].tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]]
    assert not short["token_type_ids"].any()
    assert long["input_ids"].tolist() == [[101] + [5572] * 254 + [102]]


def test_batches_hold_every_text_once_and_stay_small():
    tokens = [[0] * length for length in [256, 3, 90, 256, 17, 256, 5, 256, 256, 30, 3, 3, 3, 3, 3, 3, 3, 3]]
    batches = list(batches_by_length(tokens))
    assert sorted(position for batch in batches for position in batch) == list(range(len(tokens)))
    for batch in batches:
        assert len(batch) <= 8
        assert len(batch) * max(len(tokens[position]) for position in batch) <= 256


def test_the_runtime_tells_nobody_anything(tmp_path):
    """No file of a telemetry store is left in the user's folders, and it is switched off before the runtime loads."""
    pytest.importorskip("onnxruntime")
    code = (
        "from perdure.models.local import LocalEmbedder; import os;"
        "LocalEmbedder().embed(['hello'], purpose='query'); print(os.environ['ORT_DISABLE_TELEMETRY'])"
    )
    source = str(Path(perdure.__file__).parents[1])
    environment = {"HOME": str(tmp_path), "PYTHONPATH": source, "PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "1", done.stderr
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


@needs_model
@pytest.mark.parametrize("threads", [1, 2])
def test_many_texts_are_left_when_the_calls_time_is_over(monkeypatch, threads):
    done = []

    def slow(session, batch):
        time.sleep(0.02)
        done.append(len(batch))
        return run(session, batch)

    run = local._mean_states
    monkeypatch.setattr(local, "_mean_states", slow)
    texts = [f"number {i}" for i in range(4000)]
    embedder = LocalEmbedder(threads=threads)
    embedder.embed(texts[:1], purpose="document")  # loads the model
    done.clear()
    with within(0.5), pytest.raises(DeadlineExceeded):
        embedder.embed(texts, purpose="document")
    assert 0 < sum(done) < len(texts)
