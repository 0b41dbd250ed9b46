"""Shorter forms of a memory's text: what each form shows, what it keeps, and when the meaning guard refuses it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from perdure.records.memory import Form, State
from perdure.records.policy import Policy
from perdure.records.policy_lifecycle import CompressionPolicy
from perdure.records.report import FormFigures
from perdure.records.vector import Vector
from perdure.rules.insertion import with_due
from perdure.rules.language.tokens import count_tokens
from perdure.rules.lifecycle.shortening import drop_stop_words, keywords, summarize
from perdure.rules.lifecycle.summary_text import write_summary
from perdure.rules.lifecycle.trajectory import Trajectory, Transition
from perdure.rules.meaning_guard import lost_meaning

LADDER: Final = tuple(Form)  # from the fullest form to the barest


@dataclass(frozen=True, slots=True)
class FormText:
    """A text in one form."""

    form: Form  # which form
    text: str | None  # what is shown; None for the whole text
    tokens: int  # its tokens
    whole: int  # tokens of the whole text
    refused: str = ""  # why the form is not taken; empty if it is
    # cosine between the meanings of this form and of the whole text, -1 to 1; None if not measured
    preservation: float | None = None

    @property
    def ratio(self) -> float:
        """How many times shorter it is than the whole text (original tokens / tokens)."""
        return self.whole / max(1, self.tokens)

    @property
    def efficiency(self) -> float | None:
        """Ratio times preservation, to four places."""
        return None if self.preservation is None else round(self.ratio * self.preservation, 4)

    def describe(self) -> str:
        """Return the measures in words and numbers, for the journal."""
        if self.tokens == self.whole:
            return f"all {self.whole} tokens are shown: no sentence can be left out"
        sizes = f"{self.whole} to {self.tokens} tokens (ratio {self.ratio:.2f})"
        if self.preservation is None:
            return sizes
        return f"{sizes}, meaning kept {self.preservation:.3f}, efficiency {self.efficiency:.2f}"


def render_form(
    text: str, form: Form, policy: CompressionPolicy, *, written: str | None = None, dense: bool = False
) -> FormText:
    """Return a text in a form, or why it is refused; the same text asked for twice in a row is cheaper.

    What loses something is refused where the policy is strict; else a summary lists it, and the barer forms may lose
    it: the whole text is kept and searched. A text of which no sentence can be left out is its own summary.

    ``written`` is a summary that a model wrote, which may lose nothing; if None, one is made by rule. A ``dense``
    summary of a text no longer than a summary has all words but stop words: to stay within a number of tokens that
    keeps more of it than its best sentence does.
    """
    size = count_tokens(text)
    if form is Form.FULL:
        return FormText(form, None, size, size)
    missing: tuple[str, ...] = ()
    guarded = policy.strictness == "strict" or written is not None
    for short in (written,) if written is not None else _attempts(text, size, form, policy, dense=dense):
        tokens = count_tokens(short)
        if tokens >= size and (guarded or form is not Form.SUMMARY or short != text):
            continue
        missing = _missing_words(text, short, form) if guarded else ()
        if not missing:
            return FormText(form, short, tokens, size, preservation=1.0 if short == text else None)
    why = f"it would lose {', '.join(missing[:5])}" if missing else "it is no shorter"
    return FormText(form, None, size, size, why)


def _attempts(text: str, size: int, form: Form, policy: CompressionPolicy, *, dense: bool) -> Iterator[str]:
    """The shortest first: each next one is longer and keeps more."""
    if form is Form.EMBEDDING:
        yield ""
    elif form is Form.SUMMARY and dense and size <= policy.summary_tokens:
        yield drop_stop_words(text)
    elif form is Form.SUMMARY and policy.strictness == "listed":
        yield write_summary(text, policy.summary_tokens)
        yield text
    elif form is Form.SUMMARY:
        yield summarize(text, policy.summary_tokens)
        yield drop_stop_words(text)
    else:
        limit = min(policy.keyword_tokens, max(4, size // 5))
        most = count_tokens(drop_stop_words(text))  # keywords must be shorter than the summary
        while limit < most:
            yield keywords(text, limit)
            limit *= 2


def _missing_words(text: str, short: str, form: Form) -> tuple[str, ...]:
    """What a form loses of what the guard keeps; how sure a statement is, only a summary must keep."""
    missing = lost_meaning(text, short)
    return missing if form is Form.SUMMARY else tuple(m for m in missing if not m.startswith("modal"))


def judge_preservation(shown: FormText, cosine: float | None, policy: CompressionPolicy) -> FormText:
    """Return a form with what was measured of its meaning; a summary is refused where too little of it is kept.

    Keywords stand for nothing: they are refused only where the policy is strict, because what comes next shows nothing.
    """
    free = (Form.FULL, Form.EMBEDDING) if policy.strictness == "strict" else (Form.FULL, Form.EMBEDDING, Form.KEYWORDS)
    if cosine is None or shown.refused or shown.form in free:
        return replace(shown, preservation=cosine)
    low = f"its meaning differs too much from the whole text's ({cosine:.3f} < {policy.preservation:g})"
    return replace(shown, preservation=cosine, refused=low if cosine < policy.preservation else "")


def unit_cosine(one: Vector, other: Vector) -> float:
    """Return the cosine of two unit vectors, to four places."""
    return round(float(np.clip(np.frombuffer(one, "<f4") @ np.frombuffer(other, "<f4"), -1.0, 1.0)), 4)


def apply_forms(trajectory: Trajectory, forms: Mapping[Form, FormText], policy: Policy) -> Trajectory:
    """Return a trajectory with each form that it reaches made: sizes, measures, and a stop where one was refused."""
    applied = apply_allowed_forms(trajectory, forms)
    return replace(applied, after=with_due([applied.after], policy)[0]) if applied.refused else applied


def apply_allowed_forms(trajectory: Trajectory, forms: Mapping[Form, FormText]) -> Trajectory:
    """As :func:`apply_forms`, but where a form is refused the next due instant is still that of the refused one."""
    transitions: list[Transition] = []
    form, since, tokens = trajectory.before.form, trajectory.before.form_ms, trajectory.before.tokens
    refused = ""
    for transition in trajectory.transitions:
        because = transition.because
        if transition.shrinks and not refused:
            shown = forms[transition.state.form]
            refused = shown.refused
            if not refused:
                form, since, tokens = shown.form, transition.at, shown.tokens
                because = f"{because}; {shown.describe()}"
        if not (transition.shrinks and refused):
            state = replace(transition.state, form=form, form_ms=since, tokens=tokens, firm=bool(refused))
            transitions.append(replace(transition, state=state, because=because))
    after = replace(
        trajectory.after, form=form, form_ms=since, tokens=tokens, firm=bool(refused) or trajectory.before.firm
    )
    return replace(trajectory, transitions=tuple(transitions), after=after, refused=refused)


def forms_reached(trajectories: Sequence[Trajectory]) -> dict[str, tuple[Form, ...]]:
    """Return memory id -> the forms that its trajectory would give it."""
    found = {c.id: tuple(s.state.form for s in c.transitions if s.shrinks) for c in trajectories}
    return {i: forms for i, forms in found.items() if forms}


def form_figures(
    states: Mapping[str, State], measured: Mapping[tuple[str, str], Mapping[str, Any]]
) -> dict[str, FormFigures]:
    """Return form -> what it keeps, over the visible memories that show it.

    ``measured`` has for (id, form) tokens, whole and preservation, as kept when the form was taken.
    """
    found: dict[str, FormFigures] = {}
    for form in LADDER:
        shown = [(s.tokens, measured.get((i, form.value), {})) for i, s in states.items() if s.form is form]
        if not shown:
            continue
        tokens = sum(size for size, _ in shown)
        full_tokens = sum(int(data.get("whole", size)) for size, data in shown)
        kept = [float(data["preservation"]) for _, data in shown if data.get("preservation") is not None]
        ratio = full_tokens / max(1, tokens)
        mean = round(sum(kept) / len(kept), 4) if kept else None
        worth = None if mean is None else round(ratio * mean, 4)
        found[form.value] = FormFigures(len(shown), tokens, full_tokens, round(ratio, 4), mean, worth)
    return found


def accuracy(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of (hits before, hits after) over some queries.

    Where nothing was found before, recall is 1: there was nothing to find; where nothing is found now, precision is 0.
    All are 1 where there are no queries.
    """
    if not pairs:
        return 1.0, 1.0, 1.0
    precision = sum(len(set(a) & set(b)) / len(set(b)) if b else 0.0 for a, b in pairs) / len(pairs)
    share = sum(len(set(a) & set(b)) / len(set(a)) if a else 1.0 for a, b in pairs) / len(pairs)
    f1 = 2 * precision * share / (precision + share) if precision + share else 0.0
    return round(precision, 4), round(share, 4), round(f1, 4)
