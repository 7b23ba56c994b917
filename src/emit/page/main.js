// Which page is shown follows the part of the address after "#": #plan-3 is the plan of
// entry 3, nothing is the overview or the only plan.

const THEMES = ["auto", "light", "dark"];

class Page {
    constructor() {
        this.raw = readJson("data");
        this.graph = new Graph(this.raw);
        this.theme = 0;
        byId("entry").append(
            ...this.raw.entries.map((entry, k) => option(entry, k)).filter(node => node));
        byId("entry").onchange = () => (location.hash = "plan-" + byId("entry").value);
        byId("theme").onclick = () => this.nextTheme();
        byId("back").onclick = () => (location.hash = "");
        byId("whole").onclick = () => this.chart.whole();
        byId("closer").onclick = () => this.chart.zoom(0.5);
        byId("wider").onclick = () => this.chart.zoom(2);
        for (const input of document.getElementsByName("axis"))
            input.onchange = () => this.setAxis();
        matchMedia("(prefers-color-scheme: dark)").onchange = () =>
            this.chart && this.chart.readInk();
        addEventListener("hashchange", event => {
            this.route();
            this.moveFocus(new URL(event.oldURL).hash);
        });
        addEventListener("keydown", event => this.key(event));
        this.route();
    }

    // ---- what is shown ----

    route() {
        const match = /^#plan-(\d+)$/.exec(location.hash);
        const index = match ? Number(match[1]) : this.raw.kind === "plan" ? 0 : -1;
        const entry = this.raw.entries[index];
        const isPlan = entry !== undefined && entry.plan !== undefined;
        byId("overview").hidden = isPlan;
        byId("plan").hidden = byId("find").hidden = !isPlan;
        byId("others").hidden = !isPlan || this.raw.kind === "plan";
        scrollTo(0, 0);
        if (isPlan)
            this.showPlan(index, entry);
        else
            this.showOverview();
    }

    // The keyboard goes on at the chart of a plan, and back at the plan that it came from.
    moveFocus(before) {
        const active = document.activeElement;
        if (active !== document.body && active.getClientRects().length > 0) return;
        const row = document.querySelector(`#overview .entries a[href="${before}"]`);
        if (!byId("plan").hidden)
            byId("chart").focus({preventScroll: true});
        else if (row !== null)
            row.focus();
    }

    showOverview() {
        const what = {
            sweep: "Plans at several budgets",
            comparison: "Policies side by side",
            plan: "Plan"
        }[this.raw.kind];
        byId("graph").textContent = this.graph.name;
        byId("subtitle").textContent = `${what} \u00b7 ${this.graphText()}`;
        figures(byId("figures"), [
            ["Keep-all's time", showTime(this.graph.baseline)],
            ["Keep-all's peak", showBytes(this.graph.keepAll.peak)],
            [
                "Plans",
                showCount(this.raw.entries.filter(entry => entry.plan !== undefined).length)
            ],
        ]);
        new Overview(
            byId("overview"), this.graph, this.raw,
            index => (location.hash = "plan-" + index));
    }

    graphText() {
        const {ops, tensors, source, device} = this.graph;
        return `${countOf(ops.length, "op")}, ${
                   countOf(tensors.length, "tensor")} \u00b7 costs from ${source}` +
            (device.name && !source.includes(device.name) ? ` \u00b7 ${device.name}` : "");
    }

    showPlan(index, entry) {
        for (const part of [this.chart, this.hand])
            if (part) part.close();
        const plan = new Plan(this.graph, entry, readJson("plan-" + entry.plan));
        const go = what => this.go(what);
        byId("graph").textContent = this.graph.name +
            (this.raw.kind === "plan" ? "" : ` \u00b7 ${entryText(entry)}`);
        byId("subtitle").textContent = this.graphText();
        byId("entry").value = index;
        figures(byId("figures"), planFigures(plan));
        byId("kinds-key")
            .replaceChildren(...plan.split.kinds().map(
                ({kind, word}) => el("span", {class: "key k" + kind}, word)));
        byId("copies-key").hidden = plan.copies.length === 0;
        byId("arena-key").hidden = !plan.graph.addressed;
        byId("chart").setAttribute("aria-label", chartText(plan));
        this.pinned = {step: -1, tensor: -1};
        this.details = new Details(byId("details"), plan, go);
        this.details.nothing();
        this.chart = new Chart(byId("chart"), plan);
        this.hand = new Hand(this.chart, (what, pinned) => this.pick(what, pinned));
        this.setAxis();
        this.search = new Search(byId("search"), byId("found"), plan, go);
        new TensorTable(byId("tensors"), plan, go);
    }

    // ---- what is chosen ----

    // Shows what lies under the pointer; what is pinned stays when the pointer leaves.
    pick(what, pinned) {
        if (pinned) {
            this.pinned = what;
            this.chart.select(what.step, what.tensor);
            byId("said").textContent = sayWhat(this.chart.plan, what);
        }
        const shown = what || this.pinned;
        if (shown.step < 0 && shown.tensor < 0)
            this.details.nothing();
        else
            this.details.show(shown);
    }

    // Goes to a step or tensor and shows it.
    go(what) {
        const {plan} = this.chart;
        const stays = what.tensor >= 0 ? plan.staysOf[what.tensor] : [];
        this.pick(what, true);
        if (stays.length > 0)
            this.chart.goTo(
                plan.stays.from[stays[0]], plan.stays.to[stays[stays.length - 1]]);
        else if (what.step >= 0)
            this.chart.goTo(what.step, what.step);
        byId("chart").focus({preventScroll: false});
    }

    setAxis() {
        this.chart.axis.setSteps(byId("axis-steps").checked);
        this.chart.draw();
    }

    nextTheme() {
        this.theme = (this.theme + 1) % THEMES.length;
        document.documentElement.dataset.theme = THEMES[this.theme];
        byId("theme").textContent = "Theme: " + THEMES[this.theme];
        if (this.chart) this.chart.readInk();
    }

    key(event) {
        const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) &&
            event.target.type !== "radio";
        if (typing || event.ctrlKey || event.metaKey || event.altKey || byId("plan").hidden)
            return;
        if (event.key === "/") {
            event.preventDefault();
            byId("search").focus();
        }
        if (event.key === "Escape") this.pick({step: -1, tensor: -1}, true);
    }
}

function readJson(id) { return JSON.parse(byId(id).textContent); }

// What is chosen, in one sentence for a screen reader.
function sayWhat(plan, {step, tensor}) {
    const {tensors, ops} = plan.graph;
    if (tensor >= 0)
        return `Tensor ${tensors[tensor].name}, ${showBytes(tensors[tensor].bytes)}, ${
            FATE_WORDS[plan.fates[tensor]]}.`;
    if (step < 0) return "";
    const again = plan.again[step] ? ", recomputed" : "";
    return `${ops[plan.ids[step]].name}${again}, ${
        showTime(plan.end[step] - plan.clock[step])}, memory ${
        showBytes(plan.during[step])}: ${plan.split.text(step)}.`;
}

// ---- the plans to choose from ----

function entryText(entry) {
    return entry.name ? `${entry.name} at ${showBytes(entry.budget)}` :
                        showBytes(entry.budget);
}

function option(entry, k) {
    return entry.plan === undefined ? null : el("option", {value: k}, entryText(entry));
}

// ---- the head of a plan ----

function planFigures(plan) {
    const {entry, graph} = plan;
    const over = entry.time - graph.baseline;
    const gap = entry.time - entry.bound;
    const list = [
        [
            "Time", showTime(entry.time),
            `${showPercent(over, graph.baseline)} over keep-all's ${
                showTime(graph.baseline)}`
        ],
        [
            "Peak", showBytes(entry.peak),
            `${showPercent(entry.peak, graph.keepAll.peak)} of keep-all's ${
                showBytes(graph.keepAll.peak)}`,
            entry.peak
        ],
        [
            "Budget", showBytes(entry.budget),
            entry.fits ? `${showPercent(entry.peak, entry.budget)} used at the peak` :
                         "the plan does not fit"
        ],
        [
            "Recompute", showTime(entry.recompute),
            countOf(plan.runs.length - graph.ops.length, "extra run")
        ],
        [
            "Stall", showTime(entry.stall),
            countOf(plan.copies.length, "copy").replace(/copys$/, "copies") +
                (entry.host > 0 ? `, ${showBytes(entry.host)} on the host` : "")
        ],
        [
            "Bound", entry.bound > 0 ? showTime(entry.bound) : "none",
            entry.bound > 0 ? boundText(entry, gap) : ""
        ],
    ];
    if (entry.tail > 0)
        list.splice(
            5, 0, ["Copies after the end", showTime(entry.tail), "past the last op"]);
    return list;
}

function boundText(entry, gap) {
    return (gap === 0 ? "optimal" : `gap ${showPercent(gap, entry.bound)}`) + entry.scope;
}

function figures(host, list) {
    host.replaceChildren(...list.map(
        ([name, value, note, exact]) =>
            el("div", {}, el("dt", {}, name),
               el("dd",
                  {"data-figure": name, "data-exact": exact === undefined ? null : exact},
                  value),
               note ? el("dd", {class: "note"}, note) : null)));
}

function chartText(plan) {
    const {peak, budget} = plan.entry;
    return `Memory over ${showTime(plan.total)}: peak ${showBytes(peak)}, budget ` +
        `${showBytes(budget)}. At the peak: ${plan.split.text(plan.peakStep())}. ` +
        `Left and right move from op to op, plus and minus zoom, ` +
        "Page Up and Page Down pan, 0 shows the whole step.";
}

const page = new Page();
