"""What MEMORY.md shows of short statements that have neither a name nor a number: what holds, not what passes."""

from datetime import UTC, datetime

import pytest

import perdure


def lines(folder, *texts):
    said = [
        {"role": "user", "content": text, "at": datetime(2026, 3, 2, 9, at, tzinfo=UTC)}
        for at, text in enumerate(texts)
    ]
    with perdure.open(folder / "store.db", embedder="none") as memory:
        memory.ingest(said, session="one")
        return [line for line in memory.digest().splitlines() if line.startswith("- ")]


@pytest.mark.parametrize(
    "text",
    [
        "Please don't commit generated files.",
        "The build is slow, and never reformat what you did not change.",
        "Avoid global state.",
        "Prefer composition over inheritance.",
        "Never use tabs.",
        "No semicolons please.",
        "Stop adding comments to every line.",
        "You write novels, don't explain unless I ask.",
        "Bitte nie auf main pushen.",
        "N'utilise jamais les onglets.",
        "Verwende immer Tabs.",
        "Utilise toujours pytest.",
        "Please don't use emojis.",
        "We can't use Docker.",
        "Her mother is coeliac, properly.",
        "I don't drink alcohol.",
        "My son is lactose intolerant.",
        "I prefer dark mode.",
        "I want bullet points only.",
        "Je suis végétarien.",
    ],
)
def test_a_standing_order_or_state_is_shown(tmp_path, text):
    assert len(lines(tmp_path, text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Don't worry about it.",
        "Don't run the tests yet.",
        "Don't commit the change.",
        "Use the other file.",
        "Keep up the good work everyone.",
        "Use case is unclear.",
        "Never seen that before.",
        "No rush please.",
        "I can't find the file.",
        "I can't wait to see it.",
        "I don't get paid enough.",
        "I want coffee.",
        "We can't eat pizza tonight.",
        "It is the blind leading the blind.",
        "Das ist immer noch kaputt.",
        "Morgen immer Regen.",
        "Elle toujours malade.",
        "N'est pas malade.",
        "I tried it and use Excel daily.",
        "I tried it, and never use spreadsheets for it.",
        "I don't think unless you mean it.",
        "Don't add tests, I'll do that.",
        "We can't deploy changes because the build is broken.",
        "I can't open files.",
        "My laptop doesn't start properly.",
        "Bob doesn't answer emails these days.",
        "We don't eat pizza anymore.",
        "I prefer not to say.",
        "I love working with you!",
    ],
)
def test_what_is_of_the_moment_is_not(tmp_path, text):
    assert lines(tmp_path, text) == []


@pytest.mark.parametrize("text", ["Don't delete branch foo.", "Please don't use emojis."])
def test_a_short_order_has_its_place_and_no_more_importance(tmp_path, text):
    with perdure.open(tmp_path / "store.db", embedder="none") as memory:
        for said in (text, "My dog sleeps."):
            memory.ingest([{"role": "user", "content": said}], session="one")
        found = {m.content: m for m in memory.list()}
        assert found[text].importance == pytest.approx(found["My dog sleeps."].importance, abs=0.001)
        assert "## Rules and decisions" in memory.digest()
