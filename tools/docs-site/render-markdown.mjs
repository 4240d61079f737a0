import { dirname, join } from "node:path/posix";
import { Marked } from "marked";

/**
 * Renders a page. Headings get the anchors that GitHub gives them, and so does every row of a table that begins with a code, such as an
 * error or a setting: `/docs/reference/errors#POLICY_REJECTED`.
 *
 * @param {string} markdown
 * @param {{ path: string, isShown: (path: string) => boolean }} options
 * @returns {{ title: string, summary: string, html: string, sections: { id: string, title: string }[] }}
 */
export function renderMarkdown(markdown, { path, isShown }) {
  /** @type {{ id: string, title: string }[]} */
  const sections = [];
  let title = path;
  let summary = "";
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }) {
        const inner = this.parser.parseInline(tokens);
        const id = anchorOf(text);
        if (depth === 1) title = plain(text);
        if (depth === 2) sections.push({ id, title: plain(text) });
        return `<h${depth} id="${id}">${inner} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`;
      },
      paragraph({ tokens, text }) {
        if (summary === "") summary = firstSentence(plain(text));
        return `<p>${this.parser.parseInline(tokens)}</p>\n`;
      },
      link({ href, tokens, raw }) {
        const inner = this.parser.parseInline(tokens);
        // An address that is not marked as a link is an example.
        const target = raw.startsWith("[") ? linkTarget(href, path, isShown) : undefined;
        return target === undefined ? inner : `<a href="${escapeHtml(target)}">${inner}</a>`;
      },
      code({ text, lang }) {
        // The tables of states say the same; drawing it would take a megabyte of scripts.
        if (lang === "mermaid") return "";
        return `<pre><code>${escapeHtml(text)}</code></pre>\n`;
      },
      html({ text }) {
        return text.startsWith("<!--") ? "" : text;
      },
    },
  });
  const body = /** @type {string} */ (marked.parse(markdown));
  const html = withRowAnchors(body)
    .replaceAll("<table>", '<div class="table"><table>')
    .replaceAll("</table>", "</table></div>");
  return { title, summary, html, sections };
}

/** @param {string} html */
function withRowAnchors(html) {
  /** @type {Set<string>} */
  const taken = new Set();
  return html.replaceAll(/<tr>\s*<td><code>([\w.:-]+)<\/code>/g, (row, /** @type {string} */ name) => {
    if (taken.has(name)) return row;
    taken.add(name);
    return `<tr id="${name}">\n<td><a href="#${name}"><code>${name}</code></a>`;
  });
}

/**
 * Where a link leads on the site: undefined if to a file that it does not have.
 *
 * @param {string} href
 * @param {string} path
 * @param {(path: string) => boolean} isShown
 */
function linkTarget(href, path, isShown) {
  if (/^(https?:|mailto:|#)/.test(href)) return href;
  const [file = "", anchor] = href.split("#");
  const target = join(dirname(path), file);
  if (target === "../openapi.json" || target === "reference/bursar.example.yaml") return href;
  if (!target.endsWith(".md") || !isShown(target.slice(0, -3))) return undefined;
  return file.slice(0, -3) + (anchor === undefined ? "" : `#${anchor}`);
}

/** As GitHub does it, and the test of links in documents. @param {string} heading */
function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

/** The text of Markdown without its marks. @param {string} text */
function plain(text) {
  return text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*]/g, "");
}

/** @param {string} text */
function firstSentence(text) {
  return /^.*?[.:](?=\s|$)/s.exec(text)?.[0].replace(/:$/, ".") ?? text;
}

/** @param {string} text */
export function escapeHtml(text) {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
