import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { signTestWebhook } from "../../client/src/webhooks/index.js";
import { Interruption } from "../src/exit-codes.js";
import { createRunner, type Ran } from "./harness/run.js";

const secret = `whsec_${Buffer.from(Uint8Array.from({ length: 32 }, (_, at) => at)).toString("base64")}`;
const event = {
  event: "transaction.updated",
  delivery_id: "dlv_1",
  sequence: 7,
  data: { transaction: { id: "tx_1", state: "completed", version: 2 }, previous_state: "accepted" },
};

describe("webhooks listen with the secret of an endpoint", () => {
  const cli = createRunner("http://127.0.0.1:1025");
  let stop = () => {};
  let ended: Promise<Ran> | undefined;
  afterEach(async () => {
    stop();
    await ended;
  });

  async function listen(...options: string[]) {
    const controller = new AbortController();
    stop = () => controller.abort(new Interruption("interrupted"));
    const running = cli.start(["webhooks", "listen", "--port", "0", ...options], {
      env: { BURSAR_WEBHOOK_SECRET: secret },
      signal: controller.signal,
    });
    ended = running.ended;
    const { ran } = running;
    await vi.waitFor(() => expect(ran.err).toMatch(/Listening on http:\S+\. /));
    const [, url = ""] = /Listening on (http:\S+)\. /.exec(ran.err) ?? [];
    return { url, ran };
  }

  /** Sends a delivery, whose body can be changed after it was signed. */
  async function deliver(url: string, { body = "", attempt = 1 } = {}): Promise<Response> {
    const { headers, rawBody } = await signTestWebhook({ body: event as never, secrets: [secret] });
    return await fetch(url, {
      method: "POST",
      headers: { ...headers, "webhook-id": headers["webhook-id"] ?? "", "webhook-attempt": `${attempt}` },
      body: body === "" ? rawBody : body,
    });
  }
  const forged = JSON.stringify(event).replace("tx_1", "tx_2");

  it("prints one line for each delivery, and refuses those with an invalid signature", async () => {
    const { url, ran } = await listen();
    expect((await deliver(url)).status).toBe(200);
    expect(ran.out).toMatch(
      /transaction\.updated {2}tx_1 {2}completed {2}v2 {2}#7 {2}attempt 1 {2}verified\n/,
    );
    expect((await deliver(url, { attempt: 2 })).status).toBe(200);
    expect(ran.out).toMatch(/attempt 2 {2}verified {2}repeated\n/);
    expect((await deliver(url, { body: forged })).status).toBe(401);
    expect(ran.out).toMatch(/tx_2 .* NOT VERIFIED \(.*\) {2}repeated {2}answered 401/);
    expect((await fetch(url, { method: "POST", body: "hello" })).status).toBe(400);
    expect(ran.out).toMatch(/no event .* NOT VERIFIED .*answered 400/);
    const large = await fetch(url, { method: "POST", body: "x".repeat(2_000_000) }).then(
      ({ status }) => status,
      () => "cut",
    );
    expect([413, "cut"]).toContain(large);
    stop();
    expect((await ended)?.code).toBe(130);
  });

  it("answers with the configured status, and only to what verifies", async () => {
    const { url, ran } = await listen("--status", "503", "--delay", "50");
    expect((await deliver(url)).status).toBe(503);
    expect(ran.out).toMatch(/verified {2}answered 503/);
    expect((await deliver(url, { body: forged })).status).toBe(401);
  });

  it("prints payloads on request, with nothing in them that a terminal would obey", async () => {
    const { url, ran } = await listen("--print");
    await deliver(url);
    expect(ran.out).toMatch(/ {4}"delivery_id": "dlv_1",\n/);
    await deliver(url, { body: "\u001b[2Jhostile\u202e\u009b1m" });
    expect(ran.out).toMatch(/hostile\\u\{202e\}\\u\{9b\}1m\n/);
    await deliver(url, {
      body: JSON.stringify({ event: "a\u001b[2J\nb", data: { x: { id: "i".repeat(1000) } } }),
    });
    expect(ran.out).toContain("a\\u{1b}[2J\\u{a}b");
    expect(ran.out).not.toContain(`${"i".repeat(100)}  -`);
    for (const obeyed of ["\u001b", "\u0007", "\u009b", "\u202e"]) expect(ran.out).not.toContain(obeyed);
  });

  it("prints only the named kinds of events, and whatever does not verify", async () => {
    const { url, ran } = await listen("--events", "wallet.updated,order.updated");
    expect((await deliver(url)).status).toBe(200);
    expect((await deliver(url, { body: forged })).status).toBe(401);
    expect(ran.out).toMatch(/tx_2 .* NOT VERIFIED/);
    expect(ran.out).not.toContain("tx_1");
  });

  it("forwards a delivery unchanged, and returns the response", async () => {
    const got: unknown[] = [];
    const server = createServer((request, response) => {
      request.setEncoding("utf8").once("data", (text: string) => {
        got.push([request.headers["webhook-id"], JSON.parse(text)]);
        response.writeHead(418, { "retry-after": "60", "set-cookie": "mine" }).end("short and stout");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const { url } = await listen("--forward-to", `http://127.0.0.1:${port}/`);
    const answer = await deliver(url);
    expect([answer.status, await answer.text()]).toEqual([418, "short and stout"]);
    expect([answer.headers.get("retry-after"), answer.headers.get("set-cookie")]).toEqual(["60", null]);
    expect((await deliver(url, { body: forged })).status).toBe(401);
    expect(got).toEqual([["dlv_1", event]]);
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
    expect((await deliver(url)).status).toBe(502);
  });

  it.each([
    [["--port", "65536"]],
    [["--status", "99"]],
    [["--events", "wallet.updated,nothing"]],
    [["--forward-to", "file:///etc/passwd"]],
  ])("%j is refused", async (options) => {
    expect((await cli.run(["webhooks", "listen", ...options])).code).toBe(2);
  });

  it.each([[[]], [["--follow"]], [["--follow", "--forward-to", "http://127.0.0.1:1/"]]])(
    "a malformed secret is refused at once, in one sentence that does not show it, with %j",
    async (options) => {
      for (const malformed of ["nonsense", "whsec_", "whsec_c2hvcnQ=", `${secret}!`]) {
        const env = { BURSAR_WEBHOOK_SECRET: malformed };
        const { code, out, err } = await cli.run(["webhooks", "listen", "--port", "0", ...options], { env });
        expect([code, out]).toEqual([2, ""]);
        expect(err).toBe(
          "bursar: BURSAR_WEBHOOK_SECRET must be whsec_ followed by 24 to 64 bytes in base64.\n",
        );
      }
    },
  );

  it("says that there is no sandbox, or that the port is in use", async () => {
    const alone = await cli.run(["webhooks", "listen"], { env: { BURSAR_DATA_DIR: "/nonexistent" } });
    expect(alone).toMatchObject({ code: 2, err: expect.stringContaining("no sandbox credentials") });
    const { url } = await listen();
    const { port } = new URL(url);
    const second = await cli.run(["webhooks", "listen", "--port", port], {
      env: { BURSAR_WEBHOOK_SECRET: secret },
    });
    expect(second).toMatchObject({ code: 2, err: expect.stringContaining(`Cannot listen on port ${port}`) });
  });
});
