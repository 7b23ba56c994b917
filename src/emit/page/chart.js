// Memory, queues and arena on one axis, in one canvas, with a second one above it for what
// follows the pointer. Drawn whole on each change of the view: every drawing passes over
// the steps in view once and merges what is narrower than a pixel.

const MARGIN = {
    left: 78,
    right: 14,
    top: 10,
    bottom: 34,
    gap: 30
};

class Chart {
    constructor(host, plan) {
        this.host = host;
        this.plan = plan;
        this.axis = new Axis(plan);
        this.memory = new MemoryDrawing(plan);
        this.queues = new QueueDrawing(plan);
        this.arena = plan.graph.addressed ? new ArenaDrawing(plan) : null;
        this.selected = {step: -1, tensor: -1};
        this.pointer = -1;  // the x of the pointer, left of the drawing if there is none
        this.base = el("canvas", {"aria-hidden": "true"});
        this.top = el("canvas", {"aria-hidden": "true"});
        host.replaceChildren(this.base, this.top);
        this.context = this.base.getContext("2d", {alpha: false});
        this.over = this.top.getContext("2d");
        this.observer = new ResizeObserver(() => this.resize());
        this.observer.observe(host);
        this.resize();
    }

    close() { this.observer.disconnect(); }

    // ---- geometry ----

    resize() {
        this.density = window.devicePixelRatio || 1;
        this.left = MARGIN.left;
        this.outer = Math.max(300, this.host.clientWidth);
        this.width = this.outer - MARGIN.left - MARGIN.right;
        this.place();
        for (const canvas of [this.base, this.top]) {
            canvas.width = Math.round(this.outer * this.density);
            canvas.height = Math.round(this.tall * this.density);
            canvas.style.width = this.outer + "px";
            canvas.style.height = this.tall + "px";
            canvas.getContext("2d").setTransform(this.density, 0, 0, this.density, 0, 0);
        }
        this.host.style.height = this.tall + "px";
        this.readInk();
    }

    place() {
        let y = MARGIN.top;
        const area = height => ({top: y, bottom: (y += height)});
        this.areas = {memory: area(250)};
        y += 14;
        this.areas.queues = area(this.queues.height());
        y += MARGIN.gap;
        if (this.arena) this.areas.arena = area(300);
        this.tall = y + (this.arena ? MARGIN.bottom : 4);
    }

    // The colours are those of the style sheet, so that they follow the theme.
    readInk() {
        const probe = this.host.appendChild(el("i", {}));
        const get = name => {
            probe.style.color = `var(--${name})`;
            return getComputedStyle(probe).color;
        };
        this.ink = {};
        for (const name
                 of ["surface", "muted", "line", "idle", "all", "budget", "op", "forward",
                     "backward", "update", "again", "out", "back", "workspace", "mark"])
            this.ink[name] = get(name);
        this.ink.allLine = get("all-line");
        this.ink.planLine = get("plan-line");
        this.ink.onBar = get("on-bar");
        this.ink.kinds = [0, 1, 2, 3, 4, 5].map(k => get("k" + k));
        for (const fate of ["kept", "recomputed", "swapped", "both"])
            this.ink[fate] = [1, 2, 3].map(k => get(fate + "-" + k));
        probe.remove();
        this.draw();
    }

    x(position) {
        return this.left +
            ((position - this.axis.low) / (this.axis.high - this.axis.low)) * this.width;
    }

    position(x) {
        return this.axis.low +
            ((x - this.left) / this.width) * (this.axis.high - this.axis.low);
    }

    // ---- drawing ----

    draw() {
        if (this.pending) return;
        this.pending = requestAnimationFrame(() => {
            this.pending = 0;
            this.drawNow();
        });
    }

    drawNow() {
        const {context, areas} = this;
        const begun = performance.now();
        context.fillStyle = this.ink.surface;
        context.fillRect(0, 0, this.outer, this.tall);
        context.font = "12px system-ui, sans-serif";
        context.textBaseline = "middle";
        this.memory.draw(this, areas.memory);
        this.queues.draw(this, areas.queues);
        this.drawAxis(areas.queues.bottom);
        if (this.arena) {
            this.arena.draw(this, areas.arena);
            this.drawAxis(areas.arena.bottom);
        }
        this.drawWindow();
        this.drawOver();
        this.drawTime = performance.now() - begun;
    }

    // Which part of the step is seen, if not all of it.
    drawWindow() {
        const {low, high} = this.axis;
        const scale = this.width / this.axis.extent();
        if (this.axis.isWhole()) return;
        this.context.fillStyle = this.ink.line;
        this.context.fillRect(this.left, 0, this.width, 5);
        this.context.fillStyle = this.ink.planLine;
        this.context.fillRect(
            this.left + low * scale, 0, Math.max(3, (high - low) * scale), 5);
    }

    drawAxis(y) {
        const {low, high, inSteps} = this.axis;
        const most = Math.max(2, Math.floor(this.width / 110));
        const {ticks, unit} =
            inSteps ? stepTicks(low, high, most) : timeTicks(low, high, most);
        this.context.fillStyle = this.ink.muted;
        this.context.textAlign = "center";
        for (const tick of ticks) {
            this.context.fillRect(this.x(tick.at), y, 1, 4);
            const text = tick.text + " " + unit;
            const half = this.context.measureText(text).width / 2;
            this.context.fillText(
                text, Math.min(this.x(tick.at), this.outer - half - 1), y + 13);
        }
    }

    // Lines and labels of the vertical axis.
    grid(area, {ticks, unit}, y, lines = true) {
        const {context} = this;
        context.textAlign = "right";
        for (const tick of ticks) {
            const height = Math.round(y(tick.at)) + 0.5;
            context.fillStyle = this.ink.line;
            if (lines) context.fillRect(this.left, height - 0.5, this.width, 1);
            context.fillStyle = this.ink.muted;
            context.fillText(tick.text + " " + unit, this.left - 8, height);
        }
    }

    label(text, y) {
        this.context.fillStyle = this.ink.muted;
        this.context.textAlign = "right";
        this.context.fillText(text, this.left - 8, y);
    }

    rule(y, color, text) {
        const {context} = this;
        context.strokeStyle = color;
        context.lineWidth = 1.5;
        context.setLineDash([6, 4]);
        context.beginPath();
        context.moveTo(this.left, y);
        context.lineTo(this.left + this.width, y);
        context.stroke();
        context.setLineDash([]);
        context.fillStyle = color;
        context.textAlign = "right";
        context.strokeStyle = this.ink.surface;  // a seam, on whatever lies behind the text
        context.lineWidth = 3;
        context.strokeText(text, this.left + this.width - 4, y - 8);
        context.fillText(text, this.left + this.width - 4, y - 8);
    }

    // A bar from a to b, clipped to the view and at least half a pixel wide, with a gap
    // beside it if it is wide enough. Returns the width that is seen.
    bar(a, top, b, height, color, spaced) {
        const left = Math.max(a, this.left);
        const right = Math.min(Math.max(b, a + 0.7), this.left + this.width);
        if (right <= left) return 0;
        this.context.fillStyle = color;
        this.context.fillRect(
            left, top, right - left - (spaced ? 0.8 : 0),
            Math.max(0.5, height - (spaced ? 0.8 : 0)));
        return right - left;
    }

    // A name within a bar. If it is too long, its end says more than its beginning.
    inside(text, left, y, width) {
        const share = (width - 10) / this.context.measureText(text).width;
        const fits = Math.floor(text.length * share) - 2;
        if (fits < 3 && share < 1) return;
        this.context.fillStyle = this.ink.onBar;
        this.context.textAlign = "left";
        this.context.fillText(share < 1 ? "\u2026" + text.slice(-fits) : text, left + 4, y);
    }

    // ---- above the drawing: the selection and the pointer ----

    drawOver() {
        const {over} = this;
        over.clearRect(0, 0, this.outer, this.tall);
        if (this.selected.step >= 0) this.drawStep(this.selected.step);
        if (this.selected.tensor >= 0) this.drawTensor(this.selected.tensor);
        if (this.pointer < this.left) return;
        over.fillStyle = this.ink.muted;
        over.fillRect(
            Math.round(this.pointer), MARGIN.top, 1,
            this.tall - MARGIN.top - MARGIN.bottom);
    }

    // Its boxes in the arena, and the runs that make or read it.
    drawTensor(x) {
        this.over.strokeStyle = this.over.fillStyle = this.ink.mark;
        this.over.lineWidth = 2;
        if (this.arena) this.arena.outline(this, this.areas.arena, x);
        this.queues.markUses(this, this.areas.queues, x);
    }

    drawStep(s) {
        const [a, b] = [this.x(this.axis.begin(s)), this.x(this.axis.finish(s))];
        if (b < this.left || a > this.left + this.width) return;
        const bottom = (this.areas.arena || this.areas.queues).bottom;
        this.over.fillStyle = this.ink.mark;
        this.over.globalAlpha = 0.14;
        this.over.fillRect(a, MARGIN.top, Math.max(1, b - a), bottom - MARGIN.top);
        this.over.globalAlpha = 1;
        this.over.fillRect(a, MARGIN.top, 1.5, bottom - MARGIN.top);
    }

    pointAt(x) {
        this.pointer = x;
        this.drawOver();
    }

    select(step, tensor) {
        this.selected = {step, tensor};
        this.drawOver();
    }

    // ---- the view ----

    whole() {
        this.axis.reset();
        if (this.arena) [this.arena.low, this.arena.high] = [0, this.arena.whole];
        this.draw();
    }

    goTo(from, to) {
        this.axis.showSteps(from, to);
        this.draw();
    }

    // Pans until step s is in view.
    reveal(s) {
        const {low, high} = this.axis;
        const at = this.axis.begin(s);
        if (at < low || at > high) this.axis.show(at - (high - low) / 2, high - low);
        this.draw();
    }

    // Zooms at the chosen step if it is in view, else in the middle.
    zoom(factor) {
        const {low, high} = this.axis;
        const step = this.selected.step;
        const at = step < 0 ? 0.5 : (this.axis.begin(step) - low) / (high - low);
        this.axis.zoom(factor, at >= 0 && at <= 1 ? at : 0.5);
        this.draw();
    }

    // What lies under a point: the run of that time, and a tensor or -1.
    under({x, y}) {
        for (const [name, drawing] of [["queues", this.queues], ["arena", this.arena]])
            if (drawing && y >= this.areas[name].top && y < this.areas[name].bottom)
                return {tensor: -1, ...drawing.at(this, this.areas[name], x, y)};
        return {step: this.axis.runAt(this.position(x)), tensor: -1};
    }
}
