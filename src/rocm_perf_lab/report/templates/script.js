"use strict";
(() => {
  const root = document.currentScript.parentElement.closest(".rocm-perf") || document;
  const all = (query, within = root) => [...within.querySelectorAll(query)];

  // Tooltips: text only, by mouse and by keyboard focus.
  const tip = root.querySelector("#tip");
  const showTip = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
    tip.style.top = (y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 10) : y + 18) + "px";
  };
  const hideTip = () => { tip.hidden = true; };
  root.addEventListener("pointermove", (e) => {
    const own = e.target.closest && e.target.closest("[data-tip]");
    if (own) showTip(own.dataset.tip, e.clientX, e.clientY);
    else if (!(e.target.closest && e.target.closest(".timeline svg"))) hideTip();
  });
  root.addEventListener("focusin", (e) => {
    const own = e.target.closest("[data-tip]");
    if (!own || !own.matches(":focus-visible")) return;
    const box = own.getBoundingClientRect();
    showTip(own.dataset.tip, box.left + box.width / 2, box.top + box.height / 2);
  });
  root.addEventListener("focusout", hideTip);
  root.addEventListener("keydown", (e) => { if (e.key === "Escape") hideTip(); });

  // Tables: sort by a click on a head, filter by words.
  for (const table of all("table.sortable")) {
    const heads = all("th", table), body = table.tBodies[0];
    heads.forEach((head, column) => {
      head.tabIndex = 0;
      const sort = () => {
        const numeric = head.classList.contains("n");
        const old = head.getAttribute("aria-sort");
        const down = old ? old === "ascending" : numeric;
        heads.forEach((h) => h.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = (row) => {
          const cell = row.cells[column];
          return numeric ? parseFloat(cell.dataset.value) : cell.textContent.trim().toLowerCase();
        };
        const rows = [...body.rows].map((row) => [key(row), row]);
        rows.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1));
        body.append(...rows.map(([, row]) => row));
      };
      head.addEventListener("click", sort);
      head.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); sort(); } });
    });
  }
  for (const input of all("[data-filter]")) {
    const rows = all(`#${input.dataset.filter} tbody tr`);
    const count = root.querySelector(`[data-count="${input.dataset.filter}"]`);
    const apply = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = (row.dataset.kernel + " " + row.textContent).toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        shown += !row.hidden;
      }
      count.textContent = words.length ? `${shown} of ${rows.length}` : "";
    };
    input.addEventListener("input", apply);
  }
  for (const select of all("select[data-show]")) {
    select.addEventListener("change", () => {
      for (const part of all(`[data-of="${select.dataset.show}"]`)) part.hidden = part.dataset.index !== select.value;
    });
  }

  // Roofline: which level's points are shown; a click on a point finds the kernel's row.
  for (const chart of all(".roofline")) {
    for (const box of all("input[data-level]", chart)) {
      box.addEventListener("change", () => {
        for (const point of all("circle[data-level]", chart)) {
          if (point.dataset.level === box.dataset.level) point.style.display = box.checked ? "" : "none";
        }
      });
    }
    const light = (name) => {
      for (const e of all("circle[data-kernel], tr[data-kernel]")) e.classList.toggle("lit", e.dataset.kernel === name);
    };
    chart.addEventListener("click", (e) => {
      const point = e.target.closest("circle[data-kernel]");
      if (!point) return;
      light(point.dataset.kernel);
      const row = all("tr[data-kernel]").find((r) => r.dataset.kernel === point.dataset.kernel);
      if (row) row.scrollIntoView({ block: "center", behavior: "smooth" });
    });
  }

  // Source and ISA: a line lights up its instructions, an instruction its line and what it waits for.
  for (const code of all(".code")) {
    const light = (row) => {
      const waits = (row.dataset.waits || "").split(" ");
      for (const other of all("tr[data-place]", code)) {
        other.classList.toggle("lit", other.dataset.place !== "" && other.dataset.place === row.dataset.place);
        other.classList.toggle("wait", Boolean(other.dataset.number) && waits.includes(other.dataset.number));
      }
    };
    const on = (e) => { const row = e.target.closest("tr[data-place]"); if (row) light(row); };
    code.addEventListener("pointerover", on);
    code.addEventListener("focusin", on);
    code.addEventListener("click", (e) => {
      const link = e.target.closest("[data-goto]");
      const row = e.target.closest("tr[data-place]");
      if (link) {
        e.preventDefault();
        const to = code.querySelector(`tr[data-number="${link.dataset.goto}"]`);
        if (to) { to.scrollIntoView({ block: "center" }); to.focus(); }
      } else if (row && !row.dataset.number) {
        const first = all(".isa tr[data-place]", code).find((r) => r.dataset.place === row.dataset.place);
        if (first) first.scrollIntoView({ block: "center" });
      }
    });
  }

  // Timeline: blocks of the visible part, redrawn on every change of the view.
  const time = (ns) => ns >= 1e9 ? (ns / 1e9).toPrecision(4) + " s" : ns >= 1e6 ? (ns / 1e6).toPrecision(4) + " ms" : ns >= 1e3 ? (ns / 1e3).toPrecision(4) + " us" : Math.round(ns) + " ns";
  for (const chart of all(".timeline")) {
    const data = JSON.parse(chart.querySelector("script").textContent);
    const svg = chart.querySelector("svg"), label = chart.querySelector(".view");
    const only = chart.querySelector("[data-path-only]");
    const rows = [{ label: "critical path", blocks: data.path, path: true }, ...data.lanes];
    const LANE = 22, TOP = 18;
    let LEFT = 120, from = 0, to = Math.max(data.span, 1), width = 900, pick = null;
    const make = (name, attributes, text) => {
      const e = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const key in attributes) e.setAttribute(key, attributes[key]);
      if (text !== undefined) e.textContent = text;
      return e;
    };
    const at = (ns) => LEFT + ((ns - from) / (to - from)) * (width - LEFT - 6);
    const draw = () => {
      width = Math.max(320, svg.getBoundingClientRect().width || 900);
      LEFT = width < 600 ? 70 : 120;
      const height = TOP + rows.length * LANE + 4, parts = [];
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      const raw = (to - from) / Math.max(2, Math.floor((width - LEFT) / 120)), power = 10 ** Math.floor(Math.log10(raw));
      const step = [1, 2, 5, 10].map((d) => d * power).find((s) => s >= raw);
      for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
        parts.push(make("line", { class: "grid", x1: at(t), x2: at(t), y1: TOP - 4, y2: height }), make("text", { x: at(t) + 2, y: 11 }, time(t)));
      }
      rows.forEach((row, lane) => {
        const y = TOP + lane * LANE;
        const name = row.label.length > LEFT / 6.2 ? row.label.slice(0, Math.floor(LEFT / 6.2) - 1) + "…" : row.label;
        parts.push(make("text", { class: "lane", x: 2, y: y + 14 }, name));
        let last = -1;
        row.blocks.forEach(([start, took, name, , onPath], index) => {
          if (start > to || start + took < from || (only.checked && !onPath)) return;
          const x1 = Math.max(at(start), LEFT), x2 = Math.min(at(start + took), width - 6);
          if (x2 - x1 < 0.4 && x1 < last) return; // already painted there
          last = Math.max(x2, x1 + 0.4);
          parts.push(make("rect", { x: x1.toFixed(1), y, width: Math.max(x2 - x1, 0.6).toFixed(1), height: LANE - 5, fill: data.colours[name], "fill-opacity": onPath || row.host ? 1 : 0.4, "data-block": lane + ":" + index }));
        });
      });
      svg.replaceChildren(...parts);
      svg.dataset.view = `${Math.round(from)} ${Math.round(to)}`;
      label.textContent = `${time(from)} to ${time(to)} of ${time(data.span)}`;
    };
    const show = (a, b) => {
      const size = Math.min(Math.max(b - a, Math.min(100, data.span)), Math.max(data.span, 1));
      from = Math.max(0, Math.min(a, data.span - size));
      to = from + size;
      requestAnimationFrame(draw);
    };
    const zoom = (factor, centre = (from + to) / 2) => show(centre - (centre - from) * factor, centre + (to - centre) * factor);
    const under = (e) => { const box = svg.getBoundingClientRect(); return from + ((e.clientX - box.left) * (width / box.width) - LEFT) / (width - LEFT - 6) * (to - from); };
    for (const button of all("button[data-zoom]", chart)) {
      button.addEventListener("click", () => ({ in: () => zoom(0.5), out: () => zoom(2), all: () => show(0, data.span) })[button.dataset.zoom]());
    }
    only.addEventListener("change", draw);
    chart.addEventListener("keydown", (e) => {
      if (e.target.matches("input, button")) return;
      const step = (to - from) / 5;
      const act = { ArrowLeft: () => show(from - step, to - step), ArrowRight: () => show(from + step, to + step), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: () => show(0, data.span) }[e.key];
      if (act) { e.preventDefault(); act(); }
    });
    svg.addEventListener("wheel", (e) => { if (e.ctrlKey || e.metaKey) { e.preventDefault(); zoom(e.deltaY > 0 ? 1.4 : 1 / 1.4, under(e)); } }, { passive: false });
    svg.addEventListener("dblclick", () => show(0, data.span));
    svg.addEventListener("pointerdown", (e) => { if (e.button === 0) pick = { from: under(e), x: e.clientX }; });
    addEventListener("pointerup", (e) => {
      if (pick && Math.abs(e.clientX - pick.x) > 5) { const other = under(e); show(Math.min(pick.from, other), Math.max(pick.from, other)); }
      pick = null;
    });
    svg.addEventListener("pointermove", (e) => {
      all(".select", svg).forEach((s) => s.remove());
      if (pick) {
        const a = Math.max(at(Math.min(pick.from, under(e))), LEFT), b = at(Math.max(pick.from, under(e)));
        svg.append(make("rect", { class: "select", x: a, y: TOP - 4, width: Math.max(b - a, 0), height: rows.length * LANE + 4 }));
      }
      const block = e.target.dataset && e.target.dataset.block;
      if (!block) return hideTip();
      const [lane, index] = block.split(":").map(Number);
      const [start, took, name, count, onPath] = rows[lane].blocks[index];
      const what = count > 1 ? `${count} ${rows[lane].host ? "calls" : "operations"}, mostly ${data.names[name]}` : data.names[name];
      const path = rows[lane].path || rows[lane].host ? "" : onPath ? (count > 1 ? `\n${onPath} on the critical path` : "\non the critical path") : "\nnot on the critical path";
      showTip(`${what}\n${time(took)}, from ${time(start)}\n${rows[lane].label}${path}`, e.clientX, e.clientY);
    });
    svg.addEventListener("pointerleave", hideTip);
    new ResizeObserver(() => requestAnimationFrame(draw)).observe(chart);
    addEventListener("beforeprint", draw);
    draw();
  }

  const theme = root.querySelector("#theme");
  if (theme) theme.addEventListener("click", () => {
    const page = document.documentElement;
    const dark = page.dataset.theme ? page.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    page.dataset.theme = dark ? "light" : "dark";
  });
})();
