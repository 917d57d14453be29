// SPDX-FileCopyrightText: 2026 The Stripewise developers
// SPDX-License-Identifier: BSD-3-Clause
// Comfort only: charts, and buttons that copy.  Every figure is also in the CSV of its block.
(function () {
  "use strict";

  const SIZES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

  function size(value) {
    let unit = 0;
    while (Math.abs(value) >= 1024 && unit < SIZES.length - 1) { value /= 1024; unit += 1; }
    return Number(value.toPrecision(3)) + " " + SIZES[unit];
  }

  // Blanks from 10 000 on, as on the rest of the page.
  function count(value) {
    const digits = Math.abs(value) < 100 ? 3 : Math.max(3, Math.round(value).toString().length);
    return Number(value.toPrecision(digits)).toLocaleString("en", { useGrouping: "min2" }).replaceAll(",", " ");
  }

  const WORDS = {
    bytes: size,
    rate: (value) => size(value) + "/s",
    share: (value) => Number((100 * value).toPrecision(3)) + " %",
    seconds: (value) => Number(value.toPrecision(3)) + " s",
    operations: (value) => count(value) + "/s",
  };

  function words(kind) {
    const write = WORDS[kind] || count;
    return (value) => (value === null || value === undefined ? "–" : write(value));
  }

  const POWERS = Array.from({ length: 64 }, (_, power) => 2 ** power);
  const DAY = "{YYYY}-{MM}-{DD}";
  const CLOCK = [
    [3600 * 24 * 28, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
    [3600 * 24, "{MM}-{DD}", "\n{YYYY}", null, null, null, null, null, 1],
    [60, "{HH}:{mm}", "\n{MM}-{DD}", null, "\n{MM}-{DD}", null, null, null, 1],
    [1, "{HH}:{mm}:{ss}", "\n{MM}-{DD}", null, "\n{MM}-{DD}", null, null, null, 1],
  ];

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function marks(spans) {
    return {
      hooks: {
        drawClear: (u) => {
          u.ctx.save();
          for (const span of spans) {
            const left = Math.max(u.valToPos(span.begin, "x", true), u.bbox.left);
            const right = Math.min(u.valToPos(span.end, "x", true), u.bbox.left + u.bbox.width);
            if (right > left) {
              u.ctx.fillStyle = colour("--link");
              u.ctx.globalAlpha = 0.14;
              u.ctx.fillRect(left, u.bbox.top, Math.max(right - left, 2), u.bbox.height);
            }
          }
          u.ctx.restore();
        },
      },
    };
  }

  const known = (value) => value !== null && value !== undefined;

  // Each value holds up to the next moment, and the last one as long as the one before it.
  function inSteps(at, values) {
    const end = at[at.length - 1] + (at.length > 1 ? at[at.length - 1] - at[at.length - 2] : 1);
    const held = [...values, null].map((value, place, all) => (known(value) || !place ? value : all[place - 1]));
    return [[...at, end], held.map((value) => (known(value) ? value : null))];
  }

  // Values with gaps on both sides: no line leads to them.
  function alone(values) {
    return values.flatMap((value, place) =>
      known(value) && !known(values[place - 1]) && !known(values[place + 1]) ? [place] : []);
  }

  function draw(figure) {
    const chart = JSON.parse(figure.dataset.chart);
    const isSteps = chart.style === "steps";
    const write = words(chart.kind);
    const inks = ["--read", "--write", "--meta", "--good", "--bad", "--muted"].map(colour);
    const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 } };
    const paths = isSteps ? uPlot.paths.stepped({ align: 1 }) : undefined;
    const series = chart.lines.map((line, place) => ({
      label: line.title,
      stroke: inks[place % inks.length],
      width: 2,
      dash: place >= inks.length ? [6, 4] : undefined,
      paths: chart.style === "points" ? () => null : paths,
      points: {
        show: chart.style === "points" || chart.at.length < 2,
        fill: colour("--paper"),
        size: place === 0 ? 9 : 6, // points of several lines at one place are all seen
        filter: (_, number, show) => (show || isSteps ? null : alone(line.values)),
      },
      value: (_u, _value, _number, at) => write(line.values[at]),
    }));
    const first = chart.clock ? { label: "UTC", value: DAY + " {HH}:{mm}" } : { label: "s", value: (_, v) => (v === null ? "–" : v.toFixed(1)) };
    figure.replaceChildren();
    const plot = new uPlot(
      {
        width: Math.max(figure.clientWidth, 240),
        height: 260,
        tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC"),
        scales: {
          x: { time: chart.clock },
          y: { range: (_, low, high) => (low === null ? [0, 1] : [Math.min(low, 0), 1.05 * high || 1]) },
        },
        axes: [
          chart.clock ? { ...axis, values: CLOCK } : axis,
          { ...axis, size: 76, values: (_, ticks) => ticks.map(write),
            ...(chart.kind === "bytes" || chart.kind === "rate" ? { incrs: POWERS } : {}) },
        ],
        series: [first, ...series],
        plugins: [marks(chart.spans)],
      },
      isSteps
        ? [inSteps(chart.at, [])[0], ...chart.lines.map((line) => inSteps(chart.at, line.values)[1])]
        : [chart.at, ...chart.lines.map((line) => line.values)],
      figure,
    );
    figure.plot = plot;
  }

  function addCopyButton(box) {
    if (box.querySelector("button") || !navigator.clipboard) { return; }
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", () => {
      navigator.clipboard.writeText(box.querySelector("code").textContent).then(() => {
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 1500);
      });
    });
    box.append(button);
  }

  function prepare(root) {
    root.querySelectorAll("figure.chart").forEach(draw);
    root.querySelectorAll(".copy").forEach(addCopyButton);
  }

  document.addEventListener("DOMContentLoaded", () => prepare(document));
  document.addEventListener("htmx:afterSettle", () => prepare(document.getElementById("content")));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => prepare(document));
  window.addEventListener("resize", () => {
    document.querySelectorAll("figure.chart").forEach((figure) => {
      if (figure.plot) { figure.plot.setSize({ width: Math.max(figure.clientWidth, 240), height: 260 }); }
    });
  });
})();
