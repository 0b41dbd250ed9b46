import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import budget
from perdure.models import wordpiece
from perdure.models.wordpiece import UNKNOWN, WordPiece
from perdure.records.errors import EmbedderError

WORDPIECE = WordPiece()
PIECES = {}


def pieces(text):
    if not PIECES:
        PIECES.update({number: piece for piece, number in WORDPIECE._ids.items()})
    return [PIECES[number] for number in WORDPIECE.ids(text)]


@pytest.fixture(scope="module")
def reference():
    tokenizers = pytest.importorskip("tokenizers", reason="the reference tokenizer is not installed")
    model = tokenizers.models.WordPiece(vocab=dict(WORDPIECE._ids), unk_token="[UNK]")  # noqa: S106  # a token of text
    made = tokenizers.Tokenizer(model)
    made.normalizer = tokenizers.normalizers.BertNormalizer()
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return lambda text: made.encode(text, add_special_tokens=False).ids


def test_known_cuts():
    assert pieces("Unaffable, she said: $5!") == ["una", "##ffa", "##ble", ",", "she", "said", ":", "$", "5", "!"]
    assert pieces("CAFÉ naïve ÅNGSTRÖM") == ["cafe", "naive", "ang", "##strom"]
    assert pieces("東京 is big") == ["東", "京", "is", "big"]
    assert pieces("a\u200bb\x00c\td\u2028e") == ["abc", "d", "e"]


def test_a_word_of_more_than_100_characters_is_unknown():
    assert WORDPIECE.ids("a" * 101) == [UNKNOWN]
    assert UNKNOWN not in WORDPIECE.ids("a" * 100)


def test_no_piece_is_too_long_to_be_tried():
    assert max(len(piece.removeprefix("##")) for piece in WORDPIECE._ids) == wordpiece._LONGEST_PIECE


def test_special_tokens_in_a_text_are_plain_text():
    assert pieces("[SEP]") == ["[", "sep", "]"]


def test_lone_surrogates_are_dropped():
    assert WORDPIECE.ids("a\ud800b") == WORDPIECE.ids("ab")
    assert WORDPIECE.ids("\udfff") == []


@settings(deadline=None)
@given(st.text(max_size=60), st.integers(0, 30))
def test_a_limit_gives_the_beginning(text, limit):
    assert WORDPIECE.ids(text, limit) == WORDPIECE.ids(text)[:limit]


def settled(character):
    """Tell whether the character means the same in Unicode 3.2 and now: tables of different years then agree."""
    return unicodedata.category(character) == unicodedata.ucd_3_2_0.category(character) not in {"Cn", "Cs"}


SCRIPTS = (
    (0x00, 0x24F),  # Latin with accents, and controls
    (0x370, 0x3FF),  # Greek: final sigma, Greek question mark
    (0x400, 0x4FF),
    (0x590, 0x6FF),  # Hebrew, Arabic
    (0x900, 0x97F),  # Devanagari: spacing and nonspacing marks
    (0x1E00, 0x206F),  # more Latin, general punctuation, odd spaces
    (0x3000, 0x30FF),
    (0x4E00, 0x4FFF),
    (0xAC00, 0xADFF),  # Hangul: decomposes
    (0xF900, 0xFFFF),
    (0x1D400, 0x1D4FF),
    (0x20000, 0x200FF),
)
SETTLED = [chr(c) for first, last in SCRIPTS for c in range(first, last + 1) if settled(chr(c))]
EMOJI = "😀👍🏽❤️👨‍👩‍👧🇩🇪"
words = st.sampled_from(["running", "Müller", "don't", "e\u0301tude", "東京", "İstanbul", "ΣΊΣΥΦΟΣ", "x" * 120, EMOJI])
mixed = st.lists(st.one_of(words, st.text(st.sampled_from(SETTLED), max_size=8)), max_size=12).map(" ".join)


@settings(max_examples=budget(75, 1200), deadline=None)
@given(text=st.one_of(mixed, st.text(st.sampled_from(SETTLED), max_size=60)))
def test_the_ids_are_those_of_the_reference(reference, text):
    assert WORDPIECE.ids(text) == reference(text)


def test_every_settled_character_is_folded_as_by_the_reference(reference):
    text = "".join(f"a{character}b " for character in SETTLED)
    assert WORDPIECE.ids(text) == reference(text)


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe", b"[PAD]\n[UNK]\n"])
def test_a_damaged_vocabulary_is_refused(tmp_path, content):
    path = tmp_path / "vocab.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(EmbedderError, match=r"vocab\.txt") as caught:
        WordPiece(path)
    assert caught.value.remedy


def test_hostile_text_cannot_fill_the_table():
    fresh = WordPiece()
    for first in range(0, 0x110000, 0x8000):
        fresh.ids("".join(map(chr, range(first, first + 0x8000, 5))))
    assert len(fresh._folded) <= 50_000
