import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { afterAll, expect, it } from "vitest";
import { run } from "./run-command-line.js";

/** A target that sends markup wherever it can: the page about it must neither load nor run any of it. */

const folder = mkdtempSync(join(tmpdir(), "bursar-hostile-report-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const executablePath = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find(existsSync);

const elsewhere = "http://127.0.0.1:9/stolen";
const markup = [
  "</pre></td></table></style></title>-->]]>",
  `<script src=${elsewhere}></script><script>alert(1)</script>`,
  `<img src=${elsewhere} onerror=alert(1)><svg onload=alert(1)><iframe src="javascript:alert(1)"></iframe>`,
  `<link rel=stylesheet href=${elsewhere}><meta http-equiv=refresh content="0;url=${elsewhere}">`,
  `<style>@import url(${elsewhere})</style><p style="background:url(${elsewhere})" onclick=alert(1)>`,
  `<base href=${elsewhere}><form action=${elsewhere}><input autofocus onfocus=alert(1)>' " &lt;script&gt;`,
].join("");

const targetFile = join(folder, "hostile.yaml");
writeFileSync(
  targetFile,
  `
token_env: PLAIN_TOKEN
final_states: [done]
refused_by_policy: { amount: "5000" }
webhooks:
  register: { path: /hooks, body: { url: "{url}" } }
  secret: body.secret
  remove: { method: DELETE, path: "/hooks/{id}" }
  signature: { scheme: hmac, header: X-Signature, content: "{body}" }
timing: { poll_ms: 20, result_ms: 300, webhook_ms: 300, retry_ms: 300, quiet_ms: 50, key_ms: 20, request_ms: 5000 }
`,
);

/** Answers as a service would, with markup in every value that it chooses, and in its notifications. */
async function startHostile() {
  let hook: string | undefined;
  const notify = (reference: unknown) => {
    if (hook === undefined) return;
    const headers = {
      "x-event": `transaction.updated${markup}`,
      "x-delivery-id": markup,
      "x-signature": markup,
    };
    const outgoing = request(`${hook}?${encodeURIComponent(markup)}`, {
      method: "POST",
      headers,
      agent: false,
    });
    outgoing.on("error", () => undefined);
    outgoing.on("response", (response) => response.resume());
    outgoing.end(JSON.stringify({ reference, state: markup, [markup]: markup }));
  };
  const answer = ({ method, url = "" }: IncomingMessage, body: string, response: ServerResponse) => {
    const reply = (status: number, value: unknown) =>
      response
        .writeHead(status, { "content-type": `text/html${markup}`, "x-request-id": markup })
        .end(JSON.stringify(value));
    if (url.startsWith("/hooks") && method === "POST") {
      hook = (JSON.parse(body) as { url: string }).url;
      return reply(200, { id: "1", secret: "a-secret-of-the-hook" });
    }
    const request = method === "POST" && url === "/v1/transactions" ? parse(body) : undefined;
    if (request !== undefined) {
      notify(request.reference);
      return reply(202, { id: `1${markup}`, [markup]: "done" });
    }
    if (method === "GET" && url.startsWith("/v1/transactions/"))
      return reply(200, { state: "done", id: markup });
    return reply(418, { error: { code: markup, message: markup, request_id: markup }, [markup]: 1 });
  };
  const parse = (body: string) => {
    try {
      return JSON.parse(body) as { reference: unknown } | undefined;
    } catch {
      return undefined;
    }
  };
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    answer(incoming, Buffer.concat(chunks).toString("utf8"), response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, stop: () => new Promise((resolve) => server.close(resolve)) };
}

it.runIf(executablePath !== undefined)(
  "a browser opens the report about a hostile target without a request, a violation or anything that runs",
  async () => {
    const server = await startHostile();
    const file = join(folder, "report.html");
    const { status } = await run(["--base-url", server.url, "--target", targetFile, "--html", file]);
    await server.stop();
    expect(status).toBe(1);
    // It is there, as characters: in a response, in a header of a notification, and in what was seen.
    expect(readFileSync(file, "utf8").split("&lt;svg onload=alert(1)&gt;").length).toBeGreaterThan(50);
    const browser = await chromium.launch({ executablePath: executablePath ?? "", args: ["--no-sandbox"] });
    try {
      const page = await browser.newPage();
      const seen: string[] = [];
      page.on("request", (one) => seen.push(one.url()));
      page.on("console", (message) => seen.push(message.text()));
      page.on("pageerror", (error) => seen.push(error.message));
      page.on("dialog", (dialog) => {
        seen.push(`dialog ${dialog.message()}`);
        dialog.dismiss().catch(() => undefined);
      });
      const url = `file://${file}`;
      await page.goto(url);
      const found = await page.evaluate<{ names: string[]; attributes: string[] }>(`(() => {
        const elements = [...document.querySelectorAll("*")];
        const names = new Set(elements.map((one) => one.localName));
        const attributes = new Set(elements.flatMap((one) => one.getAttributeNames()));
        return { names: [...names], attributes: [...attributes].sort() };
      })()`);
      await page.mouse.click(300, 300);
      expect(seen).toEqual([url]);
      expect(found.attributes).toEqual(["charset", "class", "content", "http-equiv", "lang", "name", "open"]);
      const foreign = [
        "script",
        "img",
        "svg",
        "iframe",
        "link",
        "base",
        "form",
        "input",
        "a",
        "object",
        "embed",
      ];
      expect(found.names.filter((name) => foreign.includes(name))).toEqual([]);
    } finally {
      await browser.close();
    }
  },
);
