# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports as pages, pictures and outputs of notebooks: what is in them, and wrong reports.

RUN: %pytest %s
"""

import copy
import html
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

import remat
from remat.cli import main
from remat.report import FrontPoint, Report, arena, front, read_fronts, series, summary, tables, timeline
from remat.report.front import fronts_to_json
from remat.report.scale import Scale, ticks
from remat.report.text import to_text

STEP = pathlib.Path(__file__).parent / "Inputs" / "step.mlir"
DETAILED = pathlib.Path(__file__).parent / "Inputs" / "report.json"
POINTS = [FrontPoint(1000, 0, 0.0), FrontPoint(800, 10, 0.05), FrontPoint(640, 44, 0.22)]


@pytest.fixture
def json_report():
    return json.loads(DETAILED.read_text())


def changed(root, **keys):
    """A report whose first function has these values."""
    root = copy.deepcopy(root)
    root["functions"][0].update(keys)
    return Report(root)


def text_of(page):
    """What people read, with single spaces."""
    body = re.sub(r"<(style|script)\b.*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", body))).strip()


# Geometry.


def test_scale():
    scale = Scale(200, 10, 110)
    assert [scale(value) for value in (0, 50, 200)] == [10, 35, 110]
    assert Scale(0, 10, 110)(0) == 10


def test_ticks():
    assert ticks(10, 5) == [0, 2, 4, 6, 8, 10]
    assert ticks(22_174_499_852, 6) == [0, 5 * 10**9, 10**10, 15 * 10**9, 2 * 10**10]
    assert ticks(3, 6) == [0, 1, 2, 3] and ticks(0, 6) == [0]
    for maximum in (1, 7, 19, 51, 99, 101, 12345, 2**62):
        found = ticks(maximum, 6)
        assert 3 <= len(found) <= 7 or maximum < 3
        assert found[-1] <= maximum
    assert front.percent_ticks(0.3) == [0, 0.1, 0.2, 0.3]
    assert front.percent_ticks(26) == [0, 10, 20]


def test_layers_lie_on_each_other():
    line = {
        "steps": [0, 4, 9],
        "bytes": {"workspace": [0, 7, 0], "activations": [1, 2, 3], "parameters": [10, 10, 10],
                  "later": [0, 1, 0]},
    }
    layers = series.stack(line)
    assert [(each.category, each.tops) for each in layers] == [
        ("parameters", [10, 10, 10]),
        ("activations", [11, 12, 13]),
        ("workspace", [11, 19, 13]),
        ("later", [11, 20, 13]),
    ]
    assert series.live_bytes(line) == [11, 20, 13] and series.peak_bytes(line) == 20
    assert series.live_bytes({"steps": [], "bytes": {}}) == []
    assert series.peak_bytes({"steps": [], "bytes": {}}) == 0


def test_index_at():
    assert [series.index_at([2, 5, 9], step) for step in (0, 2, 4, 5, 8, 9, 99)] == [
        0, 0, 0, 1, 1, 2, 2]


def test_deltas():
    assert series.deltas([5, 5, 9, 0]) == [5, 0, 4, -9] and series.deltas([]) == []


def test_staircase():
    path = timeline.staircase([0, 2, 5], [10, 10, 40], 10, Scale(10, 0, 100), Scale(100, 200, 0))
    assert path == "M0 200h0v-20h50v-60H100V200Z"


def test_rectangles():
    storages = [
        {"begin": 0, "end": 10, "offset": None, "bytes": 50},
        {"begin": 2, "end": 6, "offset": 25, "bytes": 50},
        {"begin": 3, "end": 3, "offset": 0, "bytes": 1},
    ]
    found = arena.rectangles(storages, Scale(10, 0, 100), Scale(100, 200, 0))
    assert found[0] == arena.Rectangle(storage=1, x=20, y=50, width=40, height=100)
    assert (found[1].storage, found[1].width) == (2, 0.8) and found[1].height == 2


def test_the_largest_buffers_are_drawn():
    storages = [{"bytes": size} for size in (5, 9, 9, 1, 7)]
    assert arena.largest(storages, 3) == [{"bytes": 9}, {"bytes": 9}, {"bytes": 7}]
    assert arena.largest(storages, 5) == storages


def test_sampled_rows_have_the_peak():
    line = {"steps": list(range(0, 300, 3)), "peak_step": 151}
    assert timeline.sample(line, 4) == [0, 25, 50, 75, 99]
    assert timeline.sample({"steps": [], "peak_step": 0}, 4) == []


def test_common_folder():
    assert tables.common_folder(["/a/b/x.py:1:2", "/a/bc/y.py:3:4", "unknown"]) == "/a/"
    assert tables.common_folder(["x.py:1", "/a/y.py"]) == "/a/"
    assert tables.common_folder(["a/x", "b/x"]) == "" and tables.common_folder([]) == ""


def test_elide():
    assert series.elide("short", 5) == "short"
    assert series.elide("0123456789", 5) == "01…89" and len(series.elide("x" * 99, 60)) == 60


def test_percent():
    found = [summary.percent(part) for part in (0, 0.123456, 0.00082, 0.000012)]
    assert found == ["0.00 %", "12.35 %", "0.082 %", "0.0012 %"]


# The page.


def test_the_page_has_what_the_report_says(json_report):
    page = Report(json_report).to_html({"step": POINTS})
    text = text_of(page)
    for words in (
        "Fits into 16.5 KB: the peak falls from 20.5 KB to 16.5 KB for 19.98 % more work.",
        "promised peak 16.5 KB before: 20.5 KB, 19.6 % less",
        "more work 19.98 % 2.73 ns of 13.7 ns; no plan adds less than 19.98 %",
        "smallest budget known to work 16.5 KB no plan needs less than 16.4 KB",
        "20.5 KB live at the peak, 12 steps",
        "The peak is at 'linalg.generic' (operation 10).",
        "Executions added: 1.",
        "4.10 KB activations %2 math.exp needed by this operation step.mlir:5:8",
        "800 B 5.00 % 10 ps",
    ):
        assert words in text, words
    assert page.count("<svg") == 6
    assert all(f'aria-label="{words}' in page for words in (
        "Memory over time before: 12 steps", "Map of the arena after: ", "What smaller peaks cost: 3 "))


def test_two_runs_give_the_same_bytes(json_report):
    code = (
        "import json, sys, remat; report = remat.Report.load(sys.argv[1])\n"
        "sys.stdout.write(report.to_html() + report.to_svg() + report._repr_html_())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code, str(DETAILED)], capture_output=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1 and len(found.pop()) > 10_000


def test_all_is_well_formed(json_report):
    report = Report(json_report)
    ElementTree.fromstring(report.to_svg())
    ElementTree.fromstring(report._repr_html_())
    body = re.search(r"<main.*</main>", report.to_html({"step": POINTS}), re.DOTALL)
    ElementTree.fromstring(body.group())


HOSTILE = "</script><script>window.bad=1</script><img src=x onerror='window.bad=2'>&\"\u202eüñ日\x00\ud800"


def hostile(json_report, name=HOSTILE):
    """A report where every text is the same."""
    def replace(value, key=""):
        if isinstance(value, dict):
            names = {k: name if key in ("bytes", "categories_at_peak") and k == "activations" else k
                     for k in value}
            return {names[k]: replace(item, k) for k, item in value.items()}
        if isinstance(value, list):
            return [replace(item, key) for item in value]
        return name if isinstance(value, str) and key != "status" else value

    return Report(replace(json_report))


def test_texts_are_escaped(json_report):
    report = hostile(json_report)
    for text in (report.to_html(), report.to_svg(), report._repr_html_()):
        text.encode("utf-8")
        assert "<img" not in text and "\x00" not in text and "window.bad=1</script><img" not in text
        assert "&lt;/script&gt;&lt;script&gt;" in text
    page = report.to_html()
    assert page.count("</script>") == 1 + len(re.findall(r'<script type="application/json"', page))
    ElementTree.fromstring(report.to_svg())
    ElementTree.fromstring(report._repr_html_())
    data = re.search(r'application/json" class="data">(.*?)</script>', page, re.DOTALL).group(1)
    assert HOSTILE in json.loads(data)["texts"]


def test_the_page_forbids_scripts_and_requests(json_report):
    page = Report(json_report).to_html()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    assert policy.startswith("default-src 'none';") and "script-src 'sha256-" in policy
    rest = page.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", rest)


def test_what_does_not_fit(json_report):
    report = changed(
        json_report, status="infeasible", budget_bytes=16000, overhead_lower_bound=None)
    text = text_of(report.to_html())
    assert "Does not fit into 16.0 KB: the smallest plan that is known needs 16.5 KB." in text
    assert "No plan can need less than 16.4 KB" in text and "That is 448 B more than the budget." in text
    assert "The smallest plan that is known needs 512 B more than the budget." in text
    assert "The arguments take 8.19 KB, the results 4.10 KB, constants 0 B." in text
    report = changed(
        json_report, status="infeasible", budget_bytes=16460, overhead_lower_bound=0.1)
    assert "No plan was found, and it is not proved that there is none" in text_of(report.to_html())
    report = changed(
        json_report, status="infeasible", budget_bytes=16460, overhead_lower_bound=None)
    assert "It is proved that no plan fits." in text_of(report.to_html())
    report = changed(json_report, status="infeasible", budget_bytes=None)
    assert "Does not fit into the limit" in text_of(report.to_html())


def test_what_needs_no_plan(json_report):
    same = {"status": "unchanged", "packed_bytes": 20544, "recomputed": [], "overhead": 0}
    text = text_of(changed(json_report, budget_bytes=30000, **same).to_html())
    assert "Fits into 30.0 KB as it is: it needs 20.5 KB." in text
    assert "What is recomputed" not in text
    text = text_of(changed(json_report, budget_bytes=None, **same).to_html())
    assert "Needs 20.5 KB. There was no budget." in text


def test_without_details(json_report):
    for key in ("timeline", "arena"):
        del json_report["functions"][0][key]
    report = Report(json_report)
    page = report.to_html()
    assert "'report-details=true' of the pass" in text_of(page)
    assert "data-chart" not in page.split("<script>")[0]
    assert "'report-details=true' of the pass" in text_of(report._repr_html_())
    with pytest.raises(remat.InvalidInputError, match="memory over time is not in the report; 'report-d"):
        report.to_svg()


def test_several_functions(json_report):
    [function] = json_report["functions"]
    other = {**copy.deepcopy(function), "name": "other"}
    skipped = {"name": "declared", "status": "skipped", "reason": "it has no body"}
    json_report["functions"] += [other, skipped]
    report = Report(json_report)
    page = report.to_html({"other": POINTS})
    assert page.count("<article") == 3 and page.count('class="data"') == 2
    assert "Was not planned: it has no body." in text_of(page)
    assert all(f'href="#function-{place}"' in page for place in range(3))
    assert page.index("What smaller peaks cost") > page.index('id="function-1"')
    svg = ElementTree.fromstring(report.to_svg())
    assert (svg.get("width"), svg.get("height")) == ("1280", str(2 * 486))
    json_report["functions"] = []
    assert "Memory of 0 functions" in Report(json_report).to_html()


def test_rounds_of_the_front_end(json_report):
    memory = {"argument_bytes": 1, "result_bytes": 1, "temporary_bytes": 1, "aliased_bytes": 0}
    json_report["xla"] = {
        "budget_bytes": 15000,
        "baseline": {**memory, "total_bytes": 20000},
        "chosen": {**memory, "total_bytes": 14900},
    }
    json_report["calibration"] = [
        {"target_bytes": 15000, "predicted_bytes": 14800, "xla_bytes": 15700, "overhead": 0.1,
         "minimum_bytes": 9000, "compiled": True},
        {"target_bytes": 14000, "predicted_bytes": 13900, "xla_bytes": 14900, "overhead": 0.1234,
         "minimum_bytes": 9000, "compiled": False},
    ]
    text = text_of(Report(json_report).to_html())
    assert ("XLA reports 14.9 KB, which fits into the budget of 15.0 KB; the unchanged program takes "
            "20.0 KB.") in text
    assert "1 15.0 KB 14.8 KB 15.7 KB 10.00 % too large" in text
    first = "XLA reports 14.9 KB, which fits into the budget of 15.0 KB"
    assert str(Report(json_report)).startswith(first)
    assert to_text(Report(json_report)).startswith(first)
    assert "2 14.0 KB 13.9 KB 14.9 KB 12.34 % fits, same program as before" in text
    json_report["xla"]["chosen"]["total_bytes"] = 15001
    json_report["calibration"] = []
    text = text_of(Report(json_report).to_html())
    assert "is above the budget" in text and "No plan was needed." not in text


def test_the_fusion_model(json_report):
    assert "fusion model" not in text_of(Report(json_report).to_html())
    assert "fusion model xla" in text_of(changed(json_report, fusion="xla").to_html())


def test_long_tables_are_cut(json_report):
    row = json_report["functions"][0]["live_at_peak"][0]
    rows = [{**row, "bytes": 1000 - index} for index in range(400)]
    page = changed(json_report, live_at_peak=rows).to_html()
    assert "138 more" in page and "250 smaller values are not listed: 181 KB." in page
    row = json_report["functions"][0]["recomputed"][0]
    page = changed(json_report, recomputed=[row] * 200).to_html()
    assert "50 cheaper ones are not listed" in page


def test_many_buffers(json_report):
    [function] = json_report["functions"]
    places = function["arena"]["after"]
    places["storages"] = [
        {**places["storages"][-1], "begin": index % 11, "end": index % 11 + 1, "location": f"a.py:{index}"}
        for index in range(2000)
    ]
    page = Report(json_report).to_html()
    assert "after: 1000 buffers in" in page and "The 1,000 largest of 2,000 are drawn." in page
    assert len(page) < 400_000


def test_categories_of_later_versions(json_report):
    for when in ("before", "after"):
        line = json_report["functions"][0]["timeline"][when]
        line["bytes"]["offloaded"] = [1] * len(line["steps"])
    report = Report(json_report)
    assert "offloaded" in text_of(report.to_html()) and 'class="mark c-other"' in report.to_html()
    assert "offloaded" in report.to_svg()


# Notebooks.


def test_outputs_of_notebooks_cannot_clash(json_report):
    output = Report(json_report)._repr_html_()
    root = ElementTree.fromstring(output)
    scope = root.get("class")
    assert re.fullmatch("remat-[0-9a-f]{8}", scope)
    assert not any(each.get("id") for each in root.iter()) and "<script" not in output
    sheet = re.sub(r"@media[^{]*\{(.*)\n\}", r"\1", root.find("style").text, flags=re.DOTALL)
    rules = re.findall(r"([^{}]+)\{[^{}]*\}", sheet)
    assert len(rules) > 30
    for selector in ",".join(rules).split(","):
        assert f".{scope}" in selector, selector
    # Colours are there without the style sheet.
    assert 'fill="#e8793a"' in output and "up to" in output
    assert remat.Result("", Report(json_report))._repr_html_() == output


# Files and the command.


def run(*arguments):
    return main([str(each) for each in arguments])


def test_the_command(tmp_path, capsys):
    report, points = tmp_path / "report.json", tmp_path / "points.json"
    page, picture = tmp_path / "page.html", tmp_path / "page.svg"
    assert run("optimize", STEP, "--budget=81%", "-o", tmp_path / "out", "--report", report,
               "--details", "--pareto", points) == 0
    read = Report.load(report)
    assert "timeline" in read.function().json
    fronts = read_fronts(points)
    assert [point.peak_bytes for point in fronts["step"]][0] == 20544
    assert run("report", report, "-o", page, "--pareto", points) == 0
    assert page.read_text("utf-8") == read.to_html(fronts)
    assert run("report", report, "-o", picture) == 0
    assert picture.read_text("utf-8") == read.to_svg()
    assert run("optimize", STEP, "--budget=81%", "-o", tmp_path / "out", "--report", page,
               "--pareto", points) == 0
    assert page.read_text("utf-8") == read.to_html(fronts)
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "out", "page.html", "page.svg", "points.json", "report.json"]


def test_pages_of_what_does_not_fit(tmp_path, capsys):
    page = tmp_path / "page.html"
    assert run("optimize", STEP, "--budget=16500B", "-o", os.devnull, "--report", page) == 1
    text = text_of(page.read_text("utf-8"))
    assert "What stands in the way" in text and "Memory over time Live bytes" in text


def test_details_from_python():
    result = remat.optimize(STEP, "81%", details=True, pareto=True)
    assert result.report.function().timeline["after"]["num_steps"] > 0
    assert "What smaller peaks cost" in result.report.to_html(result.pareto)
    assert "timeline" not in remat.optimize(STEP, "81%").report.function().json


def test_fronts_survive_files(tmp_path):
    path = tmp_path / "front.json"
    path.write_text(fronts_to_json({"f": POINTS, "g": []}))
    assert read_fronts(path) == {"f": POINTS, "g": []}


def test_saving(tmp_path, json_report):
    report = Report(json_report)
    for name, text in (("a.html", report.to_html()), ("b.HTM", report.to_html()),
                       ("c.svg", report.to_svg())):
        report.save(tmp_path / name)
        assert (tmp_path / name).read_text("utf-8") == text
    report.save(tmp_path / "d.json")
    assert Report.load(tmp_path / "d.json") == report
    # A link stays one, and a device is not replaced.
    link = tmp_path / "link.html"
    link.symlink_to(tmp_path / "a.html")
    report.save(link)
    assert link.is_symlink()
    report.save(os.devnull)
    assert not os.path.isfile(os.devnull)
    with pytest.raises(OSError) as caught:
        report.save(tmp_path / "absent" / "page.html")
    assert caught.value.filename == str(tmp_path / "absent" / "page.html")


def test_a_failed_write_leaves_the_old_file(tmp_path, json_report):
    path = tmp_path / "page.html"
    path.write_text("old")
    json_report["functions"][0]["timeline"]["after"]["steps"].pop()
    with pytest.raises(remat.InvalidInputError):
        Report(json_report).save(path)
    assert path.read_text() == "old" and [each.name for each in tmp_path.iterdir()] == ["page.html"]


def wrong(change):
    root = json.loads(DETAILED.read_text())
    change(root["functions"][0], root)
    return json.dumps(root)


@pytest.mark.parametrize("text, message", [
    ("", "is not JSON: "),
    ("{", "is not JSON: "),
    ("\xff", "is not JSON: "),
    ("[" * 100_000, "is not JSON that can be read: nested too deep"),
    ("[]", "expected a report, an object with the array 'functions'"),
    ('{"functions": [], "version": 2}', "expected a report of version 1, but got 2"),
    ('{"functions": [7], "version": 1}', "expected an object at 'report.functions[0]', but got 7"),
    ('{"functions": [{}], "version": 1}', "expected the key 'name' in 'report.functions[0]'"),
    (wrong(lambda f, r: f.update(name=None)), "expected a text at 'report.functions[0].name', but got None"),
    (wrong(lambda f, r: f.update(status="?")),
     "expected 'unchanged' or 'met' or 'infeasible' at 'report.functions[0].status', but got '?'"),
    (wrong(lambda f, r: f.update(packed_bytes=-1)),
     "expected a whole number from 0 to 2^63-1 at 'report.functions[0].packed_bytes', but got -1"),
    (wrong(lambda f, r: f.update(packed_bytes=True)), "'report.functions[0].packed_bytes', but got True"),
    (wrong(lambda f, r: f.update(packed_bytes=2**63)), "expected a whole number from 0 to 2^63-1"),
    (wrong(lambda f, r: f.update(overhead=float("nan"))), "expected a number at"),
    (wrong(lambda f, r: f.update(live_at_peak={})), "expected an array at 'report.functions[0].live_at_peak'"),
    (wrong(lambda f, r: f.update(timeline=[])), "expected an object at 'report.functions[0].timeline'"),
    (wrong(lambda f, r: f.update(name=["x" * 500])), "'" + "x" * 58 + "…"),
    (wrong(lambda f, r: f["timeline"]["after"]["bytes"]["inputs"].pop()),
     "numbers at 'report.functions[0].timeline.after.bytes.inputs', but got"),
    (wrong(lambda f, r: f["timeline"]["after"]["steps"].reverse()),
     "expected rising steps at 'report.functions[0].timeline.after.steps'"),
    (wrong(lambda f, r: f["timeline"]["after"].update(num_steps=2)),
     "expected less than 2 steps at 'report.functions[0].timeline.after.steps'"),
    (wrong(lambda f, r: f["arena"]["after"]["storages"][0].update(recomputed=0)),
     "expected true or false at 'report.functions[0].arena.after.storages[0].recomputed', but got 0"),
    (wrong(lambda f, r: r.update(calibration=[{}])),
     "expected the key 'target_bytes' in 'report.calibration[0]'"),
])
@pytest.mark.parametrize("name", ["page.html", "page.svg", None])
def test_wrong_reports(tmp_path, capsys, text, message, name):
    path = tmp_path / "report.json"
    path.write_text(text, encoding="latin-1")
    assert run("report", path, *(["-o", tmp_path / name] if name else [])) == 2
    found = capsys.readouterr()
    assert message in found.err and found.err.startswith("error: ") and found.out == ""
    assert [each.name for each in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.parametrize("text, message", [
    ("{", "is not JSON"),
    ("{}", "expected the key 'functions' in 'front'"),
    ('{"functions": [{"name": "step", "points": [{}]}]}',
     "expected the key 'packed_bytes' in 'front.functions[0].points[0]'"),
    ('{"functions": [{"name": "x", "points": []}]}', "the front of function 'x' is not one of the report"),
])
def test_wrong_fronts(tmp_path, capsys, text, message):
    path, page = tmp_path / "front.json", tmp_path / "page.html"
    path.write_text(text)
    assert run("report", DETAILED, "-o", page, "--pareto", path) == 2
    assert message in capsys.readouterr().err and not page.exists()


def test_wrong_names(tmp_path, capsys):
    path = tmp_path / "page.pdf"
    assert run("report", DETAILED, "-o", path) == 2
    assert f"error: expected a name that ends in '.html' or '.svg', but got '{path}'" in (
        capsys.readouterr().err)
    assert run("report", DETAILED, "--pareto", tmp_path / "front.json") == 2
    assert "error: '--pareto' needs '--output'" in capsys.readouterr().err
    assert run("report", tmp_path / "absent.json", "-o", tmp_path / "page.html") == 2
    assert not list(tmp_path.iterdir())
