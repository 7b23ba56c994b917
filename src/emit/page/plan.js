// The graph and a plan as arrays, made from the data that page_data.c and page_plan.c
// wrote. Quantities are bytes and nanoseconds, steps and tensors are indices.

class Graph {
    constructor(raw) {
        const [tensors, ops] = [raw.tensors, raw.ops];
        Object.assign(this, {name: raw.graph, source: raw.source, baseline: raw.baseline});
        Object.assign(this, {device: raw.device, addressed: raw.addressed, unit: raw.unit});
        this.tensors = [];
        this.memory = [];  // what reports call each kind of memory, in their order
        for (let k = 0; k < raw.memory.length; k += 2)
            this.memory.push({kind: raw.memory[k], word: raw.memory[k + 1]});
        for (let k = 0; k < tensors.length; k += 3) {
            const [name, bytes, kind] = tensors.slice(k, k + 3);
            this.tensors.push({
                name,
                bytes,
                kind: raw.kinds[kind],
                memory: kind,
                producer: -1,
                readers: []
            });
        }
        this.ops = [];
        for (let k = 0; k < ops.length; k += 6) {
            const [name, kind, phase, ns, inputs, outputs] = ops.slice(k, k + 6);
            this.link(this.ops.push({name, kind, phase, ns, inputs, outputs}) - 1);
        }
        this.keepAll = decodeKeepAll(raw.keep_all, this);
    }

    link(op) {
        for (const x of this.ops[op].inputs) this.tensors[x].readers.push(op);
        for (const x of this.ops[op].outputs) this.tensors[x].producer = op;
    }

    // What the tensor takes in memory.
    size(x) { return Math.ceil(this.tensors[x].bytes / this.unit) * this.unit; }

    canSwap() { return this.device.d2h > 0 && this.device.h2d > 0; }

    // How long it takes to copy the tensor out and in again.
    roundTrip(x) {
        const bytes = this.tensors[x].bytes;
        return 2 * this.device.latency +
            1e9 * (bytes / this.device.d2h + bytes / this.device.h2d);
    }
}

// A series of memory over time: `during` holds from `at` to `end`, `after` until the next.
function decodeKeepAll(raw, graph) {
    const n = graph.ops.length;
    const series = {at: new Float64Array(n), end: new Float64Array(n), n, fixed: raw.fixed};
    series.during = new Float64Array(n);
    series.after = new Float64Array(n);
    series.peak = raw.peak;
    let [clock, held] = [0, raw.fixed];
    for (let i = 0; i < n; i++) {
        series.at[i] = clock;
        series.end[i] = clock += graph.ops[i].ns;
        series.during[i] = held += raw.rise[2 * i] * graph.unit;
        series.after[i] = held += raw.rise[2 * i + 1] * graph.unit;
    }
    series.total = clock;
    return series;
}

function sumUp(differences, scale, start) {
    const sums = new Float64Array(differences.length);
    let sum = start;
    for (let k = 0; k < sums.length; k++) sums[k] = sum += differences[k] * scale;
    return sums;
}

const FATES = ["kept", "recomputed", "swapped", "both", "fixed"];
const FATE_WORDS = {
    kept: "kept",
    recomputed: "recomputed",
    swapped: "swapped",
    both: "recomputed and swapped",
    fixed: "fixed",
};

class Plan {
    constructor(graph, entry, raw) {
        Object.assign(this, {graph, entry, kinds: raw.kinds});
        this.fixed = raw.fixed.reduce((a, b) => a + b);
        this.n = raw.kinds.length;
        this.ids = Int32Array.from(raw.ids);
        this.clock = sumUp(raw.clock, 1, 0);
        this.after = sumUp(raw.held, graph.unit, this.fixed);
        this.during = this.after.slice();
        this.end = this.clock.slice();
        this.workspace = {step: [], bytes: [], at: []};
        this.readWorkspace(raw.workspace);
        this.readRuns();
        this.readCopies(raw.copies);
        this.readStays(raw.stays);
        this.split = new MemorySplit(this, raw.fixed);
        this.busiest = new BusiestRun(this);
        this.fates = graph.tensors.map((_, x) => this.fateOf(x));
        this.total = entry.time;
    }

    readWorkspace(list) {
        const width = this.graph.addressed ? 3 : 2;
        for (let k = 0; k < list.length; k += width) {
            const bytes = list[k + 1] * this.graph.unit;
            this.during[list[k]] += bytes;
            this.workspace.step.push(list[k]);
            this.workspace.bytes.push(bytes);
            this.workspace.at.push(width === 3 ? list[k + 2] * this.graph.unit : 0);
        }
    }

    // runs: the steps that run ops, in order; runsOf: those of each op.
    readRuns() {
        this.runs = [];
        this.again = new Uint8Array(this.n);
        this.runsOf = this.graph.ops.map(() => []);
        for (let s = 0; s < this.n; s++)
            if (this.kinds[s] === "r") {
                const before = this.runsOf[this.ids[s]];
                this.again[s] = before.length > 0 ? 1 : 0;
                before.push(s);
                this.end[s] = this.clock[s] + this.graph.ops[this.ids[s]].ns;
                this.runs.push(s);
            }
        this.runStart = Float64Array.from(this.runs, s => this.clock[s]);
    }

    readCopies(list) {
        this.copies = [];
        this.copyOf = new Map();  // by step
        for (let k = 0; k < list.length; k += 3) {
            const step = list[k];
            const start = this.clock[step] + list[k + 1];
            const copy = {step, start, end: start + list[k + 2], tensor: this.ids[step]};
            copy.out = this.kinds[step] === "o";
            this.copies.push(copy);
            this.copyOf.set(step, copy);
        }
    }

    // stays: when a tensor is on the device: from step `from` until step `to`.
    readStays(list) {
        const width = this.graph.addressed ? 4 : 3;
        const n = list.length / width;
        this.stays =
            {n, tensor: new Int32Array(n), from: new Int32Array(n), to: new Int32Array(n)};
        this.stays.at = new Float64Array(n);
        this.staysOf = this.graph.tensors.map(() => []);
        for (let k = 0, step = 0; k < n; k++) {
            step += list[k * width + 1];
            this.stays.tensor[k] = list[k * width];
            this.stays.from[k] = step;
            this.stays.to[k] = step + list[k * width + 2];
            if (width === 4) this.stays.at[k] = list[k * width + 3] * this.graph.unit;
            this.staysOf[this.stays.tensor[k]].push(k);
        }
    }

    fateOf(x) {
        const stays = this.staysOf[x];
        if (stays.length === 0) return "fixed";
        const swapped = stays.some(k => this.kinds[this.stays.from[k]] === "i");
        const again = stays.some((k, i) => i > 0 && this.kinds[this.stays.from[k]] === "r");
        return swapped ? (again ? "both" : "swapped") : again ? "recomputed" : "kept";
    }

    // The first step that holds the most memory.
    peakStep() {
        return this.during.reduce((most, held, s, all) => (held > all[most] ? s : most), 0);
    }

    // The time of step s, or the end of the plan.
    timeOf(s) { return s < this.n ? this.clock[s] : this.total; }

    // The step that runs at this time, or ran last; the first run before it.
    runAt(ns) { return this.runs[Math.max(0, lastAtMost(this.runStart, ns))]; }

    // Tensors on the device during step s, largest first; the fixed ones are not among
    // them.
    liveAt(s) {
        const live = [];
        for (let k = 0; k < this.stays.n && this.stays.from[k] <= s; k++)
            if (this.stays.to[k] > s) live.push(this.stays.tensor[k]);
        return live.sort((a, b) => this.graph.size(b) - this.graph.size(a) || a - b);
    }

    // The time during which a tensor is on the device.
    timeOnDevice(x) {
        if (this.fates[x] === "fixed") return this.total;
        let sum = 0;
        for (const k of this.staysOf[x])
            sum += this.timeOf(this.stays.to[k]) - this.clock[this.stays.from[k]];
        return sum;
    }
}
