import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { namesEncoding } from "../accepted-encodings.js";
import type { AccessGuard } from "../access/guard.js";
import { awaitPace } from "./served-file.js";

/** What `packages/console/build.mjs` has built, with a compressed copy of each file beside it. */
const folder = fileURLToPath(new URL("../../../dist/console/", import.meta.url));

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const headers = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; "),
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy":
    "publickey-credentials-get=(self), publickey-credentials-create=(self), camera=(), geolocation=(), microphone=()",
  vary: "accept-encoding",
};

/** Names of files contain a hash of their content. */
const immutable = "public, max-age=31536000, immutable";

interface Encoded {
  type: string;
  plain: Buffer;
  br: Buffer;
  gzip: Buffer;
}

/**
 * The console, below `/console`. Each file is a route of its own, registered from the list of files: no part of a request becomes the name
 * of a file. Every other address below `/console` is the application itself, which finds the page.
 */
export function installConsolePages(app: FastifyInstance, files: AccessGuard["files"]): void {
  if (!existsSync(join(folder, "index.html"))) return;
  const serve = (file: string, cacheControl: string) => {
    let content: Encoded | undefined;
    return async (request: FastifyRequest, reply: FastifyReply) => {
      content ??= read(file);
      const { bytes, encoding } = choose(content, request.headers["accept-encoding"]);
      await awaitPace(files, bytes, request, reply);
      reply.headers({ ...headers, "cache-control": cacheControl }).type(content.type);
      return (encoding === undefined ? reply : reply.header("content-encoding", encoding)).send(bytes);
    };
  };
  for (const file of listFiles())
    app.get(`/console/${file}`, serve(file, file.startsWith("assets/") ? immutable : "no-cache"));
  const page = serve("index.html", "no-cache");
  app.get("/console", page);
  app.get("/console/*", page);
}

function choose({ plain, br, gzip }: Encoded, accepted: string | undefined) {
  if (namesEncoding(accepted, "br")) return { bytes: br, encoding: "br" };
  if (namesEncoding(accepted, "gzip")) return { bytes: gzip, encoding: "gzip" };
  return { bytes: plain, encoding: undefined };
}

function read(file: string): Encoded {
  const path = join(folder, file);
  return {
    type: types[extname(file)] ?? "application/octet-stream",
    plain: readFileSync(path),
    br: readFileSync(`${path}.br`),
    gzip: readFileSync(`${path}.gz`),
  };
}

function listFiles(): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && extname(entry.name) in types && entry.name !== "index.html")
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length).replaceAll("\\", "/"))
    .sort();
}
