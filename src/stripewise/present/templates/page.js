/* SPDX-FileCopyrightText: 2026 The Stripewise developers */
/* SPDX-License-Identifier: BSD-3-Clause */
// Draws charts, sorts tables and copies lines: comfort only, since pages say all of it in words.
(function () {
  "use strict";

  const drawers = new Map(); // of the charts of the page: what draws each anew

  // The width of the labels of a chart: its own if it asks for more, but half of the page at most.
  function roomOfLabels(part, usual, wide) {
    let room = usual;
    (part.layer || [part]).forEach(function (layer) {
      const axis = layer.encoding && layer.encoding.y && layer.encoding.y.axis;
      if (!axis || !(axis.maxExtent > usual)) { return; }
      axis.maxExtent = Math.min(axis.maxExtent, Math.floor(wide / 2));
      axis.labelLimit = axis.maxExtent - 8;
      room = Math.max(room, axis.maxExtent);
    });
    return room;
  }

  // The specification with colours of the page, as wide as there is room.
  function fitted(figure, wide) {
    const style = getComputedStyle(figure);
    const spec = JSON.parse(figure.dataset.chart, function (_, value) {
      const found = typeof value === "string" && value.match(/^var\((--[a-z]+)\)$/);
      return found ? style.getPropertyValue(found[1]).trim() : value;
    });
    const labels = wide < 560 ? 64 : 112;
    spec.description = figure.ariaLabel;
    if (spec.vconcat) {
      const axis = { minExtent: labels, maxExtent: labels, labelLimit: labels - 8 };
      Object.assign(spec.config.axisY, axis);
      spec.config.title.limit = spec.config.title.subtitleLimit = wide - 50;
      spec.vconcat.forEach(function (part) { part.width = wide - roomOfLabels(part, labels, wide) - 64; });
    }
    return spec;
  }

  // No styles are put into the page: a portal's policy forbids them.
  const OPTIONS = {
    actions: { export: true, source: false, compiled: false, editor: false },
    ast: true, defaultStyle: false, forceActionsMenu: true, hover: false, renderer: "canvas", scaleFactor: 2,
    tooltip: { disableDefaultStyle: true }
  };

  function drawer(figure) {
    let drawn = 0, last = Promise.resolve(), view = null;
    async function again() {
      const wide = Math.max(figure.clientWidth - 20, 240);
      if (wide === drawn) { return; }
      drawn = wide;
      const canvas = figure.querySelector(".canvas");
      const made = await vegaEmbed(canvas, fitted(figure, wide), OPTIONS);
      if (view) { view.finalize(); }
      view = made;
      canvas.querySelector("summary").ariaLabel = "Save this chart";
      figure.classList.add("drawn");
    }
    return function (isChanged) {
      if (isChanged) { drawn = 0; }
      last = last.then(again);
    };
  }

  function drawAll(isChanged) {
    drawers.forEach(function (draw, figure) {
      if (figure.isConnected) { draw(isChanged); } else { drawers.delete(figure); }
    });
  }

  function sortable(table) {
    const body = table.tBodies[0];
    const heads = table.querySelectorAll("thead th");
    heads.forEach(function (head, place) {
      if (!head.textContent.trim()) { return; }
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", function () {
        const sign = head.getAttribute("aria-sort") === "descending" ? 1 : -1;
        heads.forEach(function (one) { one.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", sign < 0 ? "descending" : "ascending");
        const rows = Array.from(body.querySelectorAll("tr:not(.rest)"));
        rows.sort(function (a, b) {
          const x = a.cells[place], y = b.cells[place];
          if (x.dataset.value === undefined) {
            return sign * x.textContent.localeCompare(y.textContent);
          }
          const unknown = (x.dataset.value === "") - (y.dataset.value === "");
          return unknown || sign * (Number(x.dataset.value) - Number(y.dataset.value));
        });
        body.prepend(...rows);
      });
    });
  }

  function copyable(block) {
    if (!navigator.clipboard) { return; }
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", function () {
      navigator.clipboard.writeText(block.querySelector("code").textContent).then(function () {
        button.textContent = "Copied";
        setTimeout(function () { button.textContent = "Copy"; }, 1500);
      });
    });
    block.prepend(button);
  }

  // Gives what has come to the page its drawing and buttons.
  function prepare() {
    document.querySelectorAll("figure.chart").forEach(function (figure) {
      if (!drawers.has(figure)) { drawers.set(figure, drawer(figure)); }
    });
    document.querySelectorAll("table.sortable:not(:has(button.sort))").forEach(sortable);
    document.querySelectorAll(".copy:not(:has(button))").forEach(copyable);
    drawAll(false);
  }

  prepare();
  document.addEventListener("htmx:afterSettle", prepare);
  addEventListener("resize", function () { drawAll(false); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () {
    drawAll(true);
  });
})();
