
"use strict";
// Search, filters and sorting. Without it the page has the same rows and figures.
const filters = document.getElementById("filters");
const form = filters.querySelector("form");
const search = document.getElementById("search");
const collator = new Intl.Collator("en", { numeric: true });
const textOf = (row, index) => row.cells[index].textContent;
const numbers = (text) => (text.match(/[\d,]+(\.\d+)?/g) ?? []).map((number) => Number(number.replaceAll(",", "")));
const shown = (low, high) => [...new Set([low, high])].map((number) => number.toLocaleString("en-US")).join("–");

const tables = [...document.querySelectorAll("table")].map((table) => {
  const heads = [...table.tHead.rows[0].cells];
  const keys = new Map(heads.map((head, index) => [head.dataset.filter, index]).filter(([key]) => key));
  const rows = [...table.tBodies[0].rows];
  // Rows are cards on narrow screens, which hides from readers of screens that they are a table.
  for (const [selector, role] of [["tbody, thead", "rowgroup"], ["tr", "row"], ["td", "cell"], ["th", "columnheader"]])
    table.querySelectorAll(selector).forEach((part) => part.setAttribute("role", role));
  table.setAttribute("role", "table");
  return { table, heads, keys, rows, status: document.querySelector(`[data-of="${table.id}"]`) };
});
const haystacks = new Map(tables.flatMap(({ rows }) => rows.map((row) =>
  [row, [...row.cells].map((cell) => cell.textContent).join("\n").toLowerCase()])));

const selects = new Map();
for (const { keys, rows, heads } of tables)
  for (const [key, index] of keys) {
    const values = [...new Set(rows.map((row) => textOf(row, index)))].sort(collator.compare);
    if (selects.has(key) || values.length < 2) continue;
    const paragraph = document.createElement("p");
    const label = document.createElement("label");
    const select = document.createElement("select");
    select.id = label.htmlFor = `filter-${key}`;
    label.textContent = heads[index].textContent;
    select.append(new Option("all", "*"), ...values.map((value) => new Option(value || "none", value)));
    paragraph.append(label, " ", select);
    form.querySelector(".order").before(paragraph);
    selects.set(key, select);
  }

function gpus(rows, index) {
  const cards = [0, 0], parts = [0, 0];
  for (const row of rows) {
    const text = textOf(row, index), bounds = numbers(text);
    const sums = text.includes("part") ? parts : cards;
    sums[0] += bounds[0];
    sums[1] += bounds.at(-1);
  }
  const words = [];
  if (cards[1] || !parts[1]) words.push(`${shown(...cards)} ${cards[1] === 1 ? "GPU" : "GPUs"}`);
  if (parts[1]) words.push(`${shown(...parts)} ${parts[1] === 1 ? "part of a GPU" : "parts of GPUs"}`);
  return words.join(" and ");
}

function apply() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = [...selects].filter(([, select]) => select.value !== "*");
  const filtered = words.length + chosen.length > 0;
  for (const { keys, rows, heads, status } of tables) {
    const tests = chosen.filter(([key]) => keys.has(key)).map(([key, select]) => [keys.get(key), select.value]);
    const left = rows.filter((row) => {
      const fits = tests.every(([index, value]) => textOf(row, index) === value) &&
        words.every((word) => haystacks.get(row).includes(word));
      row.hidden = !fits;
      return fits;
    });
    const index = heads.findIndex((head) => head.textContent === "GPUs");
    const part = filtered ? `${left.length.toLocaleString("en-US")} of ` : "";
    const unit = rows.length === 1 ? status.dataset.one : `${status.dataset.one}s`;
    status.textContent = `${part}${rows.length.toLocaleString("en-US")} ${unit}` +
      (filtered && index >= 0 ? ` on ${gpus(left, index)}` : "");
  }
  const state = new URLSearchParams(chosen.map(([key, select]) => [key, select.value]));
  if (words.length) state.set("search", search.value);
  const hash = filtered ? `#${state}` : location.hash.includes("=") ? "#" : location.hash;
  if (hash !== location.hash) history.replaceState(null, "", hash || "#");
}

function order(table, index, anew = false) {
  const head = table.heads[index];
  const down = !anew && head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : head.className === "number";
  table.heads.forEach((other) => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const value = (row) => head.className === "number" ? numbers(textOf(row, index)).at(-1) ?? -1 : textOf(row, index);
  const sign = down ? -1 : 1;
  const pairs = table.rows.map((row) => [value(row), row]);
  pairs.sort(([a], [b]) => sign * (typeof a === "number" ? a - b : collator.compare(a, b)));
  table.table.tBodies[0].append(...pairs.map(([, row]) => row));
}

for (const table of tables)
  table.heads.forEach((head, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => order(table, index));
  });
// Cards have no heads: there a list says the order.
const orders = document.getElementById("order");
orders.append(new Option("by name", ""), ...tables.slice(0, 1).flatMap(({ heads }) =>
  heads.map((head, index) => new Option(head.textContent, index))));
orders.addEventListener("change", () => orders.value
  ? order(tables[0], Number(orders.value), true)
  : tables[0].table.tBodies[0].append(...tables[0].rows));
for (const bar of document.querySelectorAll("[data-value]")) {
  const select = selects.get(bar.dataset.filter), name = bar.querySelector(".name");
  if (!select) continue;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = name.textContent;
  button.title = "Show its workloads";
  name.replaceChildren(button);
  button.addEventListener("click", () => {
    select.value = bar.dataset.value;
    apply();
    filters.scrollIntoView();
    select.focus({ preventScroll: true });
  });
}
const state = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
search.value = state.get("search") ?? "";
for (const [key, select] of selects) {
  select.value = state.get(key) ?? "*";
  if (select.selectedIndex < 0) select.value = "*";
}
filters.hidden = tables.length === 0;
form.addEventListener("input", apply);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(apply));
apply();
