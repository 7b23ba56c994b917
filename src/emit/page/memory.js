// The memory over the step: the plan in front of keep-all, the budget, the fixed bytes.

// The most memory in each of n columns between low and high. A series holds `during` from
// position at(s) to end(s), and `after` from there to at(s + 1).
function columnMaxima(series, low, high, n) {
    const most = new Float64Array(n);
    const scale = n / (high - low);
    const raise = (from, to, bytes) => {
        const first = Math.max(0, Math.floor((from - low) * scale));
        const last = Math.min(n - 1, Math.max(first, Math.ceil((to - low) * scale) - 1));
        for (let c = first; c <= last; c++)
            if (most[c] < bytes) most[c] = bytes;
    };
    const next = s => (s < series.n ? series.at(s) : series.total);
    let s = Math.max(0, series.firstAt(low));
    if (s === 0 && series.n > 0) raise(0, series.at(0), series.fixed);
    for (; s < series.n && series.at(s) <= high; s++) {
        raise(series.at(s), series.end(s), series.during(s));
        raise(series.end(s), next(s + 1), series.after(s));
    }
    return most;
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
        chart.grid(area, byteTicks(this.top, 6), y);
        this.fill(
            chart, area, y, keepAllSeries(this.plan, axis), chart.ink.all,
            chart.ink.allLine);
        this.fill(
            chart, area, y, planSeries(this.plan, axis), chart.ink.plan,
            chart.ink.planLine);
        chart.context.fillStyle = chart.ink.fixed;
        chart.context.fillRect(
            chart.left, y(this.plan.fixed), chart.width, area.bottom - y(this.plan.fixed));
        if (this.withBudget)
            chart.rule(y(this.plan.entry.budget), chart.ink.budget, "budget");
    }

    // Stairs through the columns, filled down to the floor.
    fill(chart, area, y, series, fill, line) {
        const {context, axis, left, width} = chart;
        const n = Math.round(width * chart.density);
        const most = columnMaxima(series, axis.low, axis.high, n);
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
        context.fill(area_);
        context.strokeStyle = line;
        context.lineWidth = 1;
        context.stroke(top);
    }
}
