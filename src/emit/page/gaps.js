// Why a tensor left the device for a while: what that saved, and what it cost.

// Answers which of the runs from..to-1 takes the most memory, in the same time for any
// range (a sparse table: Bender and Farach-Colton, LATIN 2000).
class BusiestRun {
    constructor(plan) {
        this.plan = plan;
        this.rows = [Int32Array.from(plan.runs)];
        for (let width = 1; 2 * width <= plan.runs.length; width *= 2) {
            const below = this.rows[this.rows.length - 1];
            const row = new Int32Array(below.length - width);
            for (let k = 0; k < row.length; k++)
                row[k] = this.more(below[k], below[k + width]);
            this.rows.push(row);
        }
    }

    more(a, b) { return this.plan.during[b] > this.plan.during[a] ? b : a; }

    // The step of that run among steps from..to-1, or -1.
    in(from, to) {
        const first = lastAtMost(this.plan.runs, from - 1) + 1;
        const n = lastAtMost(this.plan.runs, to - 1) + 1 - first;
        if (n <= 0) return -1;
        const level = 31 - Math.clz32(n);
        return this.more(
            this.rows[level][first], this.rows[level][first + n - (1 << level)]);
    }
}

// The times that a tensor is off the device between two stays.
function gapsOf(plan, x) {
    const stays = plan.staysOf[x];
    const gaps = [];
    for (let i = 1; i < stays.length; i++)
        gaps.push(gapOf(plan, x, plan.stays.to[stays[i - 1]], plan.stays.from[stays[i]]));
    return gaps;
}

function gapOf(plan, x, from, to) {
    const gap = {tensor: x, from, to, ns: plan.clock[to] - plan.clock[from]};
    const most = plan.busiest.in(from + 1, to);
    gap.bytes = plan.graph.size(x);
    gap.peakStep = most;  // the run at which memory would be highest, had it stayed; or -1
    gap.peakKept = most < 0 ? 0 : plan.during[most] + gap.bytes;
    gap.copied = plan.kinds[to] === "i";
    gap.cost = gap.copied ? 0 : plan.graph.ops[plan.ids[to]].ns;
    gap.wait = gap.copied ? waitFor(plan, plan.copyOf.get(to)) : 0;
    return gap;
}

// How long the compute queue waits for a copy in: the first run after it that reads the
// tensor starts when the copy ends, and later than the run before it ended.
function waitFor(plan, copy) {
    const first = lastAtMost(plan.runs, copy.step) + 1;
    for (let k = first; k < plan.runs.length; k++) {
        const s = plan.runs[k];
        if (!plan.graph.ops[plan.ids[s]].inputs.includes(copy.tensor)) continue;
        const free = k > 0 ? plan.end[plan.runs[k - 1]] : 0;
        return plan.clock[s] === copy.end ?
            Math.max(0, copy.end - Math.max(free, copy.start)) :
            0;
    }
    return 0;
}

// Sentences for people.
function explainGap(plan, gap) {
    const {graph, entry} = plan;
    const op = graph.ops[plan.ids[gap.to]];
    const lines =
        [`It left ${showBytes(gap.bytes)} free for ${showTime(gap.ns)}, ` +
         `steps ${showCount(gap.from)} to ${showCount(gap.to)}.`];
    if (gap.copied)
        lines.push(explainCopy(plan, gap));
    else
        lines.push(`${op.name} runs again to make it: ${showTime(gap.cost)}.`);
    if (gap.peakStep >= 0) lines.push(explainPeak(plan, gap, entry.budget));
    if (!gap.copied && graph.canSwap())
        lines.push(`Copying it out and in would take ${
            showTime(graph.roundTrip(gap.tensor))} of the copy queues.`);
    const producer = graph.tensors[gap.tensor].producer;
    if (gap.copied && producer >= 0)
        lines.push(`Computing it again would take ${
            showTime(graph.ops[producer].ns)}, and its inputs.`);
    return lines;
}

function explainCopy(plan, gap) {
    const copy = plan.copyOf.get(gap.to);
    const took = `It comes back by a copy of ${showTime(copy.end - copy.start)}`;
    return gap.wait > 0 ? `${took}, for which the ops wait ${showTime(gap.wait)}.` :
                          `${took} that runs beside the ops and costs no time.`;
}

function explainPeak(plan, gap, budget) {
    const name = plan.graph.ops[plan.ids[gap.peakStep]].name;
    const start = `Kept instead, memory would reach ${showBytes(gap.peakKept)} at ${name}`;
    const over = gap.peakKept - budget;
    if (over > 0) return `${start}, ${showBytes(over)} over the budget.`;
    const unless = plan.graph.addressed ? " if there is an address for it" : "";
    return `${start}, ${showBytes(-over)} below the budget: it could stay${unless}.`;
}
