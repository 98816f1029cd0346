"""The one shape of every figure: estimate, interval, how it was made, what was left out and why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Estimate", "Level", "number"]

Level = Literal["element", "response", "system", "dataset"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """One figure with its interval.

    Parameters
    ----------
    name
        The coefficient's name in the field: ``cohen_kappa``, ``pearson``, ``error_rate``, …
    estimate, low, high
        Full precision. NaN where undefined, and ``reason`` then says why.
    level
        ``element``, ``response``, ``system`` or ``dataset``.
    raters
        Whose ratings are compared, in order; for a signed figure the first is the judge.
    confidence
        Of the interval, in (0, 1).
    method
        How the interval was made, in words that can stand in a paper.
    unit
        The resampling unit: ``question`` (or the cluster columns' names) or ``item``.
    n, clusters
        Items and clusters the estimate rests on.
    design_effect
        Clustered variance over the variance under independence; NaN where not defined.
    dropped
        What was left out: reason → count.
    reason
        Why ``estimate`` or the interval is undefined; None when both are there.
    warnings
        What the reader must know besides; empty when nothing.
    details
        Further figures that belong to this one (the four counts of a table, one-sided bound, …).
    """

    name: str
    estimate: float
    low: float = math.nan
    high: float = math.nan
    level: Level = "element"
    raters: tuple[str, ...] = ()
    confidence: float = 0.95
    method: str = ""
    unit: str = "question"
    n: int = 0
    clusters: int = 0
    design_effect: float = math.nan
    dropped: Mapping[str, int] = field(default_factory=dict)
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        who = f" {' ~ '.join(self.raters)}" if self.raters else ""
        counts = f"n={self.n}, clusters={self.clusters}"
        if math.isnan(self.estimate):
            return f"<{self.name}{who}: undefined ({self.reason}), {counts}>"
        if math.isnan(self.low) or math.isnan(self.high):
            return f"<{self.name}{who}: {self.estimate:.4f} ({self.reason}), {counts}>"
        return (
            f"<{self.name}{who}: {self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}] "
            f"{100 * self.confidence:.4g}%, {counts}>"
        )

    def to_dict(self) -> dict[str, Any]:
        """The figure as JSON values: NaN becomes None, whose ``reason`` is there."""
        out: dict[str, Any] = {
            "name": self.name,
            "level": self.level,
            "raters": list(self.raters),
            "estimate": number(self.estimate),
            "low": number(self.low),
            "high": number(self.high),
            "confidence": self.confidence,
            "method": self.method,
            "unit": self.unit,
            "n": self.n,
            "clusters": self.clusters,
            "design_effect": number(self.design_effect),
            "dropped": dict(self.dropped),
            "reason": self.reason,
            "warnings": list(self.warnings),
        }
        if self.details:
            out["details"] = {key: _plain(value) for key, value in self.details.items()}
        return out

    def to_frame(self) -> pd.DataFrame:
        """The figure as one tidy row; ``raters`` joined by " ~ ", ``warnings`` by "; "."""
        import pandas as pd

        row = {
            key: value
            for key, value in self.to_dict().items()
            if key not in ("raters", "dropped", "warnings", "details")
        }
        row["raters"] = " ~ ".join(self.raters)
        row["dropped"] = sum(self.dropped.values())
        row["warnings"] = "; ".join(self.warnings)
        return pd.DataFrame([row])


def number(value: float | None) -> float | None:
    """A float that JSON can carry: NaN and infinities become None."""
    return None if value is None or not math.isfinite(value) else float(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        return value.to_dict()
    if hasattr(value, "tolist"):  # numpy's scalars and arrays
        return _plain(value.tolist())
    if isinstance(value, bool) or value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return number(float(value))
