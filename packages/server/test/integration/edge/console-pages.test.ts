import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAddressQuota } from "../../../src/app/quotas/address-quota.js";
import { createFilePace } from "../../../src/app/quotas/file-pace.js";
import { closedGuard, createTestEdge, type TestEdge } from "../../harness/http/test-edge.js";

const root = fileURLToPath(new URL("../../../../../", import.meta.url));
const built = `${root}packages/server/dist/console/`;
const kilobyte = 1000;

describe("the console", () => {
  let app: TestEdge["app"];
  beforeAll(async () => {
    execFileSync(process.execPath, ["packages/console/build.mjs"], { cwd: root });
    ({ app } = await createTestEdge());
  });
  afterAll(() => app.close());

  it("is one page at every address below /console, under a strict policy and never from a cache", async () => {
    const [start, ...others] = await Promise.all(
      ["/console", "/console/transactions/txn_1", "/console/%2e%2e/package.json", "/console/a/../../x"].map(
        (url) => app.inject(url),
      ),
    );
    expect(start?.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(start?.headers["cache-control"]).toBe("no-cache");
    expect(start?.headers["content-security-policy"]).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    );
    for (const { statusCode, body } of others.filter(({ statusCode }) => statusCode !== 404))
      expect([statusCode, body]).toEqual([200, start?.body]);
    expect((await app.inject({ method: "POST", url: "/console" })).statusCode).toBe(405);
  });

  it("has neither inline scripts nor styles, nor anything of another origin", () => {
    const page = readFileSync(`${built}index.html`, "utf8");
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc="\/console\/assets\/)/i);
    expect(page.match(/(?:src|href)="([^"]*)"/g)?.every((link) => link.includes('"/console/'))).toBe(true);
  });

  it("serves files that are kept as long as they have their name, each compressed before", async () => {
    const [script = ""] = readdirSync(`${built}assets`).filter((name) => /^index-.*\.js$/.test(name));
    const plain = readFileSync(`${built}assets/${script}`);
    for (const [accepted, encoding, decode] of [
      ["gzip, br", "br", brotliDecompressSync],
      ["gzip;q=1.0, br;q=0", "gzip", gunzipSync],
      ["identity", undefined, (bytes: Buffer) => bytes],
    ] as const) {
      const { headers, rawPayload } = await app.inject({
        url: `/console/assets/${script}`,
        headers: { "accept-encoding": accepted },
      });
      expect(headers["content-encoding"]).toBe(encoding);
      expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
      expect(headers["content-type"]).toBe("text/javascript; charset=utf-8");
      expect(decode(rawPayload).equals(plain)).toBe(true);
    }
  });

  it("loads for somebody whose neighbour on the address asks for everything without end", async () => {
    const monotonicMs = () => performance.now();
    const addresses = createAddressQuota({ perSecond: 0.01, burst: 3 }, monotonicMs);
    const files = createFilePace({ perSecond: 1000, burst: 30 }, monotonicMs);
    const busy = await createTestEdge([], { guard: { ...closedGuard, addresses, files } });
    for (let count = 0; count < 5; count++) addresses.take("127.0.0.1");
    const page = await busy.app.inject("/console");
    const linked = [...page.body.matchAll(/(?:src|href)="(\/console\/[^"]*)"/g)].map(([, url = ""]) => url);
    const flood = Array.from({ length: 50 }, () => busy.app.inject("/console/transactions"));
    const loaded = await Promise.all(linked.map((url) => busy.app.inject(url)));
    const statuses = [page, ...loaded, ...(await Promise.all(flood))].map(({ statusCode }) => statusCode);
    expect([linked.length > 1, new Set(statuses)]).toEqual([true, new Set([200])]);
    await busy.app.close();
  });

  it("is small: 220 kB for the first page, and 60 kB for each other, compressed", () => {
    const page = readFileSync(`${built}index.html`, "utf8");
    const sizeOf = (name: string) => readFileSync(`${built}assets/${name}.gz`).length;
    const scripts = readdirSync(`${built}assets`).filter((name) => name.endsWith(".js"));
    const first = scripts.filter((name) => page.includes(name));
    expect(first.map(sizeOf).reduce((sum, size) => sum + size, 0)).toBeLessThan(220 * kilobyte);
    for (const name of scripts.filter((script) => !first.includes(script)))
      expect([name, sizeOf(name) < 60 * kilobyte]).toEqual([name, true]);
  });
});
