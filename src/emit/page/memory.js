// The memory over the step: the plan, by kind, in front of keep-all, the budget, the fixed
// bytes.

// The most memory in each of n columns between low and high, and the step that it is of,
// -1 if it is before all steps. A series holds `during` from position at(s) to end(s), and
// `after` from there to at(s + 1).
function columnMaxima(series, low, high, n) {
    const most = new Float64Array(n);
    const step = new Int32Array(n).fill(-1);
    const scale = n / (high - low);
    const raise = (from, to, bytes, s) => {
        const first = Math.max(0, Math.floor((from - low) * scale));
        const last = Math.min(n - 1, Math.max(first, Math.ceil((to - low) * scale) - 1));
        for (let c = first; c <= last; c++)
            if (most[c] < bytes) [most[c], step[c]] = [bytes, s];
    };
    const next = s => (s < series.n ? series.at(s) : series.total);
    let s = Math.max(0, series.firstAt(low));
    if (s === 0 && series.n > 0) raise(0, series.at(0), series.fixed, -1);
    for (; s < series.n && series.at(s) <= high; s++) {
        raise(series.at(s), series.end(s), series.during(s), s);
        raise(series.end(s), next(s + 1), series.after(s), s);
    }
    return {most, step};
}

function planSeries(plan, axis) {
    return {
        n: plan.n,
        fixed: plan.fixed,
        total: axis.inSteps ? plan.n : plan.total,
        at: s => axis.begin(s),
        end: s => axis.finish(s),
        during: s => plan.during[s],
        after: s => plan.after[s],
        firstAt: low => axis.stepAt(low) - 1,
    };
}

// Keep-all on its own clock, or beside the plan's steps: at each step, what keep-all holds
// at the op that the plan has reached.
function keepAllSeries(plan, axis) {
    const keepAll = plan.graph.keepAll;
    if (!axis.inSteps)
        return {
            n: keepAll.n,
            fixed: keepAll.fixed,
            total: keepAll.total,
            at: i => keepAll.at[i],
            end: i => keepAll.end[i],
            during: i => keepAll.during[i],
            after: i => keepAll.after[i],
            firstAt: low => lastAtMost(keepAll.at, low) - 1,
        };
    const first = plan.runs.filter(s => !plan.again[s]);
    const op = k => plan.ids[first[k]];
    return {
        n: first.length,
        fixed: keepAll.fixed,
        total: plan.n,
        at: k => first[k],
        end: k => first[k] + 1,
        during: k => keepAll.during[op(k)],
        after: k => keepAll.after[op(k)],
        firstAt: low => lastAtMost(first, low) - 1,
    };
}

// From the bottom up: parameters, state, inputs, gradients, activations, workspace.
const STACKED = [0, 1, 2, 4, 3, 5];

class MemoryDrawing {
    constructor(plan) {
        const {budget, peak} = plan.entry;
        const highest = Math.max(peak, plan.graph.keepAll.peak, 1);
        this.plan = plan;
        this.withBudget = budget < 2 * highest;
        this.top = 1.04 * (this.withBudget ? Math.max(highest, budget) : highest);
    }

    draw(chart, area) {
        const {axis} = chart;
        const y = bytes => area.bottom - ((area.bottom - area.top) * bytes) / this.top;
        const n = Math.round(chart.width * chart.density);
        const maxima = series => columnMaxima(series, axis.low, axis.high, n);
        chart.grid(area, byteTicks(this.top, 6), y);
        this.fill(
            chart, area, y, maxima(keepAllSeries(this.plan, axis)).most, chart.ink.all,
            chart.ink.allLine);
        this.fillKinds(chart, area, y, maxima(planSeries(this.plan, axis)));
        if (this.plan.fixed > 0) chart.rule(y(this.plan.fixed), chart.ink.onBar, "fixed");
        if (this.withBudget)
            chart.rule(y(this.plan.entry.budget), chart.ink.budget, "budget");
    }

    // The area below all kinds, then that below all but the uppermost, and so on, each in
    // front of the one before.
    fillKinds(chart, area, y, {most, step}) {
        const {split} = this.plan;
        const below = most.slice();
        for (const kind of STACKED.slice().reverse()) {
            if (split.holds(kind)) this.fill(chart, area, y, below, chart.ink.kinds[kind]);
            for (let c = 0; c < below.length; c++)
                if (most[c] > 0) below[c] -= split.of(kind, step[c], most[c]);
        }
        this.fill(chart, area, y, most, null, chart.ink.planLine);
    }

    // Stairs through the columns, filled down to the floor.
    fill(chart, area, y, most, fill, line) {
        const {context, left, width} = chart;
        const n = most.length;
        const top = new Path2D();
        let end = 0;
        for (let c = 0; c < n; c++) {
            if (most[c] === 0) continue;
            const height = y(most[c]);
            if (end === 0) top.moveTo(left + (c * width) / n, area.bottom);
            top.lineTo(left + (c * width) / n, height);
            top.lineTo((end = left + ((c + 1) * width) / n), height);
        }
        if (end === 0) return;
        const area_ = new Path2D(top);
        area_.lineTo(end, area.bottom);
        area_.closePath();
        context.fillStyle = fill;
        if (fill) context.fill(area_);
        context.strokeStyle = line;
        context.lineWidth = 1;
        if (line) context.stroke(top);
    }
}
