// Numbers as people read them, as base/format.h writes them, and elements of the page.

function showIn(value, limit, base, units) {
    let k = 0;
    for (; value >= limit && k < units.length - 1; k++) value /= base;
    if (k === 0) return Math.round(value) + " " + units[0];
    return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + " " + units[k];
}

const showBytes = bytes => showIn(bytes, 1023.5, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
const showTime = ns => showIn(ns, 999.5, 1000, ["ns", "us", "ms", "s"]);
const showPercent = (part, whole) =>
    (whole > 0 ? ((100 * part) / whole).toFixed(2) + "%" : "-");
const showCount = n => n.toLocaleString("en-US");
const countOf = (n, word) => showCount(n) + " " + word + (n === 1 ? "" : "s");

// An element. Attributes that are functions are listeners; text can never become markup.
function el(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {}))
        if (typeof value === "function")
            node.addEventListener(name, value);
        else if (value === true)
            node.setAttribute(name, "");
        else if (value !== false && value !== null)
            node.setAttribute(name, value);
    node.append(...children.filter(child => child !== null));
    return node;
}

const byId = id => document.getElementById(id);

// The last index with values[index] <= value, or -1. The values ascend.
function lastAtMost(values, value, n = values.length) {
    let low = -1;
    let high = n;
    while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (values[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}
