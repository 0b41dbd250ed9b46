"""The program of the README. Checked by mypy; docs/generate.py writes it."""

import perdure

memory = perdure.open("agent.db")
kept = memory.remember("Deploys happen on Tuesdays at 10:00.", tags=["ops"])
allergy: perdure.FactClaim = {"subject": "Jonas", "predicate": "allergy", "value": "sesame"}
memory.remember("Jonas is allergic to sesame.", facts=[allergy])  # the agent names it, Perdure checks and stores it
print([(fact.name, fact.shown_value) for fact in memory.facts("Jonas")])

answer = memory.recall("When do we deploy?")
print(answer.hits[0].memory.content, dict(answer.hits[0].parts))  # the score is the sum of its parts

unrelated = memory.recall("What is the boiling point of tungsten?")
assert unrelated.nothing_known

memory.used([kept.id], "helpful", recall_id=answer.id)  # feedback: "helpful" or "wrong"
changed = memory.update(kept.id, "Deploys happen on Wednesdays at 10:00.")  # the old memory is superseded
memory.undo(changed)  # every change can be undone

memory.sweep()  # moves and archives what is due; call it as often as you like
print(memory.digest(budget_tokens=500))
print(memory.why(kept.id).summary)
