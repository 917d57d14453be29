/* SPDX-FileCopyrightText: 2026 The Stripewise developers */
/* SPDX-License-Identifier: BSD-3-Clause */
(function () {
  "use strict";

  function draw(figure) {
    const data = figure.querySelector("script[type='application/json']");
    const canvas = figure.querySelector(".canvas");
    let drawn = 0, last = Promise.resolve(), view = null;
    function fitted(wide) {
      const spec = JSON.parse(data.textContent);
      const labels = wide < 560 ? 64 : 112;
      const axis = { minExtent: labels, maxExtent: labels, labelLimit: labels - 8 };
      if (spec.vconcat) {
        Object.assign(spec.config.axisY, axis);
        spec.config.title.limit = spec.config.title.subtitleLimit = wide - 50;
        spec.vconcat.forEach(function (part) { part.width = wide - labels - 64; });
      }
      return spec;
    }
    async function again() {
      const wide = Math.max(figure.clientWidth - 20, 240);
      if (wide === drawn) { return; }
      drawn = wide;
      const made = await vegaEmbed(canvas, fitted(wide), {
        actions: { export: true, source: false, compiled: false, editor: false },
        ast: true, hover: false, renderer: "canvas", scaleFactor: 2
      });
      if (view) { view.finalize(); }
      view = made;
      figure.classList.add("drawn");
    }
    addEventListener("resize", function () { last = last.then(again); });
    last = last.then(again);
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

  if (typeof vegaEmbed !== "undefined") {
    document.querySelectorAll("figure.chart").forEach(draw);
  }
  document.querySelectorAll("table.sortable").forEach(sortable);
  document.querySelectorAll(".copy").forEach(copyable);
})();
