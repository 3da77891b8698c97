# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pages of reports in a browser without a screen: they load, fit, and say what is under the pointer.

REQUIRES: chromium
RUN: env SHARED_DATA=%shared_data %pytest %s
"""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import remat
from remat.report import Report
from remat.units import format_bytes

INPUTS = pathlib.Path(__file__).parent / "Inputs"
DETAILED = INPUTS / "report.json"
ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED_DATA = pathlib.Path(os.environ.get("SHARED_DATA", ROOT.parent / "shared" / "data"))
REAL = SHARED_DATA / "mlir" / "gpt2-tiny.stablehlo.mlir"

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="chromium is not installed")

# Errors of the page, then what `script` finds, are sent to the page around it.
BEFORE = """<script>
window.errors = [];
window.onerror = message => { errors.push(String(message)); };
</script>"""
AFTER = """<script>
addEventListener("load", () => {
  const all = selector => [...document.querySelectorAll(selector)];
  const tip = () => document.querySelector(".tip");
  const point = (element, x, y) => {
    const box = element.getBoundingClientRect();
    element.dispatchEvent(new PointerEvent("pointermove",
      {clientX: box.left + box.width * x, clientY: box.top + box.height * y, bubbles: true}));
  };
  const press = (element, key) =>
    element.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
  let found;
  try { found = (() => { %s })(); } catch (error) { errors.push(String(error)); }
  parent.postMessage({found, errors, width: innerWidth, scroll: document.documentElement.scrollWidth,
    requests: performance.getEntriesByType("resource").length}, "*");
});
</script>"""
AROUND = """<!DOCTYPE html><body style="margin:0"><iframe style="border:0;width:%dpx;height:2000px"
src="inner.html"></iframe><pre id="result"></pre><script>
addEventListener("message", event => {
  document.getElementById("result").textContent = JSON.stringify(event.data);
});
</script>"""


def start(path, folder, *options):
    """The tree of a page after its scripts, and what the browser logs."""
    done = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile",
         "--enable-logging=stderr", "--virtual-time-budget=3000", *options, "--dump-dom",
         path.as_uri()],
        capture_output=True, text=True, timeout=120, env={**os.environ, "HOME": str(folder)})
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def browse(page, folder, script, width=1280, *options):
    """What a script finds in a page of this width. The page's own policy would not let it run."""
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    page = page.replace("<head>", "<head>" + BEFORE).replace("</body>", AFTER % script + "</body>")
    (folder / "inner.html").write_text(page, encoding="utf-8")
    around = folder / "around.html"
    around.write_text(AROUND % width)
    tree, log = start(around, folder, f"--window-size={max(width, 600)},2000", *options)
    result = json.loads(html.unescape(re.search(r'<pre id="result">(.*?)</pre>', tree).group(1)))
    assert (result["errors"], log, result["requests"]) == ([], [], 0)
    return result


@pytest.fixture(scope="module")
def report():
    return Report.load(DETAILED)


@pytest.fixture(scope="module")
def page(report):
    points = [remat.FrontPoint(20544, 0, 0.0), remat.FrontPoint(16512, 2731, 0.2)]
    return report.to_html({"step": points})


def test_it_loads_under_its_own_policy(page, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(page, encoding="utf-8")
    tree, log = start(path, tmp_path)
    assert log == []
    # The script has run: it makes the charts sliders, and the box for what is under the pointer.
    assert tree.count('role="slider"') == 4 and 'class="remat tip"' in tree


def test_no_other_script_runs(page, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(page.replace("</body>", "<script>document.title = 'bad'</script></body>"), "utf-8")
    tree, log = start(path, tmp_path)
    assert "<title>bad" not in tree and any("Content Security Policy" in line for line in log)


def long_names(report):
    text = json.dumps(report.json)
    for name in ("math.exp", "%arg0", "step.mlir:5:8", '"step"'):
        text = text.replace(name, name.replace("math", "m" * 900).replace("arg", "a" * 900)
                            .replace("mlir", "l" * 900).replace("step\"", "s" * 900 + '"'))
    return Report.parse(text)


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_window(report, page, tmp_path, width):
    for text in (page, long_names(report).to_html()):
        opened = "for (const each of all('details')) each.open = true; return all('details').length"
        result = browse(text, tmp_path, opened, width)
        assert result["found"] > 0 and result["width"] == width and result["scroll"] <= width


def test_pointing_at_memory_over_time(report, page, tmp_path):
    result = browse(page, tmp_path, """
        const svg = all("svg[data-chart=timeline]")[1];
        const before = tip().hidden;
        const texts = [];
        for (let x = 0; x <= 1; x += 0.01) { point(svg, x, 0.5); texts.push(tip().textContent); }
        const shown = !tip().hidden, box = tip().getBoundingClientRect();
        const lines = all(".cross").map(line => line.style.visibility);
        svg.dispatchEvent(new PointerEvent("pointerleave"));
        return {before, shown, texts, lines, after: tip().hidden,
                inside: box.left >= 0 && box.right <= innerWidth};""")["found"]
    assert result["before"] and result["shown"] and result["after"] and result["inside"]
    # The line is in both charts of the plan, and in none of what was before.
    assert result["lines"] == ["", "visible", "", "visible"]
    timeline = report.function().timeline["after"]
    storages = report.function().arena["after"]["storages"]
    seen = set()
    for text in result["texts"]:
        step = int(re.match(r"Step (\d+) of", text).group(1))
        index = timeline["steps"].index(step)
        seen.add(index)
        total = sum(sizes[index] for sizes in timeline["bytes"].values())
        assert text.startswith(f"Step {step} of {timeline['num_steps']}: {format_bytes(total)}")
        for category, sizes in timeline["bytes"].items():
            assert (category.replace("_", " ") + format_bytes(sizes[index]) in text) == (sizes[index] > 0)
        for each in storages:
            live = each["begin"] <= step < each["end"]
            again = " (again)" if each["recomputed"] else ""
            row = f"{each['value']} {each['producer']}{again}{format_bytes(each['bytes'])}"
            assert not live or row in text
    assert seen == set(range(len(timeline["steps"])))


def test_pointing_at_buffers(report, page, tmp_path):
    result = browse(page, tmp_path, """
        const svg = all("svg[data-chart=arena]")[1];
        return [...svg.querySelectorAll("[data-i]")].map(box => {
          point(box, 0.5, 0.5);
          return [box.dataset.i, tip().textContent, all(".lit").length, tip().hidden];
        });""")["found"]
    storages = report.function().arena["after"]["storages"]
    assert sorted(int(row[0]) for row in result) == [
        index for index, each in enumerate(storages) if each["offset"] is not None]
    assert any(each["recomputed"] for each in storages)
    for index, text, lit, hidden in result:
        each = storages[int(index)]
        assert lit == 1 and not hidden
        assert text.startswith(f"{each['value']} {each['producer']}: {format_bytes(each['bytes'])}")
        for words in (f"steps{each['begin']} to {each['end']}", f"offset{format_bytes(each['offset'])}",
                      each["category"].replace("_", " "), each["location"], each["reason"]):
            assert words in text
        assert (", recomputed" in text) == each["recomputed"]


def test_keys(report, page, tmp_path):
    found = browse(page, tmp_path, """
        return all("[role=slider]").map(svg => {
          const now = () => [svg.getAttribute("aria-valuenow"), svg.getAttribute("aria-valuetext"),
                             tip().hidden];
          svg.focus();
          const texts = [now()];
          for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight", "Home",
                             "Escape"]) {
            press(svg, key);
            texts.push(now());
          }
          return {label: svg.getAttribute("aria-label"), max: svg.getAttribute("aria-valuemax"), texts};
        });""")["found"]
    assert [each["label"].split(":")[0] for each in found] == [
        "Memory over time before", "Memory over time after", "Map of the arena before",
        "Map of the arena after"]
    for each in found:
        last = each["max"]
        assert [row[0] for row in each["texts"]] == ["0", "1", "2", "1", last, last, "0", "0"]
        assert [row[2] for row in each["texts"]] == [True] + 6 * [False] + [True]
    steps = report.function().timeline["before"]["steps"]
    assert found[0]["texts"][1][1].startswith(f"Step {steps[1]} of ")


def test_sizes_are_written_as_in_python(report, tmp_path):
    sizes = [1, 999, 1000, 9994, 9995, 99949, 99950, 999499, 999500, 10**9, 12345678901, 2**53]
    root = json.loads(json.dumps(report.json))
    line = root["functions"][0]["timeline"]["after"]
    line.update(num_steps=len(sizes), peak_step=0, steps=list(range(len(sizes))),
                bytes={"activations": sizes})
    root["functions"][0]["arena"]["after"]["storages"] = []
    found = browse(Report(root).to_html(), tmp_path, """
        const svg = all("svg[data-chart=timeline]")[1];
        return [...Array(%d).keys()].map(() => {
          const text = svg.getAttribute("aria-valuetext");
          press(svg, "ArrowRight");
          return text;
        });""" % len(sizes))["found"]
    assert found == [
        f"Step {step} of {len(sizes)}: {format_bytes(size)}" for step, size in enumerate(sizes)]


def test_hostile_names_do_nothing(report, tmp_path):
    evil = "</script><script>window.bad=1</script><img src=x onerror='window.bad=2'>"
    root = json.loads(json.dumps(report.json))
    for when in ("before", "after"):
        for each in root["functions"][0]["arena"][when]["storages"]:
            each.update(value=evil, producer=evil, location=evil, reason=evil, category=evil)
    root["functions"][0].update(name=evil)
    found = browse(Report(root).to_html(), tmp_path, """
        const texts = all("svg[data-chart]").map(svg => {
          point(svg.querySelector("[data-i]") ?? svg, 0.5, 0.5);
          return tip().textContent;
        });
        return {texts, images: all("img").length, bad: window.bad ?? null};""")["found"]
    assert found["images"] == 0 and found["bad"] is None
    assert all(evil in text for text in found["texts"])


def test_dark_and_light(page, report, tmp_path):
    script = """
        const color = (element, name) => getComputedStyle(element)[name];
        return [color(document.body, "backgroundColor"), color(all(".lead")[0], "color"),
                color(all("svg .c-activations")[0], "fill"), color(all("svg .grid")[0], "stroke")];"""
    light, dark = (
        browse(page, tmp_path, script, 1280, f"--blink-settings=preferredColorScheme={scheme}")["found"]
        for scheme in (1, 0))
    assert all(one != other for one, other in zip(light, dark))
    assert (light[0], dark[0]) == ("rgb(246, 247, 249)", "rgb(20, 22, 27)")
    assert light[2] == "rgb(232, 121, 58)"


def test_many_outputs_in_a_notebook(report, tmp_path):
    output = report._repr_html_()
    cells = "".join(f"<section>{output}</section>" for _ in range(20))
    notebook = ("<!DOCTYPE html><html><head></head><body data-jp-theme-light=THEME><p class=name>x</p>"
                + cells + "</body></html>")
    script = """
        const svg = all("svg")[1].getBoundingClientRect();
        return {tall: svg.width > 300 && svg.height > 150, charts: all("svg").length, ids: all("[id]").length,
                mark: getComputedStyle(all("svg .c-activations")[0]).fill,
                other: getComputedStyle(all("p.name")[0]).fontWeight};"""
    found = browse(notebook.replace("THEME", "true"), tmp_path, script)["found"]
    assert found == {"tall": True, "charts": 60, "ids": 0, "mark": "rgb(232, 121, 58)", "other": "400"}
    assert browse(notebook.replace("THEME", "false"), tmp_path, script)["found"]["mark"] == (
        "rgb(238, 138, 79)")


def test_names_do_not_cover_each_other(report, tmp_path):
    root = json.loads(json.dumps(report.json))
    [function] = root["functions"]
    last = function["timeline"]["after"]["num_steps"] - 1
    for step in (0, last // 2, last // 2 + 1, last):
        function["timeline"]["after"]["peak_step"] = step
        function["budget_bytes"] = function["peak_bytes"]
        found = browse(Report(root).to_html(), tmp_path, """
            const svg = all("svg[data-chart=timeline]")[1];
            const [one, other] = [".limit-name", "text.ink"].map(
              name => svg.querySelector(name).getBoundingClientRect());
            return one.right < other.left || other.right < one.left;""")["found"]
        assert found, step


def test_a_picture_loads(report, tmp_path):
    path = tmp_path / "picture.svg"
    report.save(path)
    picture = f'<!DOCTYPE html><html><head></head><body>{path.read_text("utf-8")}</body></html>'
    found = browse(picture, tmp_path, """
        const svg = all("svg")[0].getBoundingClientRect();
        return all("svg text").every(text => {
          const box = text.getBoundingClientRect();
          return box.left >= svg.left && box.right <= svg.right && box.bottom <= svg.bottom;
        }) && [svg.width, svg.height];""", 1400)["found"]
    assert found == [1280, 486]


@pytest.mark.skipif(not REAL.exists(), reason="the instances are not there")
def test_a_real_step(tmp_path):
    page = remat.optimize(REAL, "95%", effort=0, details=True).report.to_html()
    assert len(page) < 400_000
    found = browse(page, tmp_path, """
        const svgs = all("svg[data-chart]");
        return svgs.map(svg => { point(svg.querySelector("[data-i]") ?? svg, 0.5, 0.5);
                                 return tip().textContent; });""", 390)
    assert found["scroll"] <= 390
    assert all("stablehlo." in text or "argument" in text for text in found["found"])
