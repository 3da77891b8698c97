// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says what is under the pointer. Texts of the report only become text nodes.
"use strict";
(() => {
  const LEFT = 66, RIGHT = 12, NAMED = 12;
  const SVG = "http://www.w3.org/2000/svg";

  // The same as remat.units.format_bytes.
  function formatBytes(count) {
    const units = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];
    let unit = 0;
    while (unit + 1 < units.length && count >= 999.5) {
      count /= 1000;
      ++unit;
    }
    return `${count.toFixed(unit === 0 || count >= 99.95 ? 0 : count >= 9.995 ? 1 : 2)} ${units[unit]}`;
  }

  function sums(deltas) {
    let sum = 0;
    return deltas.map(delta => sum += delta);
  }

  function indexAt(steps, step) {
    let low = 0, high = steps.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (steps[middle] <= step) low = middle + 1; else high = middle;
    }
    return Math.max(low - 1, 0);
  }

  function read(raw, texts) {
    return {
      end: raw.end,
      steps: sums(raw.steps),
      layers: raw.layers.map(([name, look, bytes]) => ({name, look, bytes: sums(bytes)})),
      storages: raw.storages.map(row => ({
        value: texts[row[0]], producer: texts[row[1]], category: texts[row[2]], look: texts[row[3]],
        location: texts[row[4]], reason: texts[row[5]], bytes: row[6], begin: row[7], end: row[8],
        offset: row[9], recomputed: row[10],
      })),
    };
  }

  const tip = document.body.appendChild(document.createElement("div"));
  tip.className = "remat tip";
  tip.hidden = true;
  tip.setAttribute("role", "status");

  // A row of the tip: a colour, what it is, and how much.
  function row(look, name, amount, kind = "") {
    const line = document.createElement("div");
    line.className = kind;
    if (look) line.appendChild(document.createElement("i")).className = `swatch ${look}`;
    line.appendChild(document.createElement("span")).textContent = name;
    if (amount) line.appendChild(document.createElement("span")).textContent = amount;
    return line;
  }

  function title(text) {
    const line = document.createElement("b");
    line.textContent = text;
    return line;
  }

  function rule() {
    const line = document.createElement("div");
    line.className = "rule";
    return line;
  }

  function show(lines, x, y) {
    tip.replaceChildren(...lines);
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = x + 16 + box.width > innerWidth ? x - 16 - box.width : x + 16;
    tip.style.left = `${Math.max(8, Math.min(left, innerWidth - box.width - 8))}px`;
    tip.style.top = `${Math.max(8, Math.min(y + 16, innerHeight - box.height - 8))}px`;
  }

  const name = each => each.value ? `${each.value} ${each.producer}` : each.producer;

  function describeStep(chart, step) {
    const {steps, layers, storages, end} = chart;
    const index = indexAt(steps, step);
    const total = layers.reduce((sum, layer) => sum + layer.bytes[index], 0);
    const lines = [title(`Step ${steps[index]} of ${end}: ${formatBytes(total)}`)];
    for (const layer of [...layers].reverse())
      if (layer.bytes[index])
        lines.push(row(layer.look, layer.name, formatBytes(layer.bytes[index])));
    const live = storages.filter(each => each.begin <= steps[index] && steps[index] < each.end);
    live.sort((a, b) => b.bytes - a.bytes);
    if (live.length) lines.push(rule());
    for (const each of live.slice(0, NAMED))
      lines.push(row(each.look, name(each) + (each.recomputed ? " (again)" : ""), formatBytes(each.bytes)));
    const rest = total - live.slice(0, NAMED).reduce((sum, each) => sum + each.bytes, 0);
    if (live.length && rest > 0) lines.push(row("", "smaller ones", formatBytes(rest), "faint"));
    return lines;
  }

  function describeStorage(each) {
    const lines = [title(`${name(each)}: ${formatBytes(each.bytes)}`)];
    lines.push(row(each.look, each.category + (each.recomputed ? ", recomputed" : ""), ""));
    lines.push(row("", "steps", `${each.begin} to ${each.end}`));
    if (each.offset !== null) lines.push(row("", "offset", formatBytes(each.offset)));
    if (each.reason) lines.push(row("", `at the peak: ${each.reason}`, "", "wrap"));
    if (each.location) lines.push(row("", each.location, "", "wrap faint"));
    return lines;
  }

  // The arrow keys move through `count` positions; what is there is shown and spoken.
  function keys(svg, first, count, label, point) {
    let position = first;
    svg.setAttribute("role", "slider");
    svg.setAttribute("tabindex", "0");
    svg.setAttribute("aria-valuemin", 0);
    svg.setAttribute("aria-valuemax", Math.max(count - 1, 0));
    const move = to => {
      position = Math.max(0, Math.min(count - 1, to));
      svg.setAttribute("aria-valuenow", position);
      svg.setAttribute("aria-valuetext", label(position));
      return position;
    };
    move(first);
    svg.addEventListener("keydown", event => {
      const page = Math.max(1, Math.round(count / 20));
      const to = {
        ArrowRight: position + 1, ArrowUp: position + 1, ArrowLeft: position - 1, ArrowDown: position - 1,
        PageUp: position + page, PageDown: position - page, Home: 0, End: count - 1,
      }[event.key];
      if (to === undefined || !count) return;
      event.preventDefault();
      point(move(to));
    });
    return move;
  }

  function connect(svgs, chart) {
    const width = svgs[0].viewBox.baseVal.width;
    const coordinate = step => LEFT + step / chart.end * (width - LEFT - RIGHT);
    // Both charts have the same steps, so the line is in both.
    const lines = svgs.map(svg => {
      const line = svg.appendChild(document.createElementNS(SVG, "line"));
      line.setAttribute("class", "cross");
      line.setAttribute("y1", 14);
      line.setAttribute("y2", svg.viewBox.baseVal.height - 34);
      return line;
    });
    const cross = step => lines.forEach(line => {
      const x = coordinate(step + 0.5);
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      line.style.visibility = "visible";
    });
    const place = (svg, x) => {
      const box = svg.getBoundingClientRect();
      return [box.left + x / width * box.width, box.top + box.height / 3];
    };
    const stepAt = (svg, clientX) => {
      const box = svg.getBoundingClientRect();
      const x = (clientX - box.left) / box.width * width;
      return Math.max(0, Math.min(chart.end - 1, (x - LEFT) / (width - LEFT - RIGHT) * chart.end));
    };
    const hide = () => {
      tip.hidden = true;
      lines.forEach(line => line.style.visibility = "hidden");
      svgs.forEach(svg => svg.querySelector(".lit")?.classList.remove("lit"));
    };

    for (const svg of svgs) {
      svg.classList.add("live");
      svg.addEventListener("pointerleave", hide);
      svg.addEventListener("blur", hide);
      svg.addEventListener("keydown", event => { if (event.key === "Escape") hide(); });
      const say = lines => lines.map(line => line.textContent).join(", ");
      if (svg.dataset.chart === "timeline") {
        const titles = index => say(describeStep(chart, chart.steps[index]).slice(0, 1));
        const move = keys(svg, 0, chart.steps.length, titles, index => {
          cross(chart.steps[index]);
          show(describeStep(chart, chart.steps[index]), ...place(svg, coordinate(chart.steps[index])));
        });
        svg.addEventListener("pointermove", event => {
          if (!chart.steps.length) return;
          const index = move(indexAt(chart.steps, stepAt(svg, event.clientX)));
          cross(chart.steps[index]);
          show(describeStep(chart, chart.steps[index]), event.clientX, event.clientY);
        });
        continue;
      }
      const boxes = [...svg.querySelectorAll("[data-i]")].sort((a, b) => a.dataset.i - b.dataset.i);
      const storage = box => chart.storages[box.dataset.i];
      const light = box => {
        svg.querySelector(".lit")?.classList.remove("lit");
        box?.classList.add("lit");
      };
      keys(svg, 0, boxes.length, index => boxes.length ? say(describeStorage(storage(boxes[index]))) : "", index => {
        light(boxes[index]);
        const box = boxes[index].getBoundingClientRect();
        show(describeStorage(storage(boxes[index])), box.right, box.bottom);
      });
      svg.addEventListener("pointermove", event => {
        const box = event.target.closest("[data-i]");
        light(box);
        cross(Math.floor(stepAt(svg, event.clientX)));
        if (box) show(describeStorage(storage(box)), event.clientX, event.clientY);
        else tip.hidden = true;
      });
    }
  }

  for (const element of document.querySelectorAll("script.data")) {
    const data = JSON.parse(element.textContent);
    for (const when of ["before", "after"]) {
      const svgs = [...element.parentNode.querySelectorAll(`svg[data-when=${when}]`)];
      connect(svgs, read(data[when], data.texts));
    }
  }
})();
