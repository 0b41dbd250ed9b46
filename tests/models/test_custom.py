import numpy as np
import pytest

from perdure.models.vectors import CallableEmbedder, to_vector
from perdure.records.errors import EmbedderError, InvalidInput


def lengths(texts):
    return [[float(len(text)), 1.0] for text in texts]


def embedder(function, **keywords):
    return CallableEmbedder(function, name="lengths", **keywords)


def test_lists_and_arrays_give_the_same_vectors():
    expected = [to_vector([1.0, 1.0]), to_vector([3.0, 1.0])]
    assert embedder(lengths).embed(["a", "abc"], purpose="query") == expected
    assert embedder(lambda texts: np.array(lengths(texts))).embed(["a", "abc"], purpose="document") == expected
    assert embedder(lambda texts: list(np.array(lengths(texts)))).embed(["a", "abc"], purpose="query") == expected


def test_the_space_is_known_after_the_first_call():
    lazy = embedder(lengths, version="7")
    with pytest.raises(EmbedderError, match="dimensions"):
        _ = lazy.space
    lazy.embed(["a"], purpose="query")
    assert (lazy.space.model, lazy.space.dimensions, lazy.space.version) == ("lengths", 2, "7")


def test_the_space_is_known_at_once_when_given():
    assert embedder(lengths, dimensions=2).space.dimensions == 2


def test_no_texts_no_call():
    def never(_):
        raise AssertionError

    assert embedder(never).embed([], purpose="query") == []


def test_one_string_is_refused_before_the_call():
    with pytest.raises(InvalidInput):
        embedder(lengths).embed("abc", purpose="query")


REPLIES = {
    "too few": ([[1.0, 2.0]], "1 vectors for 2 texts"),
    "too many": ([[1.0, 2.0]] * 3, "3 vectors for 2 texts"),
    "ragged": ([[1.0, 2.0], [1.0]], "1 values, expected 2"),
    "nan": ([[1.0, float("nan")], [1.0, 2.0]], "NaN"),
    "zeros": ([[0.0, 0.0], [1.0, 2.0]], "zero"),
    "flat": ([1.0, 2.0], "float"),
    "none": (None, "NoneType"),
    "generator": ((row for row in [[1.0], [2.0]]), "generator"),
    "one number": (np.float64(1.0), "float"),
    "deep array": (np.ones((2, 2, 2)), "list"),
}


@pytest.mark.parametrize(("reply", "match"), REPLIES.values(), ids=REPLIES.keys())
def test_wrong_replies_are_refused(reply, match):
    with pytest.raises(EmbedderError, match=match):
        embedder(lambda _: reply).embed(["a", "b"], purpose="document")


def test_dimensions_may_not_change_between_calls():
    replies = iter([[[1.0, 2.0]], [[1.0, 2.0, 3.0]]])
    changing = embedder(lambda _: next(replies))
    changing.embed(["a"], purpose="query")
    with pytest.raises(EmbedderError, match="3 values, expected 2"):
        changing.embed(["a"], purpose="query")


def test_given_dimensions_bind_the_first_reply():
    with pytest.raises(EmbedderError, match="2 values, expected 3"):
        embedder(lengths, dimensions=3).embed(["a"], purpose="query")


def test_an_exception_in_the_function_is_told_and_kept():
    def broken(_):
        raise KeyError("model")

    with pytest.raises(EmbedderError, match="lengths raised KeyError") as caught:
        embedder(broken).embed(["a"], purpose="query")
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_function_that_empties_its_argument_is_still_counted():
    def greedy(texts):
        rows = lengths(texts)
        texts.clear()
        return rows[:1]

    with pytest.raises(EmbedderError, match="1 vectors for 2 texts"):
        embedder(greedy).embed(["a", "b"], purpose="query")
