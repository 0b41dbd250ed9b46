"""The verb that erases for good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from perdure.records.errors import InvalidInput
from perdure.verbs.declaration import Param, verb
from perdure.verbs.lazy import lazy_modules
from perdure.verbs.parameters import DryRun, Entity, Identities, Namespace, Reason, Session, Tags, Until

if TYPE_CHECKING:
    from perdure.operations import erase as erasing
    from perdure.operations.ports import Context
    from perdure.records.erasure_result import ErasureResult
    from perdure.rules.validation import queries
else:
    erasing = lazy_modules("perdure.operations", "erase")[0]
    (queries,) = lazy_modules("perdure.rules.validation", "queries")


class ErasingVerbs:
    """The verb that erases for good."""

    _context: Context

    @verb(
        "Change one memory",
        hides=True,
        role="admin",
        tell="Erase memories FOR GOOD, with what rests on them; undo is not possible. Use forget unless a person asks "
        "for erasure. dry_run is TRUE by default: show the person what it lists, and pass its word as confirm only "
        "after they agree.",
    )
    def erase(
        self,
        ids: Identities = (),
        *,
        reason: Reason,
        namespace: Namespace = "default",
        tags: Tags = (),
        session: Session | None = None,
        until: Until | None = None,
        subject: Annotated[Entity, Param("Only memories about this person or thing, or that name it.")] | None = None,
        everything: Annotated[bool, Param("All memories of the namespace.")] = False,
        by: Annotated[str, Param("Who decided it; kept with the reason.", longest=200)] | None = None,
        confirm: Annotated[str, Param("The word that the dry run returned.", longest=40)] | None = None,
        dry_run: DryRun = True,
    ) -> ErasureResult:
        """Erase memories for good, with what rests on them: text, vectors, index entries, journal, past questions.

        What is left is when, by whom and why each was erased, and a salted digest, so that taking in the same
        transcript again does not bring it back. Facts that rest on other memories too stay, without the quote.
        Backups of the vault are rewritten. Afterwards the store is searched for the erased words; ``places`` lists
        where they were found, and ``unreachable`` what could not be searched. It cannot be undone.

        Raises:
            NotFound: Nothing fits.
            InvalidInput: Nothing is selected, or ``confirm`` does not fit what would go.
        """
        narrowed = bool(tags or session or until)
        if not (ids or narrowed or subject or everything):
            raise InvalidInput("Nothing is selected.", remedy="Pass ids, a filter, a subject, or everything=True.")
        given = {"tags": tags, "session": session, "until": until, "include_archived": True}
        filters = queries.filters(self._context.policy, given) if narrowed else None
        chosen = erasing.Selection(tuple(ids), filters, subject, everything)
        return erasing.erase(self._context, namespace, chosen, reason=reason, by=by, confirm=confirm, dry_run=dry_run)
