"""The policy's sections about facts: how they are learned, doubted, asked about and summed up, and how they fade."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.records.memory import FACT_SORTS, Sort
from perdure.records.policy_key import harmless_key, protected_key, store_key


@dataclass(frozen=True, slots=True)
class KnowledgePolicy:
    """What is learned from conversations as facts, and when a fact is doubted."""

    learn: str = harmless_key(
        "off",
        "Whether facts are learned from ingested messages, by rules. The rules read English; hand other facts over.",
        choices=("rules", "off"),
    )
    watch: bool = harmless_key(
        default=True, text="Recall shows the best hits about the same thing newest first, and links them."
    )
    supersession: str = store_key(
        "auto",
        "What says which statements later ones make untrue: `local`, a small model; `auto`, it beside local vectors.",
        choices=("auto", "local", "off"),
    )
    superseded_from: float = store_key(
        0.85, "From this chance on, that a later statement makes an earlier one untrue, the two are linked.", 0.3, 1
    )
    file: str = protected_key("", "A TOML file with synonyms, predicates and authorities; empty for none.", path="file")
    statements: bool = harmless_key(default=True, text="Also learn from what people say about themselves in passing.")
    preference: float = store_key(0.6, "Confidence of a preference or policy that was stated.", 0, 1)
    statement: float = store_key(0.5, "Confidence of what was said in passing.", 0, 1)
    model: float = store_key(0.5, "Confidence of what a language model read in a message.", 0, 1)
    correction: float = store_key(0.85, "Confidence of a correction.", 0, 1)
    authority: float = store_key(0.95, "Confidence of what an authority says.", 0, 1)
    authority_seconds: float = store_key(
        5.0, "Seconds that storing a claim waits for authorities to confirm it; 0 asks none.", 0, 60
    )
    cap: float = store_key(0.95, "Confirmations do not raise confidence above this; higher values stay.", 0.5, 1)
    gap: float = store_key(
        0.3, "Of two conflicting facts the surer one wins if their confidences differ by more than this.", 0, 1
    )
    recent_days: float = store_key(
        7.0, "An explicit newer fact wins over one that is at least this many days older.", 0, 3650
    )
    aging_days: float = store_key(
        90.0, "Days since the last validation after which a person is asked about a fact.", 1, 36_500
    )
    aging_reinforcements: int = store_key(
        3, "Facts that were said, confirmed or of use this often are not asked about.", 1, 100
    )
    unanswered_days: float = store_key(90.0, "Days without an answer after which the fact is archived.", 1, 36_500)
    questions_per_day: int = store_key(5, "Maximum number of questions to a person per day.", 0, 1000)
    fuzzy: float = store_key(
        0.88, "Names with at least this similarity (0 to 1) are one entity if no other is as similar.", 0.5, 1
    )
    synonym_at: float = store_key(
        0.85, "Semantic similarity of predicate names from which a person is asked if they are the same.", 0.5, 1
    )
    summary_sessions: int = store_key(3, "Number of sessions about an entity from which a summary is written.", 1, 1000)
    summary_episodes: int = store_key(
        20, "Number of episodes about an entity from which one is also written.", 2, 10_000
    )
    summary_boost: float = store_key(
        0.05, "Added to the confidence of confirmed facts when they are summarized.", 0, 0.5
    )
    procedure_sessions: int = store_key(
        3, "Number of sessions in which a topic must follow another to become a procedure.", 2, 1000
    )
    procedure_chance: float = store_key(
        0.05, "Maximum probability that a procedure is due to chance; 1 turns this test off.", 1e-9, 1
    )
    procedure_days: float = store_key(60.0, "Days of history that are searched for procedures.", 1, 3650)
    rate_changes: int = store_key(
        5, "Number of changes of a kind of fact from which its own decay rate is used ...", 1, 10_000
    )
    rate_width: float = store_key(
        4.0, "... if the upper end of the rate's interval is at most this many times the lower.", 1, 100
    )
    redact: bool = protected_key(default=True, text="Replace passwords, keys and tokens before anything is stored.")
    redact_personal: bool = protected_key(
        default=True, text="Also replace card, account and social security numbers and seed phrases; needs redact."
    )


@dataclass(frozen=True, slots=True)
class FadingPolicy:
    """How fast facts fade, by sort: multiples of confidence.fact_rate.

    0: such facts do not fade, and are neither asked about nor archived because of their age. A rate that was learned
    for a sort takes the place of this one.
    """

    identity: float = store_key(0.0, "Names, birthday, birthplace, nationality.", 0, 100)
    kinship: float = store_key(0.0, "Children, parents, siblings, spouses.", 0, 100)
    health: float = store_key(0.0, "Allergies, conditions, intolerances.", 0, 100)
    contact: float = store_key(1.0, "Email, phone, website.", 0, 100)
    place: float = store_key(1.0, "Home, address, city.", 0, 100)
    job: float = store_key(1.0, "Employer, occupation, skills.", 0, 100)
    preference: float = store_key(1.0, "Likes, dislikes, hobbies.", 0, 100)
    rule: float = store_key(1.0, "Policies, payment terms, delivery days.", 0, 100)
    plan: float = store_key(1.0, "Goals, deadlines, dates of events.", 0, 100)
    state: float = store_key(1.0, "Status, mood, progress, version.", 0, 100)
    measure: float = store_key(1.0, "Age, price, count, dose.", 0, 100)
    relation: float = store_key(1.0, "Friends, managers, pets, possessions.", 0, 100)
    note: float = store_key(1.0, "Requests to remember that are about nobody in particular.", 0, 100)
    attribute: float = store_key(1.0, "Anything else.", 0, 100)

    @property
    def factors(self) -> tuple[float, ...]:
        """The multiples, in the order of the sorts; what is no fact does not fade by its sort."""
        return tuple(getattr(self, sort) if sort in FACT_SORTS else 0.0 for sort in Sort)
