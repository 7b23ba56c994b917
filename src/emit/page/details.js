// The panel beside the chart: what runs, what it reads and makes, what is live, and why a
// tensor left the device and came back.

const LIVE_ROWS = 10;

const HELP = [
    ["Wheel, + and -", "zoom"],
    ["Alt and wheel, [ and ]", "zoom the addresses"],
    ["Drag, Page Up, Page Down", "pan"],
    ["Left, Right", "the op before, the next op"],
    ["Home, End", "the first op, the last op"],
    ["0, double click", "the whole step"],
    ["/", "search"],
    ["Esc", "let go"],
];

class Details {
    // go({step, tensor}): called when a name in the panel is chosen.
    constructor(host, plan, go) { Object.assign(this, {host, plan, go}); }

    // What is shown is remembered, so that the pointer can pass over one op for long.
    show({step, tensor}) {
        if (this.step === step && this.tensor === tensor) return;
        Object.assign(this, {step, tensor});
        this.host.replaceChildren(
            ...(tensor >= 0 ? this.ofTensor(tensor, step) : this.ofStep(step)));
        this.host.scrollTop = 0;
    }

    nothing() {
        this.step = this.tensor = -2;
        this.host.replaceChildren(
            el("h2", {}, "Details"),
            el("p", {class: "muted"},
               "Point at the chart, or search for an op or a tensor. A click holds what " +
                   "is shown here."),
            el("h3", {}, "Mouse and keys"),
            el("dl", {class: "keys"},
               ...HELP.flatMap(([key, what]) => [el("dt", {}, key), el("dd", {}, what)])));
    }

    // ---- a step ----

    ofStep(s) {
        const {plan} = this;
        const op = plan.graph.ops[plan.ids[s]];
        const runs = plan.runsOf[plan.ids[s]];
        const which =
            runs.length > 1 ? `run ${runs.indexOf(s) + 1} of ${runs.length}` : "runs once";
        return [
            el("p", {class: "over"},
               `Step ${showCount(s)} \u00b7 ${showTime(plan.clock[s])}`),
            el("h2", {}, op.name),
            el("p", {},
               this.tag(
                   plan.again[s] ? "recomputed" : null,
                   plan.again[s] ? "recomputed" : phaseWord(op.phase)),
               ` ${op.kind} \u00b7 ${showTime(op.ns)} \u00b7 ${which}`),
            ...this.waiting(s),
            ...this.memory(s),
            ...this.reasons(s),
            ...this.list("Reads", op.inputs),
            ...this.list("Makes", op.outputs),
            ...this.live(s),
        ];
    }

    // The time that the compute queue stood still before this run.
    waiting(s) {
        const {plan} = this;
        const k = lastAtMost(plan.runs, s);
        const ns = plan.clock[s] - (k > 0 ? plan.end[plan.runs[k - 1]] : 0);
        return ns > 0 ? [el("p", {class: "warn"},
                            `The ops waited ${showTime(ns)} for a copy before this run.`)] :
                        [];
    }

    memory(s) {
        const {plan} = this;
        const {budget} = plan.entry;
        const held = plan.during[s];
        const share = Math.min(100, (100 * held) / Math.max(1, budget));
        return [
            el("h3", {}, "Memory"),
            el("p", {}, el("strong", {}, showBytes(held)),
               ` of ${showBytes(budget)}, ${showPercent(held, budget)}`),
            el("div", {class: "meter", "aria-hidden": "true"},
               el("i", {style: `width:${share}%`})),
            el("ul", {class: "kinds"},
               ...plan.split.during(s).map(
                   ({kind, word, bytes}) =>
                       el("li", {}, el("span", {class: "key k" + kind}, word),
                          el("span", {class: "number"}, showBytes(bytes))))),
            el("p", {class: "muted"}, `${showBytes(plan.fixed)} always there`),
        ];
    }

    // Why the outputs of a run that comes again had left the device.
    reasons(s) {
        const {plan} = this;
        if (!plan.again[s]) return [];
        const parts = [];
        for (const x of plan.graph.ops[plan.ids[s]].outputs)
            for (const gap of gapsOf(plan, x))
                if (gap.to === s) parts.push(this.gap(gap, plan.graph.tensors[x].name));
        return parts.length > 0 ? [el("h3", {}, "Why it runs again"), ...parts] : [];
    }

    gap(gap, name) {
        const lines = explainGap(this.plan, gap);
        return el(
            "div", {class: "gap"}, name ? el("strong", {}, name) : null,
            ...lines.map(line => el("p", {}, line)));
    }

    live(s) {
        const {plan} = this;
        const live = plan.liveAt(s);
        const most = live.length > 0 ? plan.graph.size(live[0]) : 1;
        const rows =
            live.slice(0, LIVE_ROWS).map(x => this.tensorRow(x, plan.graph.size(x) / most));
        const rest = live.length - rows.length;
        return [
            el("h3", {}, `Live: ${countOf(live.length, "tensor")}`),
            el("ul", {class: "names"}, ...rows),
            rest > 0 ? el("p", {class: "muted"}, `and ${showCount(rest)} smaller`) : "",
        ];
    }

    // ---- a tensor ----

    ofTensor(x, s) {
        const {plan} = this;
        const tensor = plan.graph.tensors[x];
        const fate = plan.fates[x];
        return [
            el("p", {class: "over"}, `Tensor \u00b7 ${tensor.kind}`),
            el("h2", {}, tensor.name),
            el("p", {}, this.tag(fate, FATE_WORDS[fate]), ` ${showBytes(tensor.bytes)}`),
            ...this.makers(tensor),
            ...this.stays(x),
            ...this.returns(x),
            ...(s >= 0 ? [el("h3", {}, "At the pointer"), this.opRow(plan.ids[s], s)] : []),
        ];
    }

    makers(tensor) {
        const parts = [];
        if (tensor.producer >= 0)
            parts.push(
                el("h3", {}, "Made by"),
                el("ul", {class: "names"}, this.opRow(tensor.producer)));
        if (tensor.readers.length > 0)
            parts.push(
                el("h3", {}, "Read by"),
                el("ul", {class: "names"},
                   ...tensor.readers.slice(0, LIVE_ROWS).map(op => this.opRow(op))));
        if (tensor.readers.length > LIVE_ROWS)
            parts.push(
                el("p", {class: "muted"},
                   `and ${showCount(tensor.readers.length - LIVE_ROWS)} more`));
        return parts;
    }

    stays(x) {
        const {plan} = this;
        if (plan.staysOf[x].length === 0) return [];
        const rows = plan.staysOf[x].map(k => {
            const [from, to] = [plan.stays.from[k], plan.stays.to[k]];
            const at = plan.graph.addressed ? ` at ${showBytes(plan.stays.at[k])}` : "";
            return el(
                "li", {},
                `${showTime(plan.clock[from])} to ${showTime(plan.timeOf(to))}${at}`);
        });
        return [el("h3", {}, "On the device"), el("ul", {}, ...rows)];
    }

    returns(x) {
        const gaps = gapsOf(this.plan, x);
        return gaps.length > 0 ?
            [el("h3", {}, "Why it left"), ...gaps.map(gap => this.gap(gap))] :
            [];
    }

    // ---- rows ----

    list(title, tensors) {
        if (tensors.length === 0) return [];
        const rows = tensors.slice(0, LIVE_ROWS).map(x => this.tensorRow(x));
        const rest = tensors.length - rows.length;
        return [
            el("h3", {}, title), el("ul", {class: "names"}, ...rows),
            rest > 0 ? el("p", {class: "muted"}, `and ${showCount(rest)} more`) : ""
        ];
    }

    tag(fate, text) { return el("span", {class: "tag " + (fate || "")}, text); }

    tensorRow(x, share) {
        const {graph, fates} = this.plan;
        const bar = share === undefined ? null : el("i", {
            class: "bar " + fates[x],
            style: `width:${100 * share}%`,
            "aria-hidden": "true"
        });
        return el(
            "li", {}, bar,
            el("button", {
                class: "name",
                title: graph.tensors[x].name,
                click: () => this.go({step: -1, tensor: x})
            },
               el("bdi", {}, graph.tensors[x].name)),
            el("span", {class: "number"}, showBytes(graph.tensors[x].bytes)));
    }

    opRow(op, step) {
        const {graph, runsOf} = this.plan;
        const s = step === undefined ? runsOf[op][0] : step;
        return el(
            "li", {},
            el("button", {
                class: "name",
                title: graph.ops[op].name,
                click: () => this.go({step: s, tensor: -1})
            },
               el("bdi", {}, graph.ops[op].name)),
            el("span", {class: "number"}, showTime(graph.ops[op].ns)));
    }
}

function phaseWord(phase) { return ["op", "forward", "backward", "update"][phase]; }
