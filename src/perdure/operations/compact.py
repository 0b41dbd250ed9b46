"""Giving the space back that trimming and deleting left in a store."""

from __future__ import annotations

from typing import Final

from perdure.operations.extension import TaskResult
from perdure.operations.ports import Context
from perdure.records.store_results import CompactResult

_MB: Final = 1_000_000
_LEAST: Final = 1_000_000  # bytes; less is not worth rewriting a file, whatever share of it that is


def compact(ctx: Context, *, dry_run: bool = True) -> CompactResult:
    """Rewrite the store without its gaps, or say how much that would give back."""
    size = ctx.store.size()
    notes = () if dry_run else ctx.store.compact()
    after = size.bytes - size.unused if dry_run else ctx.store.size().bytes
    left_out = (f"The node {node} cannot be reached: these sizes leave it out." for node in ctx.store.unreachable)
    return CompactResult(dry_run, size.bytes, after, (*notes, *left_out))


def compact_if_it_pays(ctx: Context) -> TaskResult:
    """Compact a store where the policy's share of it would be given back, and that would block nobody for long."""
    keys, size = ctx.policy.upkeep, ctx.store.size()
    if size.unused < max(_LEAST, keys.compact_share * size.bytes):
        return "it would not pay", {}
    if size.bytes > keys.compact_mb * _MB:
        note = f"{size.unused / _MB:.1f} of {size.bytes / _MB:.1f} MB are unused: run `perdure compact --apply`"
        return f"{note} when nobody writes", {}
    result = compact(ctx, dry_run=False)
    return f"{result.bytes_before / _MB:.1f} MB became {result.bytes_after / _MB:.1f} MB", {}
