import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, expect, it } from "vitest";
import { main } from "../src/cli/main-command.js";
import type { Report } from "../src/report/report.js";
import { startReceiver } from "../src/webhooks/receiver.js";

/** Targets that want to harm the kit, or the engineer who runs it. Each run ends with a result, within the bounds. */

const folder = mkdtempSync(join(tmpdir(), "bursar-hostile-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const script = "<script>alert(1)</script><img src=x onerror=alert(1)>";
const controls = `\u001b]0;owned\u0007\u001b[2J\u001b[31m\r\u202e${script}`;

/** What a request is answered with; the first one, by which the kit sees that the address can be reached, is harmless. */
const hostile: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  "never answers": () => undefined,
  "sends an endless body": (_request, response) => {
    response.writeHead(202);
    const chunk = Buffer.alloc(65_536, 120);
    const write = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on("drain", write);
    write();
  },
  "sends 10,000 headers": (_request, response) => {
    const headers = Array.from({ length: 10_000 }, (_, index) => [`x-header-${index}`, "value"] as const);
    response.writeHead(202, Object.fromEntries(headers)).end("{}");
  },
  "redirects elsewhere": (_request, response) => {
    response.writeHead(307, { location: "http://169.254.169.254/latest/meta-data" }).end();
  },
  "sends control characters and markup": (_request, response) => {
    const error = { code: controls, message: controls, request_id: controls };
    response
      .writeHead(500, { "content-type": "application/json", "x-odd": "a\u0080b" })
      .end(JSON.stringify({ error }));
  },
  "sends half of a response and closes": (_request, response) => {
    response.writeHead(202, { "content-length": "100" });
    response.write("{", () => response.destroy());
  },
  "accepts everything with deeply nested JSON": (_request, response) => {
    response.writeHead(202).end("[".repeat(100_000) + "]".repeat(100_000));
  },
};

async function runAgainst(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.resume();
    // The two probes before the run.
    if (requests <= 2) response.writeHead(404).end("{}");
    else answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const files = ["json", "html"].map((name) => join(folder, `${new URL(url).port}.${name}`));
  let output = "";
  const console = {
    out: (text: string) => {
      output += text;
    },
    err: (text: string) => {
      output += text;
    },
    input: Readable.from([]),
    environment: {},
    signal: new AbortController().signal,
  };
  const target = join(folder, "target.yaml");
  writeFileSync(
    target,
    "timing: { request_ms: 2000, result_ms: 150, webhook_ms: 150, retry_ms: 150, quiet_ms: 20, key_ms: 20 }\nfinal_states: [done]\n",
  );
  const args = [
    "--base-url",
    url,
    "--token",
    "hostile-token",
    "--target",
    target,
    "--json",
    files[0] ?? "",
    "--html",
    files[1] ?? "",
  ];
  const status = await main(args, console);
  server.closeAllConnections();
  server.close();
  const [json = "", html = ""] = files.map((file) => readFileSync(file, "utf8"));
  return { status, output, html, report: JSON.parse(json) as Report };
}

it.each(Object.entries(hostile))(
  "a target that %s does not conform, and harms nothing",
  async (name, answer) => {
    const { status, output, html, report } = await runAgainst(answer);
    // One that answers nothing is not there, which is no failure of any sentence.
    const isSilent = name === "never answers";
    expect(status).toBe(isSilent ? 2 : 1);
    expect(report.counts.contract.broken).toBe(0);
    expect(report.counts.contract.failed > 0).toBe(!isSilent);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there.
    expect(output).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(html).not.toContain("<script");
    expect(html).not.toContain("<img");
  },
);

it("a webhook of 100 MB is not read to its end", async () => {
  const receiver = await startReceiver({ host: "127.0.0.1", port: 0 });
  const { port } = new URL(receiver.url);
  const bytes = 100_000_000;
  const socket = connect(Number(port), "127.0.0.1");
  const answered = new Promise<string>((resolve) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString();
    });
    socket.on("close", () => resolve(text));
    socket.on("error", () => resolve(text));
  });
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n`);
  const chunk = Buffer.alloc(1 << 20, 120);
  let sent = 0;
  const write = () => {
    while (!socket.destroyed && sent < bytes) {
      sent += chunk.length;
      if (!socket.write(chunk)) return;
    }
  };
  socket.on("drain", write);
  write();
  const text = await answered;
  await receiver.close();
  expect(text).toMatch(/^(HTTP\/1\.1 413|$)/);
  expect(receiver.deliveries).toEqual([]);
  expect(receiver.unread()).toEqual({ tooLarge: 1, tooMany: 0 });
  expect(sent).toBeLessThan(bytes);
});
