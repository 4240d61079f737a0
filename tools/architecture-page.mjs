import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { arrows } from "./arrows.mjs";
import { root } from "./files.mjs";

/** ARCHITECTURE.md with its generated parts brought up to date: the table of imports and the list of decisions. */
export function architecturePage() {
  const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  return replacePart(replacePart(page, "tools/arrows.mjs", importTable()), "docs/decisions", decisionList());
}

/** @param {string} page @param {string} source @param {string} content */
function replacePart(page, source, content) {
  const begin = `<!-- Generated from ${source} by \`npm run generate\`. -->\n`;
  const end = "<!-- /Generated -->";
  const start = page.indexOf(begin);
  const stop = page.indexOf(end, start);
  if (start < 0 || stop < 0) throw new Error(`ARCHITECTURE.md lacks the markers of ${source}`);
  return `${page.slice(0, start + begin.length)}\n${content}\n\n${page.slice(stop)}`;
}

/** Parts with the same permissions share a row, so that the layers stay visible. */
function importTable() {
  /** @type {Map<string, string[]>} */
  const rows = new Map();
  for (const [prefix, { parts, packages }] of Object.entries(arrows)) {
    const cells = `${list(parts.map(nameOf))} | ${list(packages)}`;
    rows.set(cells, [...(rows.get(cells) ?? []), nameOf(prefix)]);
  }
  return [
    "| part | imports these parts | and these packages |",
    "|---|---|---|",
    ...[...rows].map(([cells, names]) => `| ${list(names)} | ${cells} |`),
  ].join("\n");
}

/** @param {string} prefix */
function nameOf(prefix) {
  return prefix.replace(/^packages\/server\/src\//, "").replace(/^packages\/(\w+)\/src$/, "$1");
}

/** @param {readonly string[]} names */
function list(names) {
  if (names.length === 0) return "none";
  return names.map((name) => (name === "*" ? "all" : `\`${name}\``)).join(", ");
}

function decisionList() {
  const folder = "docs/decisions";
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => {
      const title = /^# (.*)$/m.exec(readFileSync(join(root, folder, name), "utf8"))?.[1] ?? name;
      return `- [${title}](${folder}/${name})`;
    })
    .join("\n");
}
