import { dirname } from "node:path/posix";
import { escapeHtml } from "./render-markdown.mjs";

/** @typedef {import("./build-docs.mjs").Page} Page */

/** @type {Record<string, string>} */
const headings = { guides: "Guides", operating: "Operating", reference: "Reference" };

/**
 * @param {Page} page
 * @param {readonly Page[]} pages
 */
export function renderPage(page, pages) {
  return frame({ title: page.title, toDocs: "../", pages, current: page, body: page.html });
}

/** The list of all pages, at /docs/guides. @param {readonly Page[]} pages */
export function renderIndex(pages) {
  const groups = Object.entries(headings).map(([folder, heading]) => {
    const items = pages
      .filter(({ path }) => dirname(path) === folder)
      .map(
        ({ path, title, summary }) =>
          `<li><a href="${path}">${escapeHtml(title)}</a><br>${escapeHtml(summary)}</li>`,
      );
    return `<h2>${heading}</h2>\n<ul class="index">\n${items.join("\n")}\n</ul>`;
  });
  const body = `<h1>Documentation</h1>
<p>The routes, with their schemas and examples, are in the <a href="../docs">API reference</a>. Every error has an entry in the <a href="reference/errors">error reference</a>.</p>
${groups.join("\n")}`;
  return frame({ title: "Documentation", toDocs: "", pages, current: undefined, body });
}

/**
 * Links are relative, so that the pages also work behind a proxy that adds a prefix.
 *
 * @param {{ title: string, toDocs: string, pages: readonly Page[], current: Page | undefined, body: string }} parts
 */
function frame({ title, toDocs, pages, current, body }) {
  const groups = Object.entries(headings).map(([folder, heading]) => {
    const items = pages
      .filter(({ path }) => dirname(path) === folder)
      .map((page) => navigationItem(page, page === current, toDocs));
    return `<h2>${heading}</h2>\n<ul>\n${items.join("\n")}\n</ul>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Bursar</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${toDocs}site.css">
</head>
<body>
<header><a class="brand" href="${toDocs}guides">Bursar</a><nav aria-label="Documentation"><a href="${toDocs}../docs">API reference</a><a href="${toDocs}guides">Guides</a><a href="${toDocs}reference/errors">Errors</a></nav></header>
<div class="columns">
<nav class="pages" aria-label="Pages">
${groups.join("\n")}
</nav>
<main>
${body}
</main>
</div>
</body>
</html>
`;
}

/**
 * @param {Page} page
 * @param {boolean} isCurrent
 * @param {string} toDocs
 */
function navigationItem({ path, title, sections }, isCurrent, toDocs) {
  const link = `<a href="${toDocs}${path}"${isCurrent ? ' aria-current="page"' : ""}>${escapeHtml(title)}</a>`;
  if (!isCurrent || sections.length === 0) return `<li>${link}</li>`;
  const inner = sections.map((one) => `<li><a href="#${one.id}">${escapeHtml(one.title)}</a></li>`);
  return `<li>${link}\n<ul>\n${inner.join("\n")}\n</ul></li>`;
}
