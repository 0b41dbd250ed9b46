"""Evidence recall@10 on five LoCoMo conversations (Maharana et al. 2024, CC BY-NC 4.0), categories 1 to 4."""

from __future__ import annotations

import gzip
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from chats import Chat, Kept, Question, data_file, measured
from perdure.records.memory import Message
from report import finished, parser

ADVERSARIAL = 5
KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}


def chats(*files: str) -> list[Chat]:
    """Return the conversations of some files; the text of a picture stands in brackets after the words."""
    named = files or ("locomo_dev.json.gz",)
    return [_chat(sample) for name in named for sample in json.loads(gzip.decompress(data_file(name).read_bytes()))]


def _chat(sample: dict[str, Any]) -> Chat:
    talk = sample["conversation"]
    sessions = [key for key in talk if re.fullmatch(r"session_\d+", key)]
    messages = []
    for session in sorted(sessions, key=lambda key: int(key.split("_")[1])):
        start = datetime.strptime(talk[f"{session}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for turn, said in enumerate(talk[session]):
            picture = said.get("blip_caption")
            messages.append(
                Message(
                    content=said["text"] + (f" [{picture}]" if picture else ""),
                    speaker=said["speaker"],
                    at=start + timedelta(minutes=turn),
                    session=session,
                    source=said["dia_id"],
                )
            )
    known = {message.source for message in messages}
    questions = []
    for asked in sample["qa"]:
        named = {name for entry in asked["evidence"] for name in re.findall(r"D\d+:\d+", entry.replace("D:", "D"))}
        if asked["category"] != ADVERSARIAL and (evidence := named & known):
            answer, kind = str(asked.get("answer", "")), KINDS[asked["category"]]
            questions.append(Question(asked["question"], frozenset(evidence), answer, kind))
    return Chat(sample["sample_id"], messages, questions)


def main() -> None:
    arguments = parser(__doc__).parse_args()
    finished(measured("LoCoMo", chats(), Kept(), hybrid=0.75, lexical=0.60), as_json=arguments.json)


if __name__ == "__main__":
    main()
