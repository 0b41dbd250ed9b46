"""Evidence recall@10 on six BEAM conversations of 100 K tokens (CC BY-SA 4.0).

The memories are the user's messages and the evidence is those of them that a question names; ``--all`` takes the
assistant's messages in as well.
"""

from __future__ import annotations

import json
import re
import tarfile
from typing import Any

from chats import Chat, Kept, Question, data_file, measured
from perdure.records.memory import Message
from report import finished, parser

MARK = re.compile(r"\s*->->\s*[\d,\s]+$")


def chats(roles: set[str], *files: str) -> list[Chat]:
    """Return the conversations of some files with the messages of some roles."""
    return [chat for name in files or ("beam_dev.tar.gz",) for chat in _chats(roles, name)]


def _chats(roles: set[str], name: str) -> list[Chat]:
    found: dict[str, dict[str, Any]] = {}
    stem = name.partition("_dev")[0].partition("_val")[0].replace("_", "-")
    with tarfile.open(data_file(name)) as archive:
        for member in archive:
            if (file := archive.extractfile(member)) and member.name.endswith(".json"):
                chat = re.search(r"/(\d+)/", member.name)
                if chat:
                    found.setdefault(chat[1], {})[member.name.rpartition("/")[2]] = json.load(file)
    return [
        _chat(f"{stem}-{number}", parts["chat.json"], parts["probing_questions.json"], roles)
        for number, parts in sorted(found.items(), key=lambda pair: int(pair[0]))
        if "chat.json" in parts and "probing_questions.json" in parts
    ]


def _chat(name: str, batches: list[Any], asked: dict[str, list[Any]], roles: set[str]) -> Chat:
    messages = [
        Message(
            content=MARK.sub("", said["content"]),
            role=said["role"],
            session=f"batch-{batch['batch_number']}",
            source=str(said["id"]),
        )
        for batch in batches
        for group in batch["turns"]
        for said in group
        if said["role"] in roles
    ]
    known = {message.source for message in messages}
    questions = [
        Question(entry["question"], frozenset(evidence), str(entry.get("answer", "")), kind)
        for kind, entries in asked.items()
        for entry in entries
        if (evidence := {str(i) for i in _numbers(entry.get("source_chat_ids"))} & known)
    ]
    return Chat(name, messages, questions)


def _numbers(value: Any) -> list[int]:
    if isinstance(value, dict):
        return [n for inner in value.values() for n in _numbers(inner)]
    if isinstance(value, list):
        return [n for inner in value for n in _numbers(inner)]
    return [value] if isinstance(value, int) else []


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--all", action="store_true", help="also with the assistant's messages (slow to embed)")
    given = arguments.parse_args()
    embedder = Kept()
    rows = measured("BEAM", chats({"user"}), embedder, hybrid=0.70)
    if given.all:
        rows += measured("BEAM with assistant", chats({"user", "assistant"}), embedder)
    finished(rows, as_json=given.json)


if __name__ == "__main__":
    main()
