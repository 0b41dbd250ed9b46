"""What the model of ``supersession.py`` tells apart, on texts whose writers had seen neither its data nor each other's.

Usage: python training/supersession_figures.py FOLDER_OF_WEIGHTS

Printed for several bounds of the chance that the later text makes the earlier one untrue:

- held-out groups and conversations of its own data: precision and recall of pairs;
- ``changed``: in what share of the pairs of an old and a current value, of both sides of a contradiction, of decoys and
  of siblings (two things of one kind) it says so; standard errors are over chats;
- ``days``: how many messages with a value that is over it finds, how many that a person would keep it takes for over,
  and how many others. Each message is compared with the earlier statements nearest to it in meaning.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch

from encoder import Encoder
from perdure.records.memory import Sort
from perdure.rules.worth import sort_of
from supersession import JUDGED, Pair, PairEncoder, groups, load, split, talks

BOUNDS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
NEAREST = 5
LEAST = 0.2
"""Earlier statements that a message is compared with: so many, from this cosine of the base model on."""
SILENT = (Sort.QUESTION, Sort.SMALL_TALK)


def over_chances(model: PairEncoder, pairs: list[Pair]) -> np.ndarray:
    """Return how likely each pair does not hold, shape (pairs,)."""
    chances = model.chances(pairs)
    return chances[:, 1] + chances[:, 2]


def own_figures(model: PairEncoder) -> None:
    """Print precision and recall of held-out pairs."""
    held = {
        "groups": [
            Pair(g.earlier, text, label)
            for g in split(groups())[1]
            for label, listed in enumerate((g.kept, g.over, g.contradicting))
            for text in listed
        ],
        "conversations": [
            talk.pair(b, a) for talk in split(talks())[1] for b in range(len(talk.messages)) for a in range(b)
        ],
    }
    for name, pairs in held.items():
        chance, true = over_chances(model, pairs), np.array([p.label > 0 for p in pairs])
        told = [
            f"{b}: {true[chance >= b].mean():.2f} and {(chance >= b)[true].mean():.2f}"
            for b in BOUNDS
            if (chance >= b).any()
        ]
        print(f"held-out {name}, {true.sum()} of {len(true)} pairs over; precision and recall from {'; '.join(told)}")


def changed_pairs() -> dict[tuple[str, str], list[tuple[str, Pair]]]:
    """Return (file, kind) -> (chat, pair) of the short chats."""
    found = defaultdict(list)
    for file in ("open", "locked", "siblings_open", "siblings_locked", "restated_open", "restated_locked"):
        for line in (JUDGED / "changed" / f"{file}.jsonl").read_text("utf-8").splitlines():
            chat = json.loads(line)
            told = [m["content"] for m in chat["messages"]]
            listed = [("old and current", o, c) for q in chat["changes"] for o in q["old"] for c in q["current"]]
            listed += [("siblings", q["asked"], q["other"]) for q in chat.get("siblings", ())]
            listed += [("both sides", *q["sides"]) for q in chat["contradictions"]]
            listed += [("decoys", *q["pair"]) for q in chat["decoys"]]
            for kind, one, other in listed:
                first, last = sorted((one, other))
                found[file, kind].append((chat["chat"], Pair(told[first], told[last], 0)))
    return found


def changed_figures(model: PairEncoder) -> None:
    """Print in what share of the pairs of short chats the model says that the earlier one is over."""
    for (file, kind), listed in sorted(changed_pairs().items()):
        chance = over_chances(model, [pair for _, pair in listed])
        told = []
        for bound in BOUNDS:
            by_chat = defaultdict(list)
            for (chat, _), one in zip(listed, chance, strict=True):
                by_chat[chat].append(one >= bound)
            share, means = (chance >= bound).mean(), [np.mean(v) for v in by_chat.values()]
            told.append(f"{bound}: {100 * share:.0f} ± {100 * np.std(means, ddof=1) / np.sqrt(len(means)):.0f} %")
        print(f"{file}, {kind}, {len(listed)} pairs, said to be over from {'; '.join(told)}", flush=True)


def day_figures(model: PairEncoder) -> None:
    """Print what the model finds over on the scripted days."""
    encoder, rows = Encoder(), []
    for path in sorted((JUDGED / "days").glob("*.toml")):
        day = tomllib.loads(path.read_text("utf-8"))
        lines = [line.partition(": ") for s in day["sessions"] for line in s["said"].strip().splitlines()]
        said = [text for role, _, text in lines if role != "assistant"]
        said = [text for text in said if sort_of(text, "user", answers=False)[0] not in SILENT]
        cosine = encoder.embed(said)
        cosine = cosine @ cosine.T
        pairs = [
            (earlier, later)
            for later in range(len(said))
            for earlier in np.argsort(-cosine[later, :later])[:NEAREST]
            if cosine[later, earlier] >= LEAST
        ]
        chance = np.zeros(len(said))
        for (earlier, _), one in zip(
            pairs, over_chances(model, [Pair(said[a], said[b], 0) for a, b in pairs]), strict=True
        ):
            chance[earlier] = max(chance[earlier], one)
        kept = [any(all(word in text for word in words) for words in day["kept"]) for text in said]
        rows += zip(chance, (any(w in text for w in day["outdated"]) for text in said), kept, strict=True)
    chance, old, kept = (np.array(column) for column in zip(*rows, strict=True))
    kinds = {"old": old, "to keep": kept & ~old, "others": ~kept & ~old}
    for bound in BOUNDS:
        told = [f"{(kind & (chance >= bound)).sum()} of {kind.sum()} {name}" for name, kind in kinds.items()]
        print(f"days, said to be over from {bound}: {', '.join(told)}")


def main() -> None:
    """Print all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=Path)
    torch.set_num_threads(1)
    model = load(parser.parse_args().weights)
    own_figures(model)
    changed_figures(model)
    day_figures(model)


if __name__ == "__main__":
    main()
