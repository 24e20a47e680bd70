// Opens the built site in headless Chromium at four widths: fails when a page asks another host, writes an error to the
// console, is wider than the screen, or when a search of searches.json does not have its page first. Pictures go to a folder.
//   npm install puppeteer-core   (anywhere; NODE_PATH does not count for modules, so run it beside node_modules)
//   node browse_site.mjs http://127.0.0.1:8000/ PICTURES [chromium]
import { mkdirSync, readFileSync } from "node:fs";
import puppeteer from "puppeteer-core";

const [site, pictures, program = "/usr/bin/chromium"] = process.argv.slice(2);
const PAGES = ["", "comparison/", "rollback/", "getting-started/", "errors/", "errors/E203/", "errors/E416/", "errors/E862/", "reviewing/", "live/", "examples/",
  "examples/quickstart/",
  "config/", "reference/playground/", "routing/", "models/", "engines/vllm/", "design/contract/"];
const SEARCHES = JSON.parse(readFileSync(new URL("searches.json", import.meta.url))); // what users type, and where that leads
const faults = [];

mkdirSync(pictures, { recursive: true });
const browser = await puppeteer.launch({ executablePath: program, args: ["--no-sandbox"] });
const page = await browser.newPage();
page.on("request", (request) => {
  const url = request.url();
  if (!url.startsWith(site) && !/^(data|blob):/.test(url)) faults.push(`${page.url()}: asks ${url}`);
});
page.on("console", (message) => message.type() === "error" && faults.push(`${page.url()}: console: ${message.text()}`));
page.on("pageerror", (error) => faults.push(`${page.url()}: ${error}`));
for (const width of [360, 390, 800, 1400]) {
  await page.setViewport({ width, height: 900 });
  for (const scheme of ["light", "dark"]) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    for (const path of PAGES) {
      await page.goto(site + path, { waitUntil: "networkidle0" });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (wide > 0) faults.push(`${path} is ${wide} pixels wider than ${width}`);
      const name = path.replace(/\/$/, "").replaceAll("/", "-") || "home";
      await page.screenshot({ path: `${pictures}/${name}-${width}-${scheme}.png` });
    }
  }
}
for (const [words, target] of Object.entries(SEARCHES)) {
  await page.goto(site, { waitUntil: "networkidle0" });
  await page.keyboard.press("/");
  await new Promise((done) => setTimeout(done, 800));
  await page.keyboard.type(words);
  await new Promise((done) => setTimeout(done, 2500));
  await page.screenshot({ path: `${pictures}/search-${words.replaceAll(" ", "-")}.png` });
  const links = await page.evaluate(() => {
    const all = [];
    const walk = (root) => root.querySelectorAll("*").forEach((node) => {
      if (node.matches("a[href]") && node.closest("nav") === null) all.push(node.href);
      if (node.shadowRoot) walk(node.shadowRoot);
    });
    walk(document);
    return all;
  });
  const hits = links.filter((link) => link.includes("?h="));
  console.log(`${words}: ${hits.slice(0, 5).join(" ")}`);
  const first = (hits[0] ?? "").replace(/\?h=[^#]*/, "");
  if (first !== site + target) faults.push(`search '${words}' leads to ${first}, not to ${target}`);
}
await browser.close();
console.log(faults.join("\n") || "no faults");
process.exit(faults.length ? 1 : 0);
