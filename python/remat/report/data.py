# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the script of a page knows about the charts, as short as it goes.

`texts` has each text once; elsewhere are positions in it. Numbers over time are differences.
"""

from __future__ import annotations

import json
from typing import Any, Mapping

from remat.report.palette import css_class, in_order, label
from remat.report.series import deltas


class _Texts:
    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.places.setdefault(text, len(self.places))


def chart_data(
    timelines: Mapping[str, Any], arenas: Mapping[str, Any], folder: str
) -> dict[str, Any]:
    """The timelines and the storages of a function, before and after. Locations are in `folder`."""
    texts = _Texts()
    found: dict[str, Any] = {}
    for when in ("before", "after"):
        timeline, arena = timelines[when], arenas[when]
        found[when] = {
            "end": timeline["num_steps"],
            "steps": deltas(timeline["steps"]),
            "layers": [
                [label(category), css_class(category), deltas(timeline["bytes"][category])]
                for category in in_order(timeline["bytes"])
            ],
            "storages": [
                [
                    texts(each["value"]),
                    texts(each["producer"]),
                    texts(label(each["category"])),
                    texts(css_class(each["category"])),
                    texts(each["location"].removeprefix(folder)),
                    texts(each["reason"]),
                    each["bytes"],
                    each["begin"],
                    each["end"],
                    each["offset"],
                    int(each["recomputed"]),
                ]
                for each in arena["storages"]
            ],
        }
    return {"texts": list(texts.places), **found}


def script_data(data: Any) -> str:
    """JSON as the content of a script element: nothing in it ends the element."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
