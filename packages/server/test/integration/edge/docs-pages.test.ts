import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { errorCatalog } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { converse, listenForRawRequests, readAnswers } from "../../harness/http/raw-exchange.js";
import { createTestEdge, type TestEdge } from "../../harness/http/test-edge.js";

const root = fileURLToPath(new URL("../../../../../", import.meta.url));

describe("the pages of /docs", () => {
  let app: TestEdge["app"];
  beforeAll(async () => {
    // Tests also run in a checkout that only the compiler has built.
    execFileSync(process.execPath, ["tools/docs-site/build-docs.mjs"], { cwd: root });
    ({ app } = await createTestEdge());
  });
  afterAll(() => app.close());

  it("are reached from / and from /docs/ by a browser, and / tells a program where they are", async () => {
    const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
    const home = await app.inject({ url: "/", headers: browser });
    expect([home.statusCode, home.headers.location]).toEqual([302, "docs"]);
    const slash = await app.inject({ url: "/docs/", headers: browser });
    expect([slash.statusCode, slash.headers.location]).toEqual([308, "../docs"]);
    for (const headers of [{ accept: "*/*" }, {}]) {
      const program = await app.inject({ url: "/?utm=1", headers });
      expect([program.statusCode, program.headers.vary]).toEqual([200, "accept"]);
      const { docs, openapi, asyncapi } = program.json();
      for (const url of [docs, openapi, asyncapi])
        expect((await app.inject(new URL(url).pathname)).statusCode).toBe(200);
    }
    expect((await app.inject({ method: "POST", url: "/" })).statusCode).toBe(405);
  });

  it("link only to pages and anchors that exist, and to nothing of another origin but standards", async () => {
    const seen = new Map<string, string>();
    const waiting = ["/docs", "/docs/guides"];
    const broken: string[] = [];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (seen.has(path)) continue;
      const response = await app.inject(path);
      if (response.statusCode !== 200) broken.push(path);
      seen.set(path, response.body);
      if (!String(response.headers["content-type"]).startsWith("text/html")) continue;
      for (const target of linksOf(response.body, path)) if (!target.includes("#")) waiting.push(target);
    }
    expect(broken).toEqual([]);
    expect(seen.size).toBeGreaterThan(18);
    const missing = [...seen].flatMap(([path, html]) =>
      linksOf(html, path).filter((target) => {
        const [page = "", anchor] = target.split("#");
        return anchor !== undefined && !seen.get(page)?.includes(` id="${anchor}"`);
      }),
    );
    expect(missing).toEqual([]);
  });

  it("have a strict policy, no script, an entity tag, and a compressed form", async () => {
    const plain = await app.inject("/docs/guides/transactions");
    expect(plain.headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'self';/);
    expect(plain.headers["x-content-type-options"]).toBe("nosniff");
    expect(plain.body).not.toMatch(/<script|<style| on\w+=| style=/);
    const compressed = await app.inject({
      url: "/docs/guides/transactions",
      headers: { "accept-encoding": "gzip" },
    });
    expect(gunzipSync(compressed.rawPayload).equals(plain.rawPayload)).toBe(true);
    const known = { "if-none-match": String(plain.headers.etag) };
    const again = await app.inject({ url: "/docs/guides/transactions", headers: known });
    expect([again.statusCode, again.rawPayload.length]).toEqual([304, 0]);
  });

  it("have an anchor for every error code, where doc_url leads", async () => {
    const { body } = await app.inject("/docs/reference/errors");
    expect(Object.keys(errorCatalog).filter((code) => !body.includes(` id="${code}"`))).toEqual([]);
    const { error } = (await app.inject("/v1/nowhere")).json();
    expect(error.doc_url).toBe("http://bursar.example/docs/reference/errors#NOT_FOUND");
  });

  it("count against what the caller's address may read", async () => {
    const files = { admit: async () => 7 };
    const { closedGuard } = await import("../../harness/http/test-edge.js");
    const limited = await createTestEdge([], { guard: { ...closedGuard, files } });
    const response = await limited.app.inject("/docs/reference/errors");
    expect([response.statusCode, response.headers["retry-after"]]).toEqual([429, "7"]);
    await limited.app.close();
  });
});

it.each([
  "/docs/../package.json",
  "/docs/../../../../../etc/passwd",
  "/docs/guides/../../package.json",
  "/docs/%2e%2e/%2e%2e/package.json",
  "/docs/guides/..%2f..%2f..%2fpackage.json",
  "/docs/guides/..%5c..%5cpackage.json",
  "/docs/guides/transactions.html",
  "/docs//etc/passwd",
  "/docs/guides/transactions%00.html",
  "/docs/guides/__proto__",
  "/docs/site.css/../../../package.json",
])("no path below /docs reads another file: %s", async (target) => {
  const { app } = await listenForRawRequests();
  const received = await converse(app, (socket) =>
    socket.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`),
  );
  const [answer] = readAnswers(received);
  expect([400, 404]).toContain(answer?.status);
  await app.close();
});

/** The links of a page to this service, as paths; those to other origins are to standards. */
function linksOf(html: string, path: string): string[] {
  const base = new URL(path, "http://bursar.example");
  return [...html.matchAll(/ (?:href|src)="([^"]+)"/g)].flatMap(([, target = ""]) => {
    if (target === "data:,") return [];
    const url = new URL(target, base);
    if (url.origin !== base.origin) {
      expect(url.hostname).toMatch(
        /^(www\.rfc-editor\.org|datatracker\.ietf\.org|www\.standardwebhooks\.com)$/,
      );
      return [];
    }
    return [url.pathname + url.hash];
  });
}
