"""Train a small model that says how likely a later statement makes an earlier one untrue.

It reads both texts together (a cross-encoder), starting from the base of the embedder. Its data was written for it
(``supersession/``, Apache-2.0): *groups* (an earlier statement, later ones that make it untrue, contradict it, or leave
it as it is) and *conversations* (what one person writes over time, with every pair that is over). Every tenth group and
conversation is held out. Nothing else is trained on; ``days`` and ``changed`` judge it, their writers had not seen it.

Usage: python training/supersession.py OUTPUT_FOLDER [--epochs N] [--layers N] [--threads N]
"""

from __future__ import annotations

import argparse
import json
import random
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from encoder import Encoder

FOLDER = Path(__file__).resolve().parent / "supersession"
JUDGED = Path(__file__).resolve().parent
HELD_OUT = 10
"""Every tenth group and conversation is not trained on."""
RESTYLED = 0.25
"""How often a text is drawn with its full stop, or the case of its first letter, the other way round."""
CLASSES = ("holds", "over", "contradicted")


@dataclass(frozen=True)
class Recipe:
    """What a training depends on, beside its data."""

    epochs: int = 3
    layers: int = 6  # of the base, from the first on
    batch: int = 32
    rate: float = 6e-5
    head_rate: float = 6e-4
    warm_up: float = 0.1
    tokens: int = 128  # of both texts together
    nearest: int = 16  # texts of other groups from which near ones are drawn
    kept: int = 4  # texts of a group that leave the earlier one as it is, each epoch
    crossed: int = 2  # pairs of a group's other things and what changes the first, in either order: both hold
    per_pair: int = 3  # pairs of a conversation that hold, for each that does not
    seed: int = 7


@dataclass(frozen=True)
class Pair:
    """Two texts in order of time, and which of ``CLASSES`` holds of the earlier one."""

    earlier: str
    later: str
    label: int


@dataclass(frozen=True)
class Group:
    """An earlier statement and later ones by what they do to it."""

    earlier: str
    over: tuple[str, ...]
    contradicting: tuple[str, ...]
    kept: tuple[str, ...]  # other things, and the same in other words
    others: tuple[str, ...]  # other things alone


@dataclass(frozen=True)
class Talk:
    """What one person writes over time; pairs are (later, earlier) places."""

    messages: tuple[str, ...]
    over: frozenset[tuple[int, int]]
    contradicting: frozenset[tuple[int, int]]

    def pair(self, later: int, earlier: int) -> Pair:
        """Return two messages with their label."""
        label = 1 if (later, earlier) in self.over else 2 if (later, earlier) in self.contradicting else 0
        return Pair(self.messages[earlier], self.messages[later], label)


class PairEncoder(nn.Module):
    """Two texts, read together, to one number for each class."""

    def __init__(self, tokens: int, layers: int) -> None:
        super().__init__()
        encoder = Encoder()
        self.base, self.tokenizer = encoder.model, encoder.tokenizer
        self.base.encoder.layer = self.base.encoder.layer[:layers]
        self.base.embeddings.word_embeddings.weight.requires_grad = False  # half of the weights; rare words stay
        self.tokenizer.enable_truncation(tokens)
        self.head = nn.Linear(self.base.config.hidden_size, len(CLASSES))
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    def forward(self, pairs: list[Pair]) -> torch.Tensor:
        """Return logits, shape (pairs, classes)."""
        encoded = self.tokenizer.encode_batch([(p.earlier, p.later) for p in pairs])
        ids, mask, types = (
            torch.tensor([getattr(e, n) for e in encoded]) for n in ("ids", "attention_mask", "type_ids")
        )
        states = self.base(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state
        weight = mask.unsqueeze(-1).float()
        return self.head((states * weight).sum(1) / weight.sum(1))

    @torch.no_grad()
    def chances(self, pairs: list[Pair], batch: int = 64) -> np.ndarray:
        """Return how likely each class is, shape (pairs, classes)."""
        self.eval()
        order = sorted(range(len(pairs)), key=lambda i: len(pairs[i].earlier) + len(pairs[i].later))
        found = np.zeros((len(pairs), len(CLASSES)))
        for start in range(0, len(order), batch):
            part = order[start : start + batch]
            found[part] = self([pairs[i] for i in part]).softmax(-1).numpy()
        return found


def _read(name: str) -> list[dict]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]


def groups() -> list[Group]:
    """Return all groups, in their order."""
    return [
        Group(
            row["earlier"],
            *(
                tuple(t for k in keys for t in row.get(k, ()))
                for keys in (("over",), ("conflict",), ("other", "same"), ("other",))
            ),
        )
        for row in _read("groups")
    ]


def talks() -> list[Talk]:
    """Return all conversations, in their order."""
    return [
        Talk(
            tuple(row["messages"]),
            frozenset(map(tuple, row["outdates"])),
            frozenset(map(tuple, row.get("conflicts", ()))),
        )
        for row in _read("conversations")
    ]


def split(listed: list) -> tuple[list, list]:
    """Return what is trained on, and what is held out."""
    return [x for n, x in enumerate(listed) if n % HELD_OUT], listed[::HELD_OUT]


def restyled(text: str, rng: random.Random) -> str:
    """Return a text as somebody else would type it: sometimes with or without a full stop or a capital at its start."""
    if rng.random() < RESTYLED:
        text = text[:-1] if text.endswith(".") else text if text[-1:] in "!?" else f"{text}."
    if rng.random() < RESTYLED:
        text = (text[:1].lower() if text[:1].isupper() else text[:1].upper()) + text[1:]
    return text


class Drawing:
    """Draws the pairs of an epoch: those that are over, and beside them some that hold, near ones first of all."""

    def __init__(self, some: list[Group], said: list[Talk], recipe: Recipe, encoder: Encoder) -> None:
        self.groups, self.talks, self.recipe = some, said, recipe
        later = [
            (n, t, k)
            for n, g in enumerate(some)
            for k, listed in enumerate((g.over, g.contradicting, g.kept))
            for t in listed
        ]
        texts = [t for _, t, _ in later]
        cosine = encoder.embed([g.earlier for g in some]) @ encoder.embed(texts).T
        own = np.array([n for n, _, _ in later])
        cosine[own[None, :] == np.arange(len(some))[:, None]] = -1.0
        changing = np.array([k < 2 for _, _, k in later])
        self._near = [[texts[i] for i in row] for row in np.argsort(-cosine, axis=1)[:, : recipe.nearest]]
        cosine[:, ~changing] = -1.0
        self._changing = [[texts[i] for i in row] for row in np.argsort(-cosine, axis=1)[:, : 2 * recipe.nearest]]
        vectors = [encoder.embed(talk.messages) for talk in said]
        self._alike = [v @ v.T for v in vectors]

    def epoch(self, rng: random.Random) -> list[Pair]:
        """Return the pairs of one epoch."""
        found: list[Pair] = []
        for n, group in enumerate(self.groups):
            kept = rng.sample(group.kept, min(len(group.kept), self.recipe.kept))
            kept += [rng.choice(self._near[n]), *rng.sample(self._changing[n], 2)]
            found += self._crossed(group, rng)
            for label, listed in enumerate((kept, group.over, group.contradicting)):
                found += [Pair(group.earlier, text, label) for text in listed]
        for talk, alike in zip(self.talks, self._alike, strict=True):
            found += self._of_talk(talk, alike, rng)
        rng.shuffle(found)
        return [Pair(restyled(p.earlier, rng), restyled(p.later, rng), p.label) for p in found]

    def _crossed(self, group: Group, rng: random.Random) -> list[Pair]:
        """Return pairs of what a group says of other things and what changes the first: neither ends the other."""
        pairs = [(other, over) for other in group.others for over in group.over]
        chosen = rng.sample(pairs, min(len(pairs), self.recipe.crossed))
        return [Pair(*(pair if rng.random() < 0.5 else pair[::-1]), 0) for pair in chosen]

    def _of_talk(self, talk: Talk, alike: np.ndarray, rng: random.Random) -> list[Pair]:
        """Return the pairs of a conversation that are over, and some that hold: half of them among the nearest."""
        every = [(b, a) for b in range(len(talk.messages)) for a in range(b)]
        changed = talk.over | talk.contradicting
        holding = sorted((p for p in every if p not in changed), key=lambda p: -alike[p])
        count = min(len(holding), self.recipe.per_pair * max(1, len(changed)))
        chosen = {*rng.sample(holding[: 3 * count], count // 2), *rng.sample(holding, count - count // 2)}
        return [talk.pair(b, a) for b, a in sorted(changed | chosen)]


def train(recipe: Recipe, drawing: Drawing) -> PairEncoder:
    """Return a trained model."""
    rng = random.Random(recipe.seed)
    torch.manual_seed(recipe.seed)
    model = PairEncoder(recipe.tokens, recipe.layers)
    base = [p for name, p in model.named_parameters() if p.requires_grad and not name.startswith("head")]
    rates = (recipe.rate, recipe.head_rate)
    optimizer = torch.optim.AdamW(
        [{"params": base, "lr": rates[0]}, {"params": model.head.parameters(), "lr": rates[1]}], weight_decay=0.01
    )
    step, began = 0, time.monotonic()
    for epoch in range(recipe.epochs):
        pairs = drawing.epoch(rng)
        pairs.sort(key=lambda p: len(p.earlier) + len(p.later) + 40 * rng.random())  # alike lengths: less padding
        batches = [pairs[i : i + recipe.batch] for i in range(0, len(pairs), recipe.batch)]
        rng.shuffle(batches)
        steps = recipe.epochs * len(batches)
        model.train()
        for batch in batches:
            step += 1
            factor = min(1.0, step / (recipe.warm_up * steps)) * max(0.0, 1.0 - step / (steps + 1))
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * factor
            with torch.autocast("cpu", torch.bfloat16):  # half the time where the processor has it
                logits = model(batch)
            loss = functional.cross_entropy(logits.float(), torch.tensor([p.label for p in batch]))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
            optimizer.step()
            if step % 50 == 0:
                print(f"step {step} of {steps}, {time.monotonic() - began:.0f} s, loss {loss.item():.3f}", flush=True)
        print(f"epoch {epoch + 1} of {recipe.epochs}", flush=True)
    return model


def load(folder: Path) -> PairEncoder:
    """Return the model that a training wrote into a folder."""
    state = torch.load(folder / "supersession.pt")
    layers = 1 + max(int(name.split(".")[3]) for name in state if name.startswith("base.encoder.layer."))
    model = PairEncoder(Recipe.tokens, layers)
    model.load_state_dict(state)
    return model


def main() -> None:
    """Train and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--epochs", type=int, default=Recipe.epochs)
    parser.add_argument("--layers", type=int, default=Recipe.layers)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    recipe = Recipe(epochs=given.epochs, layers=given.layers)
    (some, _), (said, _) = split(groups()), split(talks())
    print(f"{len(some)} groups, {len(said)} conversations", flush=True)
    with torch.autocast("cpu", torch.bfloat16):
        drawing = Drawing(some, said, recipe, Encoder())
    model = train(recipe, drawing)
    given.output.mkdir(parents=True, exist_ok=True)
    torch.save(model.state_dict(), given.output / "supersession.pt")


if __name__ == "__main__":
    main()
