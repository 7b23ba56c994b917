// A box that finds ops and tensors by a part of their names.

const SEARCH_ROWS = 12;

class Search {
    // go({step, tensor}): called when a result is chosen.
    constructor(input, list, plan, go) {
        Object.assign(this, {input, list, plan, go, found: [], active: 0});
        const {tensors, ops} = plan.graph;
        this.names = [
            ...ops.map((op, i) => ({
                           name: op.name,
                           lower: op.name.toLowerCase(),
                           what: "op",
                           step: plan.runsOf[i][0],
                           tensor: -1
                       })),
            ...tensors.map((t, x) => ({
                               name: t.name,
                               lower: t.name.toLowerCase(),
                               what: "tensor",
                               step: -1,
                               tensor: x
                           })),
        ];
        input.oninput = () => this.find();
        input.onkeydown = event => this.key(event);
        input.onfocus = () => this.find();
        input.onblur = () => this.show([]);
        input.value = "";
    }

    // Whole names first, then those that begin with the text, then those that contain it.
    find() {
        const text = this.input.value.trim().toLowerCase();
        const rank = entry =>
            (entry.lower === text             ? 0 :
                 entry.lower.startsWith(text) ? 1 :
                                                2);
        const found =
            text === "" ? [] : this.names.filter(entry => entry.lower.includes(text));
        this.active = 0;
        this.show(found.sort((a, b) => rank(a) - rank(b)).slice(0, SEARCH_ROWS));
    }

    show(found) {
        this.found = found;
        this.list.hidden = found.length === 0;
        this.input.setAttribute("aria-expanded", found.length > 0);
        this.list.replaceChildren(...found.map((entry, k) => this.option(entry, k)));
        if (found.length > 0)
            this.input.setAttribute("aria-activedescendant", "found-" + this.active);
        else
            this.input.removeAttribute("aria-activedescendant");
    }

    option(entry, k) {
        const choose = event => {
            event.preventDefault();  // the focus stays in the box
            this.choose(entry);
        };
        return el(
            "li", {
                id: "found-" + k,
                role: "option",
                "aria-selected": String(k === this.active),
                pointerdown: choose
            },
            el("span", {class: "what"}, entry.what),
            el("span", {class: "name"}, entry.name));
    }

    choose(entry) {
        this.input.value = entry.name;
        this.show([]);
        this.go({step: entry.step, tensor: entry.tensor});
    }

    key(event) {
        const move = {ArrowDown: 1, ArrowUp: -1}[event.key];
        if (move && this.found.length > 0) {
            event.preventDefault();
            this.active = (this.active + move + this.found.length) % this.found.length;
            this.show(this.found);
        }
        if (event.key === "Enter" && this.found.length > 0)
            this.choose(this.found[this.active]);
        if (event.key === "Escape") this.input.blur();
    }
}
