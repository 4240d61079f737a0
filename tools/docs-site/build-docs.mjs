// Renders the guides, operating and reference pages of docs/ as the HTML that a service shows under /docs. It is part of the build: the
// Markdown library is not in a production install, and a service reads finished files.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../files.mjs";
import { renderIndex, renderPage } from "./page.mjs";
import { renderMarkdown } from "./render-markdown.mjs";

/** The folders of docs/ that are shown. Decisions are for people who change Bursar, and they have the repository. */
const folders = ["guides", "operating", "reference"];
/** Pages for people who change Bursar. */
const leftOut = new Set(["reference/benchmarks"]);

/**
 * @typedef {object} Page
 * @property {string} path below /docs: `guides/transactions`
 * @property {string} title
 * @property {string} summary the first sentence
 * @property {string} html
 * @property {{ id: string, title: string }[]} sections
 */

/** @param {string} [target] the folder to write */
export function buildDocs(target = join(root, "packages/server/dist/docs")) {
  const docs = join(root, "docs");
  const order = listedPages(readFileSync(join(docs, "README.md"), "utf8"));
  const known = new Set(order);
  const unlisted = folders
    .flatMap((folder) => readdirSync(join(docs, folder)).map((name) => `${folder}/${name}`))
    .filter((name) => name.endsWith(".md"))
    .map((name) => name.slice(0, -3))
    .filter((path) => !known.has(path));
  const paths = [...order, ...unlisted].filter(
    (path) => folders.includes(dirname(path)) && !leftOut.has(path),
  );
  const shown = new Set(paths);
  /** @type {Page[]} */
  const pages = paths.map((path) => ({
    path,
    ...renderMarkdown(readFileSync(join(docs, `${path}.md`), "utf8"), {
      path,
      isShown: (one) => shown.has(one),
    }),
  }));
  const example = "reference/bursar.example.yaml";
  writeFolder(target, {
    ...Object.fromEntries(pages.map((page) => [`${page.path}.html`, renderPage(page, pages)])),
    "guides.html": renderIndex(pages),
    [example]: readFileSync(join(docs, example), "utf8"),
    "site.css": readFileSync(new URL("site.css", import.meta.url), "utf8"),
  });
}

/** The pages that the list of documents names, in its order. @param {string} readme */
export function listedPages(readme) {
  return [...readme.matchAll(/\]\(([a-z]+\/[\w-]+)\.md\)/g)].map(([, path = ""]) => path);
}

/**
 * Writes only what has changed: a service of this checkout may be running, and reads a file when it is first asked for.
 *
 * @param {string} target
 * @param {Record<string, string>} files
 */
function writeFolder(target, files) {
  for (const [path, content] of Object.entries(files)) {
    const file = join(target, path);
    if (existsSync(file) && readFileSync(file, "utf8") === content) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.new`, content);
    renameSync(`${file}.new`, file);
  }
  for (const name of readdirSync(target, { recursive: true, encoding: "utf8" })) {
    const path = name.replaceAll("\\", "/");
    if (/\.\w+$/.test(path) && !Object.hasOwn(files, path)) rmSync(join(target, path), { force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildDocs();
