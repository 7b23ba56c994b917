// The plan's memory by kind: parameters, state, inputs, activations, gradients, and the
// workspace of the op that runs. Kinds are numbers, WORKSPACE the last.

const WORKSPACE = 5;

class MemorySplit {
    // fixed: bytes of each kind that are always there.
    constructor(plan, fixed) {
        Object.assign(this, {plan, fixed});
        this.after = fixed.map(bytes => new Float64Array(plan.n).fill(bytes));
        const {stays, graph} = plan;
        const rise = fixed.map(() => new Float64Array(plan.n + 1));
        for (let k = 0; k < stays.n; k++) {
            const x = stays.tensor[k];
            rise[graph.tensors[x].memory][stays.from[k]] += graph.size(x);
            rise[graph.tensors[x].memory][stays.to[k]] -= graph.size(x);
        }
        this.after.forEach((held, kind) => {
            for (let s = 0, sum = 0; s < plan.n; s++) held[s] += sum += rise[kind][s];
        });
    }

    // What a kind takes while step s holds `bytes` in all; s -1: before the first step.
    of(kind, s, bytes) {
        if (kind === WORKSPACE) return s < 0 ? 0 : bytes - this.plan.after[s];
        return s < 0 ? this.fixed[kind] : this.after[kind][s];
    }

    // Does the plan ever hold that kind?
    holds(kind) {
        if (kind === WORKSPACE) return this.plan.workspace.bytes.some(bytes => bytes > 0);
        return this.after[kind].some(bytes => bytes > 0);
    }

    // The kinds that the plan holds, in the order of reports.
    kinds() { return this.plan.graph.memory.filter(({kind}) => this.holds(kind)); }

    // What is held during step s: [{kind, word, bytes}], without kinds of no bytes.
    during(s) {
        const bytes = kind => this.of(kind, s, this.plan.during[s]);
        return this.plan.graph.memory
            .map(({kind, word}) => ({kind, word, bytes: bytes(kind)}))
            .filter(part => part.bytes > 0);
    }

    // "activations 1.20 GiB, state 640 MiB"
    text(s) {
        return this.during(s)
            .map(({word, bytes}) => `${word} ${showBytes(bytes)}`)
            .join(", ");
    }
}
