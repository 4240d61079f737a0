import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { apiVersion, asyncApiDocument } from "@bursar/protocol";
import type { FastifyInstance } from "fastify";
import type { AccessGuard } from "../access/guard.js";
import { openApiDocument } from "../openapi/openapi-document.js";
import type { Route } from "../route.js";
import { installConsolePages } from "./console-pages.js";
import { installDocsPages } from "./docs-pages.js";
import { serveFile } from "./served-file.js";

/** `/openapi.json` and `/asyncapi.json`; `/docs`, which shows the first, and the guides below it; `/`, which leads to them. */
export function installDocuments(
  app: FastifyInstance,
  routes: readonly Route[],
  { publicUrl, files }: Pick<AccessGuard, "publicUrl" | "files">,
): void {
  const serveJson = (path: string, write: () => object) =>
    serveFile(
      app,
      { path, type: "application/json; charset=utf-8", content: () => JSON.stringify(write()) },
      files,
    );
  serveJson("/openapi.json", () => openApiDocument(routes, publicUrl));
  serveJson("/asyncapi.json", () => asyncApiDocument(publicUrl));
  installReference(app, files);
  installDocsPages(app, files);
  installConsolePages(app, files);
  installRedirects(app);
  installHome(app, publicUrl);
}

/** The targets are relative, for proxies that add a prefix. */
function installRedirects(app: FastifyInstance): void {
  app.get("/docs/", (_request, reply) => reply.redirect("../docs", 308));
  app.get("/docs/guides/", (_request, reply) => reply.redirect("../guides", 308));
}

/** `/` leads a browser to `/docs`, and tells a program what this is and where its documents are. */
function installHome(app: FastifyInstance, publicUrl: string): void {
  const home = {
    name: "Bursar",
    version: apiVersion,
    docs: `${publicUrl}/docs`,
    openapi: `${publicUrl}/openapi.json`,
    asyncapi: `${publicUrl}/asyncapi.json`,
  };
  app.get("/", (request, reply) => {
    // The router takes targets such as `*` for this path.
    if (request.raw.url?.startsWith("/") !== true) return reply.callNotFound();
    reply.header("vary", "accept");
    if (request.headers.accept?.includes("text/html") === true) return reply.redirect("docs", 302);
    return reply.header("cache-control", "no-cache").send(home);
  });
}

/**
 * The API reference as a page that works offline. Only Scalar's bundle is used. It is served from here, under a content security
 * policy that forbids the browser to load or call anything else; its hosted extras cannot work and are switched off.
 */
function installReference(app: FastifyInstance, files: AccessGuard["files"]): void {
  const scalarDir = dirname(createRequire(import.meta.url).resolve("@scalar/fastify-api-reference"));
  const bundle = join(scalarDir, "js", "standalone.js");
  const headers = { "content-security-policy": contentSecurityPolicy, "referrer-policy": "no-referrer" };
  const serve = (path: string, type: string, content: () => string | Buffer) =>
    serveFile(app, { path, type: `${type}; charset=utf-8`, headers, content }, files);
  serve("/docs", "text/html", () => page);
  serve("/docs/reference.js", "text/javascript", () => readFileSync(bundle));
  serve("/docs/start.js", "text/javascript", () => startScript);
}

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Bursar API reference</title>
    <link rel="icon" href="data:,">
    <style>
      :root { color-scheme: light dark; --scalar-custom-header-height: 3.25rem; }
      body { margin: 0; }
      header {
        position: sticky; top: 0; z-index: 10; display: flex; gap: 1.25rem; align-items: center;
        box-sizing: border-box; height: 3.25rem; padding: 0 1.5rem; font: 16px/1.6 system-ui, sans-serif;
        border-bottom: 1px solid light-dark(#dde3ea, #2b333d); background: light-dark(#fff, #12161b);
      }
      header a { color: light-dark(#0a5bd3, #79b0ff); text-decoration: none; }
      header a.brand { margin-right: 0.75rem; color: light-dark(#1c2530, #dfe5ec); font-weight: 700; }
    </style>
  </head>
  <body>
    <header>
      <a class="brand" href="docs/guides">Bursar</a>
      <a href="docs">API reference</a>
      <a href="docs/guides">Guides</a>
      <a href="docs/reference/errors">Errors</a>
    </header>
    <noscript>This page needs JavaScript. The document itself is at <a href="openapi.json">openapi.json</a>.</noscript>
    <div id="reference"></div>
    <script src="docs/reference.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

const startScript = `Scalar.createApiReference("#reference", {
  url: "openapi.json",
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  mcp: { disabled: true },
  agent: { disabled: true },
  authentication: { preferredSecurityScheme: "oauth2" },
});
`;
