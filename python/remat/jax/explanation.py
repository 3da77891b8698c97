# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `explain` has found, as values and as text."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any, Mapping, Sequence

from remat.jax.table import html_table, text_table
from remat.optimize import MemoryProfile
from remat.units import format_bytes

#: A change that lowers the peak by less than this part of it does not help.
ENOUGH_SAVED = 0.05


@dataclass(frozen=True)
class Advice:
    """One way to lower the peak, and what it leads to.

    `kind` is "donate", "recompute", "batch", "accumulate" or "bf16". `peak_bytes` is the peak after it,
    or None where it could not be counted. `overhead` is what it adds as a part of the cost of one step by
    the cost model (for "batch": of a sample), None where there is none to give. `counted` says whether
    `peak_bytes` is that of a real program by the memory model; otherwise it is an estimate, and
    `how` says of what.
    """

    kind: str
    action: str
    peak_bytes: int | None
    saved_bytes: int
    overhead: float | None
    counted: bool
    helps: bool
    how: str


@dataclass(frozen=True)
class Explanation:
    """Where the memory of a step goes, and what would lower its peak. Sizes are bytes.

    `categories` divide `peak_bytes`: what is live at the peak by what it is for (docs/memory-model.md),
    and under "alignment and gaps" what lies between. `argument_bytes` of it are there throughout.
    `profile` has the storages at the peak. `notes` say what was not tried, and why.
    """

    name: str
    peak_bytes: int
    argument_bytes: int
    categories: Mapping[str, int]
    peak_operation: str
    profile: MemoryProfile = field(repr=False)
    advice: tuple[Advice, ...]
    notes: tuple[str, ...]
    budget_bytes: int | None

    @property
    def recomputation_helps(self) -> bool:
        """Whether recomputation lowers the peak by `ENOUGH_SAVED` of it or more."""
        return any(each.helps for each in self.advice if each.kind == "recompute")

    def best(self, kind: str) -> Advice | None:
        """The advice of a kind with the smallest peak."""
        known = [each for each in self.advice if each.kind == kind and each.peak_bytes is not None]
        return min(known, key=lambda each: each.peak_bytes or 0, default=None)

    @property
    def summary(self) -> str:
        """What fills memory, and whether recomputation is what helps, in a sentence or three."""
        largest = max(self.categories, key=lambda name: self.categories[name])
        activations = self.categories.get("activations", 0)
        part = activations / self.peak_bytes if self.peak_bytes else 0.0
        text = f"Activations take {100 * part:.0f} % of the peak of {format_bytes(self.peak_bytes)}"
        if largest != "activations":
            text += f"; most of it is {largest} ({format_bytes(self.categories[largest])})"
        smallest = self.best("recompute")
        if self.recomputation_helps and smallest is not None and smallest.peak_bytes is not None:
            text += f". Recomputation helps: down to {format_bytes(smallest.peak_bytes)}"
        elif smallest is not None and smallest.saved_bytes:
            text += f". Recomputation hardly helps: it saves {format_bytes(smallest.saved_bytes)}"
        else:
            text += ". Recomputation cannot help: no plan is known that takes less"
        donation = self.best("donate")
        if donation and donation.helps and donation.peak_bytes is not None:
            text += f". Donation does: down to {format_bytes(donation.peak_bytes)}, for nothing"
            if self.recomputation_helps:
                text = text.replace(". Donation does", ". So does donation")
        return text + "."

    def _memory(self) -> list[list[str]]:
        return [
            [name, format_bytes(size), f"{100 * size / self.peak_bytes:.1f} %"]
            for name, size in self.categories.items()
            if size
        ]

    def _advice(self) -> tuple[Sequence[str], list[list[str]]]:
        heads = ["", "peak", "saves", "cost", "", "helps"]
        if self.budget_bytes is not None:
            heads.append("fits")
        rows = []
        for each in self.advice:
            peak, overhead = each.peak_bytes, each.overhead
            cells = [
                each.action,
                "-" if peak is None else format_bytes(peak),
                "-" if peak is None else format_bytes(each.saved_bytes),
                "-" if overhead is None else f"{100 * overhead:+.1f} %",
                "" if peak is None else "counted" if each.counted else "estimated",
                "yes" if each.helps else "no",
            ]
            if self.budget_bytes is not None:
                cells.append("yes" if peak is not None and peak <= self.budget_bytes else "no")
            rows.append(cells)
        return heads, rows

    def _details(self) -> list[str]:
        return [f"{each.action}: {each.how}" for each in self.advice if each.how] + list(self.notes)

    def _title(self) -> str:
        text = f"'{self.name}': peak {format_bytes(self.peak_bytes)}"
        if self.budget_bytes is not None:
            fits = "within" if self.peak_bytes <= self.budget_bytes else "above"
            text += f", {fits} the budget of {format_bytes(self.budget_bytes)}"
        return f"{text}, at {self.peak_operation}"

    def __str__(self) -> str:
        parts = [
            self._title(),
            self.summary,
            "",
            text_table(["live at the peak", "bytes", ""], self._memory(), left=[0]),
            "",
            text_table(*self._advice(), left=[0, 4, 5, 6]),
            "",
            *(f"- {each}" for each in self._details()),
        ]
        return "\n".join(parts).rstrip()

    def _repr_html_(self) -> str:
        details = "".join(f"<li>{escape(each)}</li>" for each in self._details())
        return (
            f"<p><b>{escape(self._title())}</b></p><p>{escape(self.summary)}</p>"
            + html_table(["live at the peak", "bytes", ""], self._memory(), left=[0])
            + html_table(*self._advice(), left=[0, 4, 5, 6])
            + f"<ul>{details}</ul>"
        )


def advise(
    kind: str,
    action: str,
    before: int,
    after: int | None,
    how: str,
    *,
    overhead: float | None = None,
    counted: bool = True,
) -> Advice:
    """Advice that lowers a peak of `before` bytes to `after`."""
    saved = 0 if after is None else before - after
    return Advice(kind, action, after, saved, overhead, counted, saved >= ENOUGH_SAVED * before, how)


def categories_of(profile: MemoryProfile) -> dict[str, int]:
    """The bytes at the packed peak by category, the largest first, and the rest."""
    sizes: dict[str, Any] = {name: size for name, size in profile.categories_at_peak.items() if size}
    sizes["workspace"] = profile.workspace_bytes
    sizes["alignment and gaps"] = profile.alignment_bytes + profile.fragmentation_bytes
    return dict(sorted(sizes.items(), key=lambda item: (-item[1], item[0])))
