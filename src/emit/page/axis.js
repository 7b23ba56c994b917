// The horizontal axis that all drawings share: nanoseconds, or steps of the plan. `low` and
// `high` are the ends of what is seen, within 0..extent.

class Axis {
    constructor(plan) {
        this.plan = plan;
        this.inSteps = false;
        this.reset();
    }

    reset() {
        this.low = 0;
        this.high = this.extent();
    }

    extent() {
        return Math.max(
            1,
            this.inSteps ? this.plan.n :
                           Math.max(this.plan.total, this.plan.graph.keepAll.total));
    }

    isWhole() { return this.high - this.low >= this.extent(); }

    setSteps(inSteps) {
        const middle = this.stepAt((this.low + this.high) / 2);
        const share = (this.high - this.low) / this.extent();
        this.inSteps = inSteps;
        const width = share * this.extent();
        this.show(this.begin(middle) - width / 2, width);
    }

    // Shows `width` from `low` on, moved so that it lies within the extent.
    show(low, width) {
        const extent = this.extent();
        width = Math.min(extent, Math.max(this.inSteps ? 4 : Math.min(20, extent), width));
        this.low = Math.max(0, Math.min(extent - width, low));
        this.high = this.low + width;
    }

    // Zooms by a factor; the point at `share` of the width stays where it is.
    zoom(factor, share) {
        const width = this.high - this.low;
        this.show(this.low + share * width * (1 - factor), width * factor);
    }

    pan(share) {
        const width = this.high - this.low;
        this.show(this.low + share * width, width);
    }

    // Shows steps from..to with some room around them, unless they fill the view well.
    showSteps(from, to) {
        const [a, b] = [this.begin(from), this.finish(Math.min(to, this.plan.n - 1))];
        const width = Math.max(b - a, this.extent() / 400);
        this.show((a + b) / 2 - width, 2 * width);
    }

    // Where step s begins and where its work ends.
    begin(s) { return this.inSteps ? s : this.plan.timeOf(s); }

    finish(s) { return this.inSteps ? s + 1 : this.plan.end[s]; }

    // Where a time lies. Times within a step lie within its place.
    ofTime(ns) {
        if (!this.inSteps) return ns;
        const s = Math.max(0, lastAtMost(this.plan.clock, ns));
        const width = this.plan.timeOf(s + 1) - this.plan.clock[s];
        return s + (width > 0 ? Math.min(1, (ns - this.plan.clock[s]) / width) : 0);
    }

    stepAt(position) {
        const s =
            this.inSteps ? Math.floor(position) : lastAtMost(this.plan.clock, position);
        return Math.max(0, Math.min(this.plan.n - 1, s));
    }

    // The run under a position: the step itself, or the run that it follows.
    runAt(position) {
        if (!this.inSteps) return this.plan.runAt(position);
        const k = lastAtMost(this.plan.runs, this.stepAt(position));
        return this.plan.runs[Math.max(0, k)];
    }
}

// Round numbers along an axis: at most about `most` of them, in a unit of `units`.
function roundTicks(low, high, most, units, base) {
    let [unit, k] = [1, 0];
    for (; k < units.length - 1 && high / base >= unit; k++) unit *= base;
    const raw = (high - low) / most / unit;
    const ten = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = [1, 2, 5, 10].map(m => m * ten).find(m => m >= raw) * unit;
    const decimals = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9));
    const ticks = [];
    for (let i = Math.ceil(low / step); i * step <= high; i++)
        ticks.push({at: i * step, text: ((i * step) / unit).toFixed(decimals)});
    return {ticks, unit: units[k]};
}

const byteTicks = (high, most) =>
    roundTicks(0, high, most, ["B", "KiB", "MiB", "GiB", "TiB"], 1024);
const timeTicks = (low, high, most) =>
    roundTicks(low, high, most, ["ns", "us", "ms", "s"], 1000);
const stepTicks = (low, high, most) =>
    roundTicks(low, high, Math.min(most, high - low), [""], 1);
