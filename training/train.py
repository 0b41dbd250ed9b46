"""Fine-tune the base model on questions and the turns that answer them; every step is seeded and can be resumed.

Usage: python training/train.py [--output FOLDER] [--conversations N] [--negatives N]

The loss is contrastive: in a batch, a question must be nearer to a turn that answers it than to the other turns of the
batch and to hard negatives, turns of its own conversation that the base model finds near. The few nearest of those are
skipped: some of them answer the question, too, and are not listed. In the end the weights are averaged with the base's,
which keeps what the base knows about texts that are no conversations.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from safetensors.torch import save_file
from torch.nn import functional

from corpus import conversations
from encoder import Encoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpus import Conversation


ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Recipe:
    """All that decides the weights, the conversations apart."""

    epochs: int = 3
    batch: int = 64
    negatives: int = 3
    skipped_nearest: int = 5
    negatives_from: int = 30
    learning_rate: float = 4e-5
    temperature: float = 0.04
    weight_decay: float = 0.01
    base_share: float = 0.0
    """Share of the base's weights in the average, 0 to 1."""
    seed: int = 0


@dataclass(frozen=True)
class Pair:
    """A question, one turn that answers it, turns that probably do not, and all turns that do."""

    question: str
    answer: str
    negatives: tuple[str, ...]
    answers: frozenset[str]


def mined_pairs(encoder: Encoder, chats: Sequence[Conversation], recipe: Recipe) -> list[Pair]:
    """Return one pair for each question and turn that answers it."""
    pairs = []
    for chat in chats:
        asked = [q for q in chat.questions if q.evidence]
        texts = [chat.searchable(turn) for turn in chat.turns]
        scores = encoder.embed([q.text for q in asked]) @ encoder.embed(texts).T
        for question, row in zip(asked, scores, strict=True):
            evidence = [i - 1 for i in question.evidence]
            near = [i for i in np.argsort(-row, kind="stable").tolist() if i not in evidence]
            negatives = tuple(texts[i] for i in near[recipe.skipped_nearest : recipe.negatives_from])
            answers = frozenset(texts[i] for i in evidence)
            pairs += [Pair(question.text, texts[i], negatives, answers) for i in evidence]
    return pairs


def digest_of(pairs: Sequence[Pair], recipe: Recipe) -> str:
    """Return what tells a training from another one: by its pairs and its recipe."""
    listed = [[pair.question, pair.answer, pair.negatives, sorted(pair.answers)] for pair in pairs]
    return hashlib.sha256(json.dumps([asdict(recipe), listed]).encode()).hexdigest()


def contrastive_loss(
    questions: torch.Tensor, turns: torch.Tensor, right: torch.Tensor, temperature: float
) -> torch.Tensor:
    """Return the loss of a batch: question i must be nearest to turn i; its other answers count neither way.

    Shapes: questions (n, 384), turns (m, 384) with m >= n, ``right`` (n, m), true where a turn answers a question.
    """
    scores = questions @ turns.T / temperature
    own = torch.arange(len(questions), device=scores.device)
    others = right.clone()
    others[own, own] = False
    return functional.cross_entropy(scores.masked_fill(others, -1e4), own)


def batch_loss(encoder: Encoder, batch: Sequence[Pair], recipe: Recipe, rng: random.Random) -> torch.Tensor:
    """Return the loss of a batch, with the negatives that are drawn for it."""
    questions = [p.question for p in batch]
    negatives = [t for p in batch for t in rng.sample(p.negatives, min(recipe.negatives, len(p.negatives)))]
    turns = [p.answer for p in batch] + negatives
    with torch.autocast(encoder.device, torch.bfloat16):
        vectors = encoder.encode_in_parts(questions + turns)
    right = torch.tensor([[text in p.answers for text in turns] for p in batch], device=encoder.device)
    return contrastive_loss(vectors[: len(batch)], vectors[len(batch) :], right, recipe.temperature)


def learning_rate(step: int, steps: int, recipe: Recipe) -> float:
    """Return the rate of a step, from 1: it rises over the first tenth of the steps and falls to a twentieth."""
    return recipe.learning_rate * min(1.0, step / max(1.0, 0.1 * steps)) * max(0.05, 1 - step / steps)


def train(chats: Sequence[Conversation], recipe: Recipe, output: Path, device: str = "cpu") -> Encoder:
    """Return the trained model; an interrupted run of the same pairs and recipe goes on after its last whole epoch."""
    torch.manual_seed(recipe.seed)
    torch.use_deterministic_algorithms(mode=True)
    encoder, base = Encoder(device), Encoder(device)
    pairs = mined_pairs(base, chats, recipe)
    steps_each = len(pairs) // recipe.batch
    steps = recipe.epochs * steps_each
    optimizer = torch.optim.AdamW(encoder.model.parameters(), weight_decay=recipe.weight_decay)
    checkpoint, first, started = output / "checkpoint.pt", 0, time.process_time()
    digest = digest_of(pairs, recipe)
    if checkpoint.exists() and (kept := torch.load(checkpoint, weights_only=True)).get("digest") == digest:
        encoder.model.load_state_dict(kept["model"])
        optimizer.load_state_dict(kept["optimizer"])
        first, started = kept["epoch"], started - kept["processor_seconds"]
    for epoch in range(first, recipe.epochs):
        rng = random.Random(recipe.seed * 1000 + epoch)
        order = rng.sample(pairs, len(pairs))
        losses = []
        for step in range(steps_each):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(epoch * steps_each + step + 1, steps, recipe)
            encoder.model.train()
            optimizer.zero_grad()
            batch = order[step * recipe.batch : (step + 1) * recipe.batch]
            loss = batch_loss(encoder, batch, recipe, rng)
            loss.backward()
            losses.append(loss.item())
            torch.nn.utils.clip_grad_norm_(encoder.model.parameters(), 1.0)
            optimizer.step()
        output.mkdir(parents=True, exist_ok=True)
        state = {"model": encoder.model.state_dict(), "optimizer": optimizer.state_dict()}
        spent = time.process_time() - started
        torch.save({**state, "epoch": epoch + 1, "digest": digest, "processor_seconds": spent}, checkpoint)
        print(
            f"epoch {epoch + 1} of {recipe.epochs}: loss {np.mean(losses):.3f}, {spent:.0f} s of processor time",
            flush=True,
        )
    average(encoder, base, recipe.base_share)
    write_training(output, recipe, time.process_time() - started)
    return encoder


def write_training(output: Path, recipe: Recipe, seconds: float) -> None:
    """Write beside the weights by which recipe they were made, and how long that took."""
    made = {"recipe": asdict(recipe), "processor_seconds": round(seconds)}
    (output / "training.json").write_text(json.dumps(made, indent=2) + "\n", "utf-8")


def average(encoder: Encoder, base: Encoder, share: float) -> None:
    """Give a model the weighted mean of its own weights and the base's."""
    own, other = encoder.model.state_dict(), base.model.state_dict()
    encoder.model.load_state_dict(
        {
            name: (1 - share) * own[name] + share * other[name] if own[name].is_floating_point() else own[name]
            for name in own
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=ROOT / "build/training")
    parser.add_argument("--conversations", type=int, help="use only so many, for the learning curve")
    parser.add_argument("--negatives", type=int, default=Recipe.negatives, help="hard negatives of each question")
    given = parser.parse_args()
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # a GPU repeats its sums in the same order
    torch.set_num_threads(1)  # another number sums in another order; two lose more than half on a busy machine
    chats = conversations("train")[: given.conversations]
    recipe = Recipe(negatives=given.negatives)
    encoder = train(chats, recipe, given.output, "cuda" if torch.cuda.is_available() else "cpu")
    save_file(
        {name: value.contiguous() for name, value in encoder.model.state_dict().items()},
        given.output / "model.safetensors",
    )


if __name__ == "__main__":
    main()
