// The table of tensors. Only the rows in view are elements.

const ROW = 28;

const COLUMNS = [
    {key: "name", title: "Tensor", text: row => row.name},
    {key: "kind", title: "Kind", text: row => row.kind},
    {key: "bytes", title: "Size", number: true, text: row => showBytes(row.bytes)},
    {key: "fate", title: "Fate", text: row => FATE_WORDS[row.fate]},
    {
        key: "first",
        title: "First made",
        number: true,
        text: row => (row.first < 0 ? "-" : showTime(row.first))
    },
    {key: "on", title: "On device", number: true, text: row => showTime(row.on)},
    {
        key: "off",
        title: "Off device",
        number: true,
        text: row => (row.off > 0 ? showTime(row.off) : "")
    },
    {
        key: "recompute",
        title: "Recompute",
        number: true,
        text: row => (row.recompute > 0 ? showTime(row.recompute) : "")
    },
    {
        key: "copy",
        title: "Copies",
        number: true,
        text: row => (row.copy > 0 ? showTime(row.copy) : "")
    },
    {
        key: "kept",
        title: "If kept",
        number: true,
        text: row => row.keptText,
        help:
            "How far memory would be above the budget if the tensor had stayed, or below (-)"
    },
];

function tensorRow(plan, x) {
    const tensor = plan.graph.tensors[x];
    const stays = plan.staysOf[x];
    const row =
        {x, name: tensor.name, kind: tensor.kind, bytes: tensor.bytes, fate: plan.fates[x]};
    row.first = stays.length > 0 ? plan.clock[plan.stays.from[stays[0]]] : -1;
    row.on = plan.timeOnDevice(x);
    row.off = row.recompute = row.copy = 0;
    row.kept = -Infinity;
    for (const gap of gapsOf(plan, x)) {
        row.off += gap.ns;
        row.recompute += gap.cost;
        if (gap.peakStep >= 0)
            row.kept = Math.max(row.kept, gap.peakKept - plan.entry.budget);
    }
    row.keptText = row.kept > -Infinity ?
        (row.kept > 0 ? "+" : "-") + showBytes(Math.abs(row.kept)) :
        "";
    return row;
}

class TensorTable {
    // go({step, tensor}): called when a row is chosen.
    constructor(host, plan, go) {
        Object.assign(this, {host, plan, go, sort: "bytes", down: true, active: 0});
        this.all = plan.graph.tensors.map((_, x) => tensorRow(plan, x));
        for (const copy of plan.copies) this.all[copy.tensor].copy += copy.end - copy.start;
        this.build();
        this.filter();
    }

    build() {
        this.text = el("input", {
            type: "search",
            placeholder: "Filter by name",
            "aria-label": "Filter tensors by name",
            input: () => this.filter()
        });
        this.fate =
            el("select", {"aria-label": "Fate", change: () => this.filter()},
               el("option", {value: ""}, "All fates"),
               ...FATES.map(fate => el("option", {value: fate}, FATE_WORDS[fate])));
        this.count = el("span", {class: "muted", role: "status"});
        this.heads = COLUMNS.map(column => this.head(column));
        this.body = el("tbody", {});
        this.above = el("tr", {"aria-hidden": "true"}, el("td", {colspan: COLUMNS.length}));
        this.below = el("tr", {"aria-hidden": "true"}, el("td", {colspan: COLUMNS.length}));
        this.table =
            el("table", {"aria-label": "Tensors"},
               el("thead", {}, el("tr", {}, ...this.heads)), this.body);
        this.view =
            el("div", {
                class: "scroll",
                tabindex: "0",
                "aria-label": "Tensors: arrows move, Enter shows one",
                role: "region",
                scroll: () => this.draw(),
                keydown: event => this.key(event)
            },
               this.table);
        this.host.replaceChildren(
            el("div", {class: "filters"}, this.text, this.fate, this.count), this.view);
    }

    head(column) {
        const button =
            el("button", {title: column.help || null, click: () => this.sortBy(column.key)},
               column.title);
        return el(
            "th",
            {scope: "col", class: column.number ? "number" : "", "data-key": column.key},
            button);
    }

    sortBy(key) {
        this.down = this.sort === key ? !this.down :
                                        COLUMNS.find(c => c.key === key).number === true;
        this.sort = key;
        this.filter();
    }

    filter() {
        const part = this.text.value.toLowerCase();
        const sign = this.down ? -1 : 1;
        const {sort} = this;
        this.rows = this.all.filter(
            row => (!this.fate.value || row.fate === this.fate.value) &&
                row.name.toLowerCase().includes(part));
        this.rows.sort(
            (a, b) =>
                (a[sort] < b[sort]     ? -sign :
                     a[sort] > b[sort] ? sign :
                                         a.x - b.x));
        for (const head of this.heads)
            head.setAttribute(
                "aria-sort",
                head.dataset.key === sort ? (this.down ? "descending" : "ascending") :
                                            "none");
        this.count.textContent =
            `${showCount(this.rows.length)} of ${countOf(this.all.length, "tensor")}, ` +
            showBytes(this.rows.reduce((sum, row) => sum + row.bytes, 0));
        this.table.setAttribute("aria-rowcount", this.rows.length + 1);
        this.active = 0;
        this.view.scrollTop = 0;
        this.draw();
    }

    draw() {
        const first = Math.max(0, Math.floor(this.view.scrollTop / ROW) - 4);
        const last = Math.min(
            this.rows.length, first + Math.ceil((this.view.clientHeight || 420) / ROW) + 8);
        this.above.firstChild.style.height = first * ROW + "px";
        this.below.firstChild.style.height = (this.rows.length - last) * ROW + "px";
        const rows = [];
        for (let k = first; k < last; k++) rows.push(this.row(k));
        this.body.replaceChildren(this.above, ...rows, this.below);
    }

    row(k) {
        const row = this.rows[k];
        const choose = () => {
            this.active = k;
            this.go({step: -1, tensor: row.x});
            this.draw();
        };
        const cells = COLUMNS.map(column => {
            const text = column.text(row);
            const content =
                column.key === "fate" ? el("span", {class: "tag " + row.fate}, text) : text;
            return el(
                "td", {
                    class: column.number ? "number" : "",
                    title: column.key === "name" ? text : null
                },
                content);
        });
        return el(
            "tr", {
                "aria-rowindex": k + 2,
                class: k === this.active ? "active" : "",
                click: choose
            },
            ...cells);
    }

    key(event) {
        const page = Math.floor(this.view.clientHeight / ROW) - 2;
        const moves = {
            ArrowDown: 1,
            ArrowUp: -1,
            PageDown: page,
            PageUp: -page,
            Home: -Infinity,
            End: Infinity
        };
        if (event.key === "Enter" && this.rows[this.active] && event.target === this.view)
            this.go({step: -1, tensor: this.rows[this.active].x});
        if (moves[event.key] === undefined) return;
        event.preventDefault();
        this.active =
            Math.max(0, Math.min(this.rows.length - 1, this.active + moves[event.key]));
        const top = this.active * ROW;
        const room = this.view.clientHeight - 2 * ROW;
        if (top < this.view.scrollTop) this.view.scrollTop = top;
        if (top > this.view.scrollTop + room) this.view.scrollTop = top - room;
        this.draw();
    }
}
