// The arena: addresses over the step. Each stay of a tensor is a box, and so is the
// workspace of each run.

class ArenaDrawing {
    constructor(plan) {
        this.plan = plan;
        this.whole = Math.max(1, plan.entry.arena);
        this.low = 0;
        this.high = this.whole;
    }

    // Zooms the addresses by a factor; the one at `share` from the bottom stays.
    zoom(factor, share) {
        const height = Math.min(
            this.whole, Math.max(this.plan.graph.unit, (this.high - this.low) * factor));
        const low = this.low + share * (this.high - this.low - height);
        this.low = Math.max(0, Math.min(this.whole - height, low));
        this.high = this.low + height;
    }

    y(area, address) {
        return area.bottom -
            ((address - this.low) / (this.high - this.low)) * (area.bottom - area.top);
    }

    // How far up the area a height is: 0 at the bottom, 1 at the top.
    shareOf(area, y) {
        return Math.max(0, Math.min(1, (area.bottom - y) / (area.bottom - area.top)));
    }

    address(area, y) { return this.low + this.shareOf(area, y) * (this.high - this.low); }

    draw(chart, area) {
        const {context} = chart;
        context.fillStyle = chart.ink.idle;
        context.fillRect(chart.left, area.top, chart.width, area.bottom - area.top);
        context.save();
        context.beginPath();
        context.rect(chart.left, area.top, chart.width, area.bottom - area.top);
        context.clip();
        this.drawStays(chart, area);
        this.drawWorkspaces(chart, area);
        context.restore();
        chart.grid(
            area,
            roundTicks(this.low, this.high, 5, ["B", "KiB", "MiB", "GiB", "TiB"], 1024),
            address => this.y(area, address), false);
    }

    drawStays(chart, area) {
        const {stays, graph, fates} = this.plan;
        this.covered = new Float64Array(Math.ceil(area.bottom - area.top) + 1);
        const colors = {
            kept: chart.ink.kept,
            recomputed: chart.ink.recomputed,
            swapped: chart.ink.swapped,
            both: chart.ink.both
        };
        for (let k = 0; k < stays.n; k++) {
            const begin = chart.axis.begin(stays.from[k]);
            if (begin > chart.axis.high) break;
            const end = chart.axis.begin(stays.to[k]);
            if (end < chart.axis.low) continue;
            const x = stays.tensor[k];
            const shade = colors[fates[x]][x % 3];
            this.box(
                chart, area, begin, end, stays.at[k], graph.size(x), shade,
                graph.tensors[x].name);
        }
    }

    drawWorkspaces(chart, area) {
        const {step, bytes, at} = this.plan.workspace;
        const first = Math.max(0, lastAtMost(step, chart.axis.stepAt(chart.axis.low)));
        for (let k = first; k < step.length && chart.axis.begin(step[k]) <= chart.axis.high;
             k++)
            this.box(
                chart, area, chart.axis.begin(step[k]), chart.axis.finish(step[k]), at[k],
                bytes[k], chart.ink.workspace, "workspace");
    }

    box(chart, area, begin, end, at, bytes, color, name) {
        const top = Math.max(area.top, this.y(area, at + bytes));
        const bottom = Math.min(area.bottom, this.y(area, at));
        if (bottom <= top) return;
        const [a, b] = [chart.x(begin), chart.x(end)];
        const height = bottom - top;
        if (height < 0.7) return this.line(chart, area, a, b, top, color);
        const width = chart.bar(a, top, b, height, color, b - a > 4 && height > 4);
        if (width > 50 && height > 13)
            chart.inside(name, Math.max(a, chart.left), (top + bottom) / 2, width);
    }

    // A box of less than a pixel fills its row of pixels, where no box before it did. Boxes
    // come in the order of their beginnings.
    line(chart, area, a, b, top, color) {
        const row = Math.floor(top - area.top);
        const from = Math.max(a, this.covered[row]);
        if (b - from < 0.5) return;
        chart.bar(from, area.top + row, b, 1, color, false);
        this.covered[row] = Math.max(b, a + 0.7);
    }

    // The tensor whose box lies under a point, or -1.
    tensorAt(position, address, axis) {
        const {stays, graph} = this.plan;
        for (let k = 0; k < stays.n && axis.begin(stays.from[k]) <= position; k++)
            if (position < axis.begin(stays.to[k]) && stays.at[k] <= address &&
                address < stays.at[k] + graph.size(stays.tensor[k]))
                return stays.tensor[k];
        return -1;
    }

    at(chart, area, x, y) {
        const position = chart.position(x);
        const tensor = this.tensorAt(position, this.address(area, y), chart.axis);
        return tensor < 0 ? {step: chart.axis.runAt(position)} :
                            {step: chart.axis.runAt(position), tensor};
    }

    outline(chart, area, x) {
        const {stays, graph} = this.plan;
        for (const k of this.plan.staysOf[x]) {
            const [a, b] = [
                chart.x(chart.axis.begin(stays.from[k])),
                chart.x(chart.axis.begin(stays.to[k]))
            ];
            const [left, right] =
                [Math.max(a, chart.left), Math.min(b, chart.left + chart.width)];
            const top = Math.max(area.top, this.y(area, stays.at[k] + graph.size(x)));
            const bottom = Math.min(area.bottom, this.y(area, stays.at[k]));
            if (right < left || bottom < top) continue;
            chart.over.strokeRect(
                left, top, Math.max(1, right - left), Math.max(1, bottom - top));
        }
    }
}
