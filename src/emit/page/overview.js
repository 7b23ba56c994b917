// The first page of a comparison and of a sweep: every plan in a row, one click away.

const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attributes, ...children) {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
}

const overhead = (graph, entry) =>
    (entry.time - graph.baseline) / Math.max(1, graph.baseline);
const entryName = entry => entry.name || showBytes(entry.budget);

class Overview {
    constructor(host, graph, raw, open) {
        Object.assign(this, {host, graph, raw, open});
        this.entries = raw.entries.map((entry, index) => ({...entry, index}));
        this.planned = this.entries.filter(entry => entry.plan !== undefined);
        this.timed = raw.entries.some(entry => entry.solver !== undefined);
        const fitting = this.planned.filter(entry => entry.fits);
        this.worst = Math.max(1e-9, ...fitting.map(entry => overhead(graph, entry)));
        this.full = Math.min(1, this.worst);  // the time over keep-all of a full bar
        this.most =
            Math.max(graph.keepAll.peak, 1, ...this.planned.map(entry => entry.peak));
        host.replaceChildren(...(raw.kind === "sweep" ? this.sweep() : this.comparison()));
    }

    // ---- a comparison: one table for each budget ----

    comparison() {
        const groups = new Map();
        for (const entry of this.entries) {
            if (!groups.has(entry.budget)) groups.set(entry.budget, []);
            groups.get(entry.budget).push(entry);
        }
        return [...groups].map(
            ([budget, entries]) =>
                el("section", {class: "card"},
                   el("h2", {}, `Budget ${showBytes(budget)}`,
                      el("small", {},
                         ` ${showPercent(budget, this.graph.keepAll.peak)} of keep-all`)),
                   this.table(entries, "Policy")));
    }

    table(entries, first) {
        const head = (text, kind) => el("th", {scope: "col", class: kind || ""}, text);
        return el(
            "table", {class: "entries"},
            el("thead", {},
               el("tr", {}, head(first, "first"), head("Time over keep-all", "time"),
                  head("Peak and budget", "peak"),
                  this.timed ? head("Planned in", "number") : null,
                  head("Recompute", "number"), head("Stall", "number"),
                  head("On host", "number"), head("Memory over the step", "curve"))),
            el("tbody", {}, ...entries.map(entry => this.row(entry))));
    }

    row(entry) {
        if (entry.plan === undefined)
            return el(
                "tr", {class: "none"}, el("th", {scope: "row"}, entryName(entry)),
                el("td", {colspan: 2}, entry.reason), this.solverTime(entry),
                el("td", {colspan: 4}));
        return el(
            "tr", {click: () => this.open(entry.index)},
            el("th", {scope: "row"},
               el("a", {href: "#plan-" + entry.index}, entryName(entry))),
            this.timeCell(entry),
            el("td", {}, this.bar(entry.peak / this.most, "plan", entry.budget / this.most),
               el("span", {},
                  showBytes(entry.peak) + (entry.fits ? "" : " \u00b7 does not fit"))),
            this.solverTime(entry), el("td", {class: "number"}, showTime(entry.recompute)),
            el("td", {class: "number"}, showTime(entry.stall)),
            el("td", {class: "number"}, showBytes(entry.host)),
            el("td", {}, this.smallCurve(entry)));
    }

    // A plan that does not fit takes no time that could be compared.
    timeCell(entry) {
        if (!entry.fits) return el("td", {class: "muted"}, "\u2013");
        const more = entry.time - this.graph.baseline;
        return el(
            "td", {}, this.bar(overhead(this.graph, entry) / this.full, "again"),
            el("span", {}, showPercent(more, this.graph.baseline)));
    }

    solverTime(entry) {
        return this.timed ? el("td", {class: "number"}, showTime(entry.solver)) : null;
    }

    // A bar, with a mark where the budget lies.
    bar(share, kind, mark) {
        const beyond = share > 1.0001 ? " beyond" : "";
        const width = 100 * Math.max(0, Math.min(1, share));
        return el(
            "div", {class: "track", "aria-hidden": "true"},
            el("i", {class: kind + beyond, style: `width:${width}%`}),
            mark === undefined || mark > 1 ? null :
                                             el("b", {style: `left:${100 * mark}%`}));
    }

    // The plan in front of keep-all, each from its beginning to its end.
    smallCurve(entry) {
        const n = entry.curve.length;
        const y = share => 40 - (38 * share * this.graph.keepAll.peak) / this.most;
        const area = curve => `M0 40L${
            curve.map((value, k) => `${k} ${y(value / 1000).toFixed(1)}`).join("L")}L${
            n} 40Z`;
        const budget = y(entry.budget / Math.max(1, this.graph.keepAll.peak));
        return svg(
            "svg", {
                class: "small",
                viewBox: `0 0 ${n} 40`,
                preserveAspectRatio: "none",
                "aria-hidden": "true"
            },
            svg("path", {class: "all", d: area(this.raw.keep_all.curve)}),
            svg("path", {class: "plan", d: area(entry.curve)}),
            svg("path", {class: "budget", d: `M0 ${budget.toFixed(1)}H${n}`}));
    }

    // ---- a sweep: time over memory, then the points ----

    sweep() {
        return [
            el("section", {class: "card"},
               el("h2", {}, "Time over memory", el("small", {}, " each point is a plan")),
               this.curve(),
               el("p", {class: "legend"}, el("span", {class: "key plan"}, "the plans"),
                  el("span", {class: "key bound"}, "no plan is faster"))),
            el("section", {class: "card"}, el("h2", {}, "Points"),
               this.table(this.entries, "Budget")),
        ];
    }

    curve() {
        const width = Math.max(500, this.host.clientWidth - 34);
        const [height, left, right, top, bottom] = [380, 70, width - 20, 20, 330];
        const most = Math.max(1, ...this.entries.map(entry => entry.budget)) * 1.02;
        const worst = Math.max(this.worst * 1.05, 1e-4);
        const x = bytes => left + ((right - left) * bytes) / most;
        const y = share =>
            bottom - (bottom - top) * Math.max(0, Math.min(1, share / worst));
        const bound = entry =>
            (entry.bound - this.graph.baseline) / Math.max(1, this.graph.baseline);
        const chart = svg("svg", {
            class: "curve",
            viewBox: `0 0 ${width} ${height}`,
            role: "group",
            "aria-label": "Time over memory"
        });
        this.curveAxes(chart, {x, y, left, right, top, bottom, most, worst});
        chart.append(
            svg("path", {class: "bound", d: this.stairs(x, entry => y(bound(entry)))}),
            svg("path", {
                class: "plan",
                d: this.stairs(x, entry => y(overhead(this.graph, entry)))
            }));
        for (const entry of this.planned)
            chart.append(
                this.point(entry, x(entry.budget), y(overhead(this.graph, entry))));
        return chart;
    }

    curveAxes(chart, {x, y, left, right, top, bottom, most, worst}) {
        const bytes = byteTicks(most, 8);
        for (const tick of bytes.ticks)
            chart.append(
                svg("path", {class: "grid", d: `M${x(tick.at)} ${top}V${bottom}`}),
                svg("text", {x: x(tick.at), y: bottom + 20, "text-anchor": "middle"},
                    tick.text));
        chart.append(
            svg("text", {x: right, y: bottom + 40, "text-anchor": "end"},
                "budget, " + bytes.unit));
        for (const tick of roundTicks(0, worst * 100, 6, ["%"], 1).ticks)
            chart.append(
                svg("path", {class: "grid", d: `M${left} ${y(tick.at / 100)}H${right}`}),
                svg("text", {x: left - 8, y: y(tick.at / 100) + 4, "text-anchor": "end"},
                    tick.text + "%"));
    }

    // A plan for one budget fits every larger one, so the curve is a staircase.
    stairs(x, y) {
        let path = "";
        for (const entry of this.planned)
            path += path === "" ? `M${x(entry.budget)} ${y(entry)}` :
                                  `H${x(entry.budget)}V${y(entry)}`;
        return path || "M0 0";
    }

    point(entry, x, y) {
        const text = `${showBytes(entry.budget)}: ${showTime(entry.time)}, ${
            showPercent(
                entry.time - this.graph.baseline, this.graph.baseline)} over keep-all`;
        return svg(
            "a", {href: "#plan-" + entry.index, "aria-label": text},
            svg("circle", {class: "hit", cx: x, cy: y, r: 12}),
            svg("circle", {cx: x, cy: y, r: 5}), svg("title", {}, text));
    }
}
