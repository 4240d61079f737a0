import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import type { AccessGuard } from "../access/guard.js";
import { serveFile } from "./served-file.js";

/** What `npm run build` renders from docs/. The same folder whether the service runs from its build or, in tests, from its sources. */
const folder = fileURLToPath(new URL("../../../dist/docs/", import.meta.url));

const types: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".css": "text/css",
  ".yaml": "text/plain",
};

/** The pages have no scripts, and load nothing but their stylesheet. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * The guides and the reference, as pages below `/docs`. Each file is a route of its own, registered from the list of files: no part of a
 * request becomes the name of a file.
 */
export function installDocsPages(app: FastifyInstance, files: AccessGuard["files"]): void {
  const headers = { "content-security-policy": contentSecurityPolicy, "referrer-policy": "no-referrer" };
  for (const file of listFiles()) {
    const type = types[extname(file)];
    if (type === undefined) continue;
    serveFile(
      app,
      {
        path: `/docs/${file.replace(/\.html$/, "")}`,
        type: `${type}; charset=utf-8`,
        headers,
        content: () => readFileSync(join(folder, file)),
      },
      files,
    );
  }
}

/** Nothing if the pages were not built: the API works without them. */
function listFiles(): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length).replaceAll("\\", "/"))
    .sort();
}
