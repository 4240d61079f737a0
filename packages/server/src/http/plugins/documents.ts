import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { asyncApiDocument } from "@bursar/protocol";
import type { FastifyInstance } from "fastify";
import { openApiDocument } from "../openapi/openapi-document.js";
import type { Route } from "../route.js";

/** `/openapi.json` and `/asyncapi.json`, and `/docs`, which shows the first. */
export function installDocuments(app: FastifyInstance, routes: readonly Route[], publicUrl: string): void {
  serveJson(app, "/openapi.json", () => openApiDocument(routes, publicUrl));
  serveJson(app, "/asyncapi.json", () => asyncApiDocument(publicUrl));
  installReference(app);
}

/** Written at the first request: the same bytes serve all responses, however many are waiting to be read. */
function serveJson(app: FastifyInstance, path: string, write: () => object): void {
  let bytes: Buffer | undefined;
  app.get(path, (_request, reply) => {
    bytes ??= Buffer.from(JSON.stringify(write()));
    return reply.type("application/json; charset=utf-8").send(bytes);
  });
}

/**
 * The API reference as a page that works offline. Only Scalar's bundle is used. It is served from here, under a content security
 * policy that forbids the browser to load or call anything else; its hosted extras cannot work and are switched off.
 */
function installReference(app: FastifyInstance): void {
  const scalarDir = dirname(createRequire(import.meta.url).resolve("@scalar/fastify-api-reference"));
  const bundle = readFileSync(join(scalarDir, "js", "standalone.js"));
  const serve = (url: string, type: string, content: string | Buffer) =>
    app.get(url, (_request, reply) =>
      reply
        .type(type)
        .header("content-security-policy", contentSecurityPolicy)
        .header("referrer-policy", "no-referrer")
        .send(content),
    );
  serve("/docs", "text/html; charset=utf-8", page);
  serve("/docs/reference.js", "text/javascript; charset=utf-8", bundle);
  serve("/docs/start.js", "text/javascript; charset=utf-8", startScript);
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
  </head>
  <body>
    <noscript>This page needs JavaScript. The document itself is at <a href="/openapi.json">/openapi.json</a>.</noscript>
    <div id="reference"></div>
    <script src="/docs/reference.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const startScript = `Scalar.createApiReference("#reference", {
  url: "/openapi.json",
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  mcp: { disabled: true },
  agent: { disabled: true },
});
`;
