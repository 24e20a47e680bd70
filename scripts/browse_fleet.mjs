// Opens the page of a made-up fleet (scripts/make_fleet_page.py) in headless Chromium, from the disk: fails when it asks for
// anything, writes to the console, is wider than the screen, when search, filters, sorting or the keyboard do not do what they
// say, or when a figure is not that of fleet.json. Pictures of both themes go to a folder. `make browse-fleet` runs it.
//   node browse_fleet.mjs build/fleet PICTURES [chromium]   (beside node_modules with puppeteer-core)
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const [folder, pictures, program = "/usr/bin/chromium"] = process.argv.slice(2);
const file = resolve(folder, "fleet.html"), address = pathToFileURL(file).href;
const figures = JSON.parse(readFileSync(resolve(folder, "fleet.json"), "utf8"));
const workloads = figures.workloads;
const faults = [];
const check = (name, seen, right) => {
  if (JSON.stringify(seen) !== JSON.stringify(right)) faults.push(`${name}: ${JSON.stringify(seen)}, not ${JSON.stringify(right)}`);
};
const grouped = (number) => number.toLocaleString("en-US");
const range = ({ min, max }) => (min === max ? grouped(min) : `${grouped(min)}–${grouped(max)}`);
const amount = (text) => text.replace(/\B(?=(\d{3})+\.)/g, ",");

if (statSync(file).size > 1024 * 1024) faults.push(`the page has ${statSync(file).size} bytes`);
mkdirSync(pictures, { recursive: true });
const browser = await puppeteer.launch({ executablePath: program, args: ["--no-sandbox"] });
const page = await browser.newPage();
page.on("request", (request) => {
  if (!request.url().startsWith(address) && !request.url().startsWith("data:")) faults.push(`asks ${request.url()}`);
});
page.on("console", (message) => faults.push(`console: ${message.text()}`));
page.on("pageerror", (error) => faults.push(`${error}`));

const visible = (table) => page.$$eval(`#${table} tbody tr`, (rows) =>
  rows.filter((row) => row.checkVisibility()).map((row) => [...row.cells].map((cell) => cell.textContent)));
const counted = (table) => page.$eval(`[data-of=${table}]`, (status) => status.textContent);
const heads = () => page.$$eval("#workloads th", (cells) => cells.map((cell) => cell.textContent));

// Without a script: all rows, no dead control.
await page.setJavaScriptEnabled(false);
await page.goto(address);
check("rows without a script", (await page.$$("#workloads tbody tr")).length, workloads.length);
check("controls without a script", await page.$eval("#filters", (part) => getComputedStyle(part).display), "none");
await page.setJavaScriptEnabled(true);

for (const width of [360, 390, 800, 1160, 1400]) {
  await page.setViewport({ width, height: 900 });
  for (const scheme of ["light", "dark"]) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }, { name: "prefers-reduced-motion", value: "reduce" }]);
    await page.goto(address);
    await page.reload();
    const wide = await page.evaluate(() => Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - innerWidth);
    if (wide > 0) faults.push(`${wide} pixels wider than ${width}`);
    const scrolling = await page.$$eval("table", (parts) => parts.filter((part) => part.scrollWidth > part.parentElement.clientWidth).length);
    if (scrolling) faults.push(`${scrolling} tables scroll sideways at ${width}`);
    await page.screenshot({ path: `${pictures}/fleet-${width}-${scheme}.png` });
    for (const part of ["bars", "of-workloads", "of-names"]) {
      await page.$eval(`#${part}`, (heading) => heading.scrollIntoView());
      await page.screenshot({ path: `${pictures}/fleet-${part}-${width}-${scheme}.png` });
    }
  }
}

// Figures: each row, and the sums.
const names = await heads();
const cellsOf = (cells) => Object.fromEntries(names.map((name, index) => [name, cells[index]]));
const rows = (await visible("workloads")).map(cellsOf);
check("rows", rows.length, workloads.length);
workloads.forEach((workload, index) => {
  const row = rows[index];
  check("workload", row.Workload, `${workload.namespace}/${workload.name}`);
  check(`${row.Workload}: owner`, row.Owner, workload.owner);
  check(`${row.Workload}: pods`, row.Pods, range(workload.pods));
  check(`${row.Workload}: GPUs`, row.GPUs.replace(/ parts?$/, ""), range(workload.accelerators));
  check(`${row.Workload}: fit`, row.Fit, workload.fit ?? "not known");
  const month = workload.price ? amount(workload.price.month.max) : "";
  check(`${row.Workload}: price`, row["A month at most"], month);
});
const tile = (label) => page.$$eval(".tile", (tiles, text) => {
  const found = tiles.find((tile) => tile.querySelector("dt")?.textContent === text);
  return found.querySelector(".value").textContent;
}, label);
const { cards, pods, price, withoutPrice } = figures.total;
check("GPUs", await tile("GPUs"), range(cards));
check("pods", await page.$$eval(".tile dd", (notes, text) => notes.some((note) => note.textContent === text), `${range(pods)} pods`), true);
const [month, bound] = withoutPrice.workloads ? ["A month with the most replicas", "at least "] : ["A month at most", ""];
check("price", await tile(month), `${bound}${amount(price.month.max)} ${figures.currency}`);

// Search, filters, both, and all again.
await page.focus("#search");
await page.keyboard.type("SEARCH/chat");
const searched = workloads.filter(({ namespace, name }) => `${namespace}/${name}`.includes("search/chat"));
check("searched", (await visible("workloads")).map((cells) => cells[0]), searched.map(({ namespace, name }) => `${namespace}/${name}`));
check("names searched", (await visible("names")).length, searched.length);
if (!(await counted("workloads")).startsWith(`${searched.length} of ${grouped(workloads.length)} workloads on `)) faults.push(`says ${await counted("workloads")}`);
check("search in the address", await page.evaluate(() => location.hash), "#search=SEARCH%2Fchat");
await page.reload();
check("after a reload", (await visible("workloads")).length, searched.length);
await page.$eval("form", (form) => form.reset());
await new Promise((done) => setTimeout(done, 50));
await page.$eval("#search", (input) => { input.value = ""; input.dispatchEvent(new Event("input", { bubbles: true })); });
check("all again", (await visible("workloads")).length, workloads.length);
await page.select("#filter-owner", "search");
await page.select("#filter-accelerator", "l4-24g");
const chosen = workloads.filter(({ owner, acceleratorTypes, parts }) => owner === "search" && acceleratorTypes.includes("l4-24g") && !parts);
check("chosen", (await visible("workloads")).length, chosen.length);
const sum = (bound) => chosen.reduce((total, { accelerators }) => total + accelerators[bound], 0);
check("chosen GPUs", await counted("workloads"), `${chosen.length} of ${grouped(workloads.length)} workloads on ${range({ min: sum("min"), max: sum("max") })} GPUs`);
await page.focus(".reset button");
await page.keyboard.press("Enter");
await new Promise((done) => setTimeout(done, 50));
check("all again", (await visible("workloads")).length, workloads.length);

// By keyboard: the first Tab leads to the workloads, a head sorts, a bar's name shows its workloads.
await page.reload();
await page.keyboard.press("Tab");
check("the first Tab", await page.evaluate(() => document.activeElement.textContent), "To the workloads");
await (await page.$$("#workloads th button"))[names.indexOf("A month at most")].focus();
await page.keyboard.press("Enter");
const dearest = (await visible("workloads")).map((cells) => Number(cells[names.indexOf("A month at most")].replaceAll(",", "")));
check("sorted", dearest, [...dearest].sort((one, other) => other - one));
check("told", await page.$eval("th[aria-sort]", (head) => [head.textContent, head.ariaSort]), ["A month at most", "descending"]);
await page.focus("[data-filter=owner][data-value=search] button");
await page.keyboard.press("Enter");
check("of a bar", (await visible("workloads")).length, workloads.filter(({ owner }) => owner === "search").length);

// What a reader of screens is told.
const unnamed = await page.$$eval("input, select, button, a, svg[role=img], table, figure", (parts) => parts.filter((part) => {
  const text = part.ariaLabel || part.labels?.[0]?.textContent || part.textContent || part.querySelector("caption, figcaption")?.textContent;
  return !text?.trim();
}).length);
check("parts without a name", unnamed, 0);
check("headings", await page.$$eval("h1", (heads) => heads.length), 1);
await page.setViewport({ width: 390, height: 900 });
await page.$eval("form", (form) => form.reset());
await page.select("#order", String(names.indexOf("A month at most")));
check("the dearest card", (await visible("workloads"))[0][names.indexOf("A month at most")], grouped(Math.max(...dearest)) + ".00");
check("rows are rows on narrow screens", await page.$eval("#workloads tbody tr", (row) => row.getAttribute("role")), "row");
await browser.close();
console.log(faults.slice(0, 40).join("\n") || "no faults");
process.exit(faults.length ? 1 : 0);
