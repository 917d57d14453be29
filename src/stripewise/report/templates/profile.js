/* SPDX-FileCopyrightText: 2026 The Stripewise developers */
/* SPDX-License-Identifier: BSD-3-Clause */
"use strict";
(function () {
  function words(value, unit) {
    if (unit === "ranks") { return Number(value.toPrecision(2)) + " ranks"; }
    if (unit === "share") { return (100 * value).toPrecision(2).replace(/\.0$/, "") + " %"; }
    var names = ["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"];
    var i = 0;
    while (value >= 1024 && i < names.length - 1) { value /= 1024; i += 1; }
    return Number(value.toPrecision(2)) + " " + names[i];
  }

  function pixels(image) {
    var canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth;
    canvas.height = image.naturalHeight;
    var context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, canvas.width, canvas.height);
  }

  /* The colours of the ramp, in order, tell which value a cell's colour stands for. */
  function ladder(image) {
    var data = pixels(image).data;
    var steps = [];
    for (var i = 0; i < data.length; i += 4) { steps.push([data[i], data[i + 1], data[i + 2]]); }
    return steps;
  }

  function nearest(steps, red, green, blue) {
    var best = 0;
    var least = Infinity;
    steps.forEach(function (step, place) {
      var far = Math.abs(step[0] - red) + Math.abs(step[1] - green) + Math.abs(step[2] - blue);
      if (far < least) { least = far; best = place; }
    });
    return best / (steps.length - 1);
  }

  function hover(figure) {
    var image = figure.querySelector(".canvas img");
    var ramp = figure.querySelector(".ramp img");
    var data = figure.dataset;
    var names = data.rows.split("\n");
    var low = Number(data.low);
    var high = Number(data.high);
    var tip = document.createElement("div");
    var cells = null;
    var steps = null;
    var source = "";
    tip.className = "tip";
    tip.hidden = true;
    figure.querySelector(".canvas").appendChild(tip);
    image.addEventListener("mouseleave", function () { tip.hidden = true; });
    image.addEventListener("mousemove", function (event) {
      if (source !== image.currentSrc) {
        cells = pixels(image);
        steps = ladder(ramp);
        source = image.currentSrc;
      }
      var box = image.getBoundingClientRect();
      var column = Math.floor((event.clientX - box.left) / box.width * cells.width);
      var row = Math.floor((event.clientY - box.top) / box.height * cells.height);
      column = Math.min(Math.max(column, 0), cells.width - 1);
      row = Math.min(Math.max(row, 0), cells.height - 1);
      var at = 4 * (row * cells.width + column);
      var start = column * Number(data.width);
      var text = names[row] + ", " + start.toPrecision(4) + "–" +
        (start + Number(data.width)).toPrecision(4) + " s: ";
      if (cells.data[at + 3] === 0) {
        text += "nothing";
      } else {
        var part = nearest(steps, cells.data[at], cells.data[at + 1], cells.data[at + 2]);
        var value = data.log === "yes" ? low * Math.pow(high / low, part) : part * high;
        text += "about " + words(value, data.unit);
      }
      tip.textContent = text;
      tip.hidden = false;
      var left = Math.min(event.clientX - box.left + 12, box.width - tip.offsetWidth);
      tip.style.left = Math.max(left, 0) + "px";
      var top = Math.min(event.clientY - box.top + 16, box.height - tip.offsetHeight);
      tip.style.top = Math.max(top, 0) + "px";
    });
  }

  /* All pictures over time are stretched together, and scrolled together. */
  function zoomable(section) {
    var pans = section.querySelectorAll(".pan");
    var first = section.querySelector("figure.plot");
    if (!first) { return; }
    var level = 1;
    var bar = document.createElement("div");
    var said = document.createElement("span");
    function zoom(next, at, under) {
      var wide = pans[0].scrollWidth;
      var part = (pans[0].scrollLeft + at) / wide;
      level = Math.min(Math.max(next, 1), 16);
      section.classList.toggle("zoomed", level > 1);
      section.style.setProperty("--zoom", level);
      pans.forEach(function (pan) { pan.scrollLeft = part * pan.scrollWidth - under; });
      said.textContent = level + "×; double-click a picture to zoom in there";
    }
    function button(text, label, next) {
      var one = document.createElement("button");
      one.type = "button";
      one.textContent = text;
      one.setAttribute("aria-label", label);
      one.addEventListener("click", function () {
        var middle = pans[0].clientWidth / 2;
        zoom(next(), middle, middle);
      });
      bar.appendChild(one);
    }
    bar.className = "zoom";
    bar.appendChild(document.createTextNode("Time"));
    button("−", "Zoom out", function () { return level / 2; });
    button("+", "Zoom in", function () { return 2 * level; });
    button("Whole run", "Show the whole run", function () { return 1; });
    bar.appendChild(said);
    section.insertBefore(bar, first);
    pans.forEach(function (pan) {
      pan.addEventListener("scroll", function () {
        pans.forEach(function (other) {
          if (other.scrollLeft !== pan.scrollLeft) { other.scrollLeft = pan.scrollLeft; }
        });
      });
      pan.addEventListener("dblclick", function (event) {
        var at = event.clientX - pan.getBoundingClientRect().left;
        zoom(2 * level, at, pan.clientWidth / 2);
      });
    });
    zoom(1, 0, 0);
  }

  function sortable(table) {
    var body = table.tBodies[0];
    table.querySelectorAll("thead th").forEach(function (head, place) {
      if (!head.textContent.trim()) { return; }
      var button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      while (head.firstChild) { button.appendChild(head.firstChild); }
      head.appendChild(button);
      button.addEventListener("click", function () {
        var down = head.getAttribute("aria-sort") !== "descending";
        table.querySelectorAll("thead th").forEach(function (one) { one.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        var rows = Array.prototype.slice.call(body.querySelectorAll("tr:not(.rest)"));
        var rest = body.querySelector("tr.rest");
        rows.sort(function (a, b) {
          var x = a.cells[place].dataset.value;
          var y = b.cells[place].dataset.value;
          var order = x === undefined
            ? a.cells[place].textContent.localeCompare(b.cells[place].textContent)
            : Number(x) - Number(y);
          return down ? -order : order;
        });
        rows.forEach(function (row) { body.insertBefore(row, rest); });
      });
    });
  }

  function copyable(block) {
    if (!navigator.clipboard) { return; }
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", function () {
      navigator.clipboard.writeText(block.querySelector("code").textContent).then(function () {
        button.textContent = "Copied";
        setTimeout(function () { button.textContent = "Copy"; }, 1500);
      });
    });
    block.appendChild(button);
  }

  document.querySelectorAll("figure.heat").forEach(hover);
  document.querySelectorAll("#timeline").forEach(zoomable);
  document.querySelectorAll("table.sortable").forEach(sortable);
  document.querySelectorAll(".copy").forEach(copyable);
})();
