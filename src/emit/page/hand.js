// Pointer, wheel and keys on a chart.

class Hand {
    // pick(what, pinned): called with {step, tensor} as the pointer or the keys move, and
    // with null when the pointer leaves. `pinned`: it was clicked, or reached by a key.
    constructor(chart, pick) {
        this.chart = chart;
        this.pick = pick;
        this.held = null;
        this.listening = new AbortController();
        const {signal} = this.listening;
        const on = (name, listener) =>
            chart.host.addEventListener(name, listener, {signal, passive: false});
        on("pointerdown", event => this.grab(event));
        on("pointermove", event => this.move(event));
        on("pointerup", event => this.release(event));
        on("pointerleave", () => this.leave());
        on("dblclick", () => chart.whole());
        on("wheel", event => this.wheel(event));
        on("keydown", event => this.key(event));
    }

    close() { this.listening.abort(); }

    // ---- pointer ----

    point(event) {
        const box = this.chart.host.getBoundingClientRect();
        return {x: event.clientX - box.left, y: event.clientY - box.top};
    }

    grab(event) {
        if (event.button !== 0) return;
        this.chart.host.setPointerCapture(event.pointerId);
        this.held = {...this.point(event), low: this.chart.axis.low, moved: false};
    }

    move(event) {
        const {chart, held} = this;
        const {x, y} = this.point(event);
        chart.pointAt(x);
        if (held && Math.abs(x - held.x) > 3) held.moved = true;
        if (held && held.moved)
            this.drag(x);
        else if (x >= chart.left)
            this.pick(chart.under({x, y}), false);
    }

    drag(x) {
        const {axis, width} = this.chart;
        const seen = axis.high - axis.low;
        axis.show(this.held.low - ((x - this.held.x) / width) * seen, seen);
        this.chart.draw();
    }

    release(event) {
        const held = this.held;
        this.held = null;
        if (held && !held.moved && held.x >= this.chart.left)
            this.pick(this.chart.under(held), true);
    }

    leave() {
        this.chart.pointAt(-1);
        this.pick(null, false);
    }

    // The wheel zooms the axis; sideways, or with Shift, it pans; with Alt it zooms the
    // addresses.
    wheel(event) {
        const {axis, left, width, arena, areas} = this.chart;
        const {x, y} = this.point(event);
        const amount = (event.deltaY || event.deltaX) * (event.deltaMode === 1 ? 16 : 1);
        const factor = Math.exp(Math.max(-1, Math.min(1, amount * 0.002)));
        if (factor > 1 && axis.isWhole() && !event.altKey) return;  // the page scrolls
        event.preventDefault();
        if (event.altKey && arena)
            arena.zoom(factor, arena.shareOf(areas.arena, y));
        else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
            axis.pan((event.deltaX || event.deltaY) / width);
        else
            axis.zoom(factor, Math.max(0, Math.min(1, (x - left) / width)));
        this.chart.draw();
    }

    // ---- keys ----

    key(event) {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const {chart} = this;
        const jump = event.shiftKey ? 10 : 1;
        const keys = {
            ArrowLeft: () => this.stepBy(-jump),
            ArrowRight: () => this.stepBy(jump),
            Home: () => this.stepTo(0),
            End: () => this.stepTo(chart.plan.runs.length - 1),
            "+": () => chart.zoom(0.5),
            "=": () => chart.zoom(0.5),
            "-": () => chart.zoom(2),
            PageUp: () => chart.axis.pan(-0.5),
            PageDown: () => chart.axis.pan(0.5),
            "]": () => chart.arena && chart.arena.zoom(0.5, 0.5),
            "[": () => chart.arena && chart.arena.zoom(2, 0.5),
            0: () => chart.whole(),
        };
        if (!keys[event.key]) return;
        event.preventDefault();
        keys[event.key]();
        chart.draw();
    }

    stepBy(runs) {
        const {plan, selected} = this.chart;
        this.stepTo(selected.step < 0 ? 0 : lastAtMost(plan.runs, selected.step) + runs);
    }

    stepTo(run) {
        const {runs} = this.chart.plan;
        const step = runs[Math.max(0, Math.min(runs.length - 1, run))];
        this.pick({step, tensor: -1}, true);
        this.chart.reveal(step);
    }
}
