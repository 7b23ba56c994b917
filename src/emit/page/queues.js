// What each queue does: ops, copies to the host, copies to the device.

const LANE = 20;
const LANE_GAP = 7;

class QueueDrawing {
    constructor(plan) {
        this.plan = plan;
        this.names =
            plan.copies.length > 0 ? ["compute", "to host", "to device"] : ["compute"];
    }

    height() { return this.names.length * (LANE + LANE_GAP) - LANE_GAP; }

    laneTop(area, lane) { return area.top + lane * (LANE + LANE_GAP); }

    draw(chart, area) {
        this.names.forEach((name, lane) => {
            const top = this.laneTop(area, lane);
            chart.context.fillStyle = chart.ink.idle;
            chart.context.fillRect(chart.left, top, chart.width, LANE);
            chart.label(name, top + LANE / 2);
        });
        this.drawRuns(chart, this.laneTop(area, 0));
        if (this.names.length > 1) {
            this.drawCopies(chart, this.laneTop(area, 1), true);
            this.drawCopies(chart, this.laneTop(area, 2), false);
        }
    }

    // Ops that run again come last, at least a pixel wide, so that none is lost.
    drawRuns(chart, top) {
        const {axis, ink} = chart;
        const colors = [ink.op, ink.forward, ink.backward, ink.update];
        const first = Math.max(0, lastAtMost(this.plan.runs, axis.stepAt(axis.low)));
        const again = [];
        for (let k = first, end = -1; k < this.plan.runs.length; k++) {
            const s = this.plan.runs[k];
            if (axis.begin(s) > axis.high) break;
            if (this.plan.again[s])
                again.push(s);
            else if (chart.x(axis.finish(s)) - end > 0.6)
                end = this.box(
                    chart, s, top, colors[this.plan.graph.ops[this.plan.ids[s]].phase],
                    end);
        }
        for (const s of again) this.box(chart, s, top, ink.again, 0);
    }

    // Draws a run, from where the one before it was drawn to. Returns its end.
    box(chart, s, top, color, from) {
        const [a, b] = [chart.x(chart.axis.begin(s)), chart.x(chart.axis.finish(s))];
        const width = chart.bar(Math.max(a, from), top, b, LANE, color, b - a > 6);
        if (width > 46)
            chart.inside(
                this.plan.graph.ops[this.plan.ids[s]].name, Math.max(a, chart.left),
                top + LANE / 2, width);
        return Math.max(b, a + 1);
    }

    drawCopies(chart, top, out) {
        let drawn = 0;
        for (const copy of this.plan.copies) {
            if (copy.out !== out) continue;
            const [a, b] = this.span(chart.axis, copy).map(p => chart.x(p));
            if (b - drawn < 0.6 || a > chart.left + chart.width) continue;
            drawn = b;
            const width =
                chart.bar(a, top, b, LANE, out ? chart.ink.out : chart.ink.back, b - a > 6);
            if (width > 46)
                chart.inside(
                    this.plan.graph.tensors[copy.tensor].name, Math.max(a, chart.left),
                    top + LANE / 2, width);
        }
    }

    // A mark under each run that makes or reads tensor x.
    markUses(chart, area, x) {
        const {graph, runsOf} = this.plan;
        const {producer, readers} = graph.tensors[x];
        for (const op of producer < 0 ? readers : [producer, ...readers])
            for (const s of runsOf[op]) {
                const [a, b] =
                    [chart.x(chart.axis.begin(s)), chart.x(chart.axis.finish(s))];
                const [left, right] = [
                    Math.max(a, chart.left),
                    Math.min(Math.max(b, a + 2), chart.left + chart.width)
                ];
                if (right > left)
                    chart.over.fillRect(
                        left, this.laneTop(area, 0) + LANE + 1, right - left, 3);
            }
    }

    span(axis, copy) { return [axis.ofTime(copy.start), axis.ofTime(copy.end)]; }

    // What lies under a point of the area: the run, and the tensor that is copied.
    at(chart, area, x, y) {
        const lane = Math.floor((y - area.top) / (LANE + LANE_GAP));
        const position = chart.position(x);
        if (lane <= 0) return {step: chart.axis.runAt(position)};
        for (const copy of this.plan.copies) {
            const [a, b] = this.span(chart.axis, copy);
            if (copy.out === (lane === 1) && a <= position && position <= b)
                return {step: chart.axis.runAt(position), tensor: copy.tensor};
        }
        return {step: chart.axis.runAt(position)};
    }
}
