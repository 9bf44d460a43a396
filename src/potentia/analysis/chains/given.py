"""A perturbed chain of one's own: its terms c·ε^r, checked and completed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from potentia.analysis.chains.found import ROW, Rows
from potentia.analysis.chains.transitions import Terms
from potentia.errors import InvalidInput
from potentia.kernel.numbers import as_float, is_integer, is_real


def given_terms(size: int, terms: Any) -> Terms:
    """Terms from (from, to, c, r), in rows; those of one transition must stand once."""
    rows: list[list[tuple[int, float, float]]] = [[] for _ in range(size)]
    try:
        if isinstance(terms, Mapping):
            terms = [(*pair, *term) for pair, term in terms.items()]
        entries = [tuple(entry) for entry in terms]
    except TypeError:
        raise InvalidInput(f"must be a list of (from, to, c, r), got {terms!r:.60}", "terms", terms) from None
    for entry in entries:
        if len(entry) != 4 or not all(is_integer(k) for k in entry[:2]) or not all(is_real(x) for x in entry[2:]):
            raise InvalidInput(f"must have (from, to, c, r) for each transition, got {entry!r:.60}", "terms", entry)
        start, end, c, r = int(entry[0]), int(entry[1]), as_float(entry[2]), as_float(entry[3])
        if not (0 <= start < size and 0 <= end < size):
            raise InvalidInput(f"must be between states 0..{size - 1}, got {(start, end)}", "terms", entry)
        if not (c >= 0.0 and math.isfinite(c)):
            raise InvalidInput(f"must have coefficients that are finite and not negative, got {c}", "terms", entry)
        if not (r >= 0.0 and math.isfinite(r)):
            raise InvalidInput(f"must have orders that are finite and not negative, got {r}", "terms", entry)
        if c > 0.0:
            rows[start].append((end, c, r))
    out = Rows(0.0)
    for start, row in enumerate(rows):
        if len({end for end, _, _ in row}) < len(row):
            raise InvalidInput(f"must have one term for each transition, got two from state {start}", "terms")
        out.add(row)
    return out.terms()


def complete(entries: Terms, tau: float) -> Terms:
    """The same with the entry of staying, where it was left out: what the others leave, at tau or as τ → 0."""
    out = Rows(tau)
    for state in range(entries.size):
        here = slice(entries.ptr[state], entries.ptr[state + 1])
        columns, c, r = entries.columns[here], entries.coefficients[here], entries.exponents[here]
        total = float((c * (np.exp(-r / tau) if tau > 0.0 else r == 0.0)).sum())
        row = list(zip(columns.tolist(), c.tolist(), r.tolist(), strict=True))
        if state in columns:
            if abs(total - 1.0) > ROW:
                when = f"at tau = {tau:g}" if tau > 0.0 else "as τ → 0"
                said = f"must sum to 1 in each row, got {total:.9g} from state {state} {when}"
                raise InvalidInput(
                    f"{said}; the entry of staying may be left out: it is what the others leave", "terms"
                )
        elif total > 1.0 + ROW:
            raise InvalidInput(f"must sum to 1 at most in each row, got {total:.9g} from state {state}", "terms")
        elif total < 1.0:
            row.append((state, 1.0 - total, 0.0))
        out.add(row)
    return out.terms()
