import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { formatWebhookSecret, signStandardWebhook, signWebhookMessage } from "@bursar/protocol";
import { afterEach, describe, expect, it } from "vitest";
import { webhookHashes } from "../../src/app/webhooks/webhook-hashes.js";
import { type BursarProcess, freePort, spawnBursar } from "../harness/service/bursar-process.js";

const secret = Uint8Array.from({ length: 32 }, (_, index) => index);
const written = formatWebhookSecret(secret);
const body = JSON.stringify({
  event: "transaction.updated",
  delivery_id: "dlv_1",
  sequence: 7,
  data: { transaction: { id: "tx_1", state: "completed", version: 2 }, previous_state: "accepted" },
});

const running: BursarProcess[] = [];
afterEach(async () => {
  for (const listener of running.splice(0)) {
    listener.child.kill("SIGTERM");
    await listener.exited;
  }
});

async function listen(...options: string[]) {
  const args = ["webhooks", "listen", "--port", "0", ...options];
  const listener = spawnBursar({ args, env: { BURSAR_WEBHOOK_SECRET: written } });
  running.push(listener);
  const [, url = ""] = await listener.waitFor(/Listening on (http:\S+)\. /);
  return { ...listener, url };
}

async function deliver(url: string, sentBody = body, attempt = 1): Promise<number> {
  return (await answerTo(url, sentBody, attempt)).status;
}

function answerTo(url: string, sentBody: string, attempt: number): Promise<Response> {
  const message = { id: "dlv_1", timestampSeconds: Math.floor(Date.now() / 1000), body, secrets: [secret] };
  return fetch(url, {
    method: "POST",
    headers: {
      "webhook-id": "dlv_1",
      "webhook-timestamp": String(message.timestampSeconds),
      "webhook-signature": signStandardWebhook(message, webhookHashes),
      ...signWebhookMessage({ ...message, keys: [{ keyId: "whk_1", secret }] }, webhookHashes),
      "webhook-attempt": String(attempt),
    },
    body: sentBody,
  });
}

describe("bursar webhooks listen", () => {
  it("prints one line for each delivery, and refuses those with an invalid signature", async () => {
    const { url, waitFor, output } = await listen();
    expect(await deliver(url)).toBe(200);
    await waitFor(/transaction\.updated {2}tx_1 {2}completed {2}v2 {2}#7 {2}attempt 1 {2}verified\n/);
    expect(await deliver(url, body, 2)).toBe(200);
    await waitFor(/attempt 2 {2}verified {2}repeated\n/);
    expect(await deliver(url, body.replace("tx_1", "tx_2"))).toBe(401);
    await waitFor(
      /tx_2 .* NOT VERIFIED \(webhook-signature does not match any known secret\) {2}repeated {2}answered 401/,
    );
    expect((await fetch(url, { method: "POST", body: "hello" })).status).toBe(400);
    await waitFor(/no event .* NOT VERIFIED .*answered 400/);
    // A pipe is not a terminal.
    expect(output()).not.toContain("\u001b");
  });

  it("answers with the configured status", async () => {
    const { url, waitFor } = await listen("--status", "503", "--delay", "50");
    expect(await deliver(url)).toBe(503);
    await waitFor(/verified {2}answered 503/);
    expect(await deliver(url, `${body} `)).toBe(401);
  });

  it("prints payloads on request, with nothing in them that a terminal would obey", async () => {
    const { url, waitFor, output } = await listen("--print");
    await deliver(url);
    await waitFor(/ {4}"delivery_id": "dlv_1",\n/);
    await deliver(url, "\u001b[2Jhostile\u202e\u009b1m");
    await waitFor(/hostile\\u\{202e\}\\u\{9b\}1m\n/);
    await deliver(url, JSON.stringify({ reference: "\u001b]0;title\u0007\u009b2J" }));
    await waitFor(/"reference": "\\u001b\]0;title\\u0007\\u\{9b\}2J"\n/);
    for (const obeyed of ["\u001b", "\u0007", "\u009b", "\u202e"]) expect(output()).not.toContain(obeyed);
  });

  it("prints only the named kinds of events, and whatever does not verify", async () => {
    const { url, waitFor, output } = await listen("--events", "wallet.updated,order.updated");
    expect(await deliver(url)).toBe(200);
    expect(await deliver(url, body.replace("tx_1", "tx_2"))).toBe(401);
    await waitFor(/tx_2 .* NOT VERIFIED/);
    expect(output()).not.toContain("tx_1");
  });

  it("forwards a delivery unchanged, and returns the response", async () => {
    const got: unknown[] = [];
    const server = createServer((request, response) => {
      request.setEncoding("utf8").once("data", (text: string) => {
        got.push([request.headers["webhook-id"], text]);
        response.writeHead(418, { "retry-after": "60", "set-cookie": "mine" }).end("short and stout");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const { url } = await listen("--forward-to", `http://127.0.0.1:${port}/`);
    const answer = await answerTo(url, body, 1);
    expect([answer.status, await answer.text()]).toEqual([418, "short and stout"]);
    expect([answer.headers.get("retry-after"), answer.headers.get("set-cookie")]).toEqual(["60", null]);
    expect(await deliver(url, body.replace("tx_1", "tx_2"))).toBe(401);
    expect(got).toEqual([["dlv_1", body]]);
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
    expect(await deliver(url)).toBe(502);
  });

  it("refuses a body that is too large", async () => {
    const { url } = await listen();
    const answer = await fetch(url, { method: "POST", body: "x".repeat(2_000_000) }).then(
      ({ status }) => status,
      () => "cut",
    );
    expect([413, "cut"]).toContain(answer);
    expect(await deliver(url)).toBe(200);
  });

  it("exits with 0 on a signal", async () => {
    const { child, exited } = await listen();
    child.kill("SIGINT");
    expect(await exited).toEqual({ code: 0, signal: null });
  });

  it.each([
    [["--port", "65536"], 2],
    [["--status", "99"], 2],
    [["--secret", "hunter2"], 2],
    [["--events", "wallet.updated,nothing"], 2],
    [["--forward-to", "file:///etc/passwd"], 2],
  ])("%j is refused", async (options, expected) => {
    const listener = spawnBursar({ args: ["webhooks", "listen", ...options] });
    expect(await listener.exited).toMatchObject({ code: expected });
    expect(listener.output()).not.toContain("    at ");
  });

  it("reports that there is no sandbox to listen to, or that the port is in use", async () => {
    const alone = spawnBursar({
      args: ["webhooks", "listen", "--port", "0"],
      env: { BURSAR_DATA_DIR: "/nonexistent" },
    });
    expect(await alone.exited).toMatchObject({ code: 1 });
    expect(alone.output()).toContain("no sandbox credentials");
    const port = String(await freePort());
    await listen("--port", port);
    const second = spawnBursar({ args: ["webhooks", "listen", "--port", port, "--secret", written] });
    expect(await second.exited).toMatchObject({ code: 1 });
    expect(second.output()).toContain(`Cannot listen on port ${port}`);
  });
});
