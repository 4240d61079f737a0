import { execFile, execFileSync, spawn } from "node:child_process";
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createBursar } from "@bursar/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../src/embedded/free-port.js";
import { blocksOf } from "../harness/document-blocks.js";
import { eventually } from "../harness/eventually.js";
import { type BursarProcess, spawnBursar } from "../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const run = promisify(execFile);

describe("the instructions in the documents work", () => {
  const folder = createTemporaryFolder("documents");
  const dataDir = join(folder, "data");
  const configuration = join(folder, "bursar.yaml");
  let sandbox: BursarProcess;
  let url: string;
  beforeAll(async () => {
    // Without the events of checkpoints, which would come between those of the guides.
    writeFileSync(configuration, "audit:\n  checkpoint_seconds: 0\n");
    sandbox = spawnBursar({ args: ["dev"], env: { BURSAR_DATA_DIR: dataDir, BURSAR_CONFIG: configuration } });
    url = await sandbox.ready();
    // `./bursar` as it is found in a checkout.
    symlinkSync(join(root, "bursar"), join(folder, "bursar"));
  });
  afterAll(async () => {
    sandbox.child.kill("SIGTERM");
    await sandbox.exited;
    rmSync(folder, { recursive: true });
  });

  const shell = async (script: string, variables: Record<string, string> = {}) => {
    const env = { PATH: process.env["PATH"], BURSAR_DATA_DIR: dataDir, ...variables };
    const text = script.replaceAll("http://127.0.0.1:8080", url);
    return (await run("sh", ["-ec", text], { env, cwd: folder })).stdout;
  };
  const bursarHere = async () => {
    const token = (await shell("./bursar token")).trim();
    return createBursar({ baseUrl: url, credentials: () => token });
  };
  const hasCurl = hasProgram("curl");

  it.runIf(hasCurl)("the README's tour, up to a completed transaction that is not paid twice", async () => {
    const [create = "", list = "", without = "", limits = ""] = blocksOf("README.md", "sh").filter((block) =>
      block.includes("curl"),
    );
    const port = String(await freePort());
    const listen = async () => {
      const args = ["webhooks", "listen", "--port", port];
      const listener = spawnBursar({ args, env: { BURSAR_DATA_DIR: dataDir } });
      const [, endpointId] = await listener.waitFor(/registered as (whe_\w+)/);
      return { ...listener, endpointId };
    };
    // A killed listener leaves its endpoint behind; the next one takes it over.
    const killed = await listen();
    killed.child.kill("SIGKILL");
    await killed.exited;
    const listener = await listen();
    expect(listener.endpointId).toBe(killed.endpointId);
    const first = await shell(create);
    expect(first).toMatch(/^HTTP\/1\.1 202 .*"state":"accepted"/s);
    const listed = () => shell(`TOKEN=$(./bursar token)\n${list}`);
    const done = await eventually(listed, (text) => text.includes('"state":"completed"'));
    expect(JSON.parse(done).data).toHaveLength(1);
    await listener.waitFor(
      /transaction\.updated {2}tx_\w{26} {2}completed {2}v2 {2}#4 {2}attempt 1 {2}verified\n/,
    );
    listener.child.kill("SIGINT");
    expect(await listener.exited).toMatchObject({ code: 130 });
    expect(await (await bursarHere()).webhookEndpoints.list().page()).toMatchObject({ data: [] });
    expect(await shell(create)).toContain("idempotent-replayed: true");
    expect(JSON.parse(await listed()).data).toHaveLength(1);
    expect(await shell(without)).toMatch(/^HTTP\/1\.1 401 .*"code":"UNAUTHENTICATED"/s);
    // On a slow machine the bucket may gain a token between the third and the fourth request.
    await eventually(
      () => shell(limits),
      (text) => /HTTP\/1\.1 429 .*ratelimit: "create";r=0;t=\d.*retry-after: \d/s.test(text),
    );
  });

  it.runIf(hasCurl)("the first request of the guide on tokens", async () => {
    expect(await shell(blocksOf("docs/guides/tokens.md", "sh")[0] ?? "")).toMatch(/"object":"client"/);
  });

  it.runIf(hasCurl)("the deposit of the guide on transactions, which is made once", async () => {
    const block = blocksOf("docs/guides/transactions.md", "sh").find((one) => one.includes("/v1/deposits"));
    const here = (block ?? "").replace(".bursar/credentials.json", join(dataDir, "credentials.json"));
    const first = await shell(here);
    expect(JSON.parse(first)).toMatchObject({ kind: "deposit", state: "completed", amount: "25.5" });
    expect(await shell(here)).toBe(first);
  });

  it("the example of the guide on signed requests", async () => {
    const [example = ""] = blocksOf("docs/guides/signed-requests.md", "js");
    const file = join(folder, "example.mjs");
    writeFileSync(file, example);
    const token = (await shell("./bursar token")).trim();
    const { clients } = JSON.parse(readFileSync(join(dataDir, "credentials.json"), "utf8")) as {
      clients: [{ client_id: string }];
    };
    const env = { BURSAR_URL: url, BURSAR_TOKEN: token, BURSAR_CLIENT_ID: clients[0].client_id };
    expect((await run(process.execPath, [file], { env })).stdout).toBe("201 made by a signed request\n");
  });

  it("the receiver of the guide on webhooks, also after a restart", async () => {
    const [program = ""] = blocksOf("docs/guides/receiving-webhooks.md", "js");
    const file = join(folder, "receiver.mjs");
    writeFileSync(file, program);
    const port = await freePort();
    const address = `http://127.0.0.1:${port}/`;
    const { transactions, webhookDeliveries, webhookEndpoints } = await bursarHere();
    const endpoint = await webhookEndpoints.create({ url: address });
    const env = {
      PORT: String(port),
      WEBHOOK_SECRET: endpoint.secret ?? "",
      JOURNAL: join(folder, "webhooks.jsonl"),
    };
    const startReceiver = async () => {
      const child = spawn(process.execPath, [file], { env });
      let output = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
      const waitFor = (text: string) =>
        eventually(
          () => output,
          (so) => so.includes(text),
        );
      await waitFor("listening");
      const stop = async () => {
        child.kill("SIGKILL");
        await new Promise((resolve) => child.once("close", resolve));
        return output;
      };
      return { waitFor, stop };
    };

    const receiver = await startReceiver();
    const verification = await webhookEndpoints.verify(endpoint.id);
    expect(verification).toMatchObject({ verified: true });
    const body = { reference: "guide", asset: "USD", amount: "1" };
    const { id } = await transactions.create(body, { idempotencyKey: "guide" });
    await receiver.waitFor(`${id} is completed`);
    expect((await fetch(address, { method: "POST", body: "{}" })).status).toBe(401);
    await receiver.stop();

    // It skips deliveries that it has stored, and the same change under another id.
    const again = await startReceiver();
    await again.waitFor(`${id} is completed`);
    const { data } = await webhookDeliveries.list({ endpoint_id: endpoint.id }).page();
    const resent = await webhookDeliveries.resend(data[0]?.id ?? "");
    await eventually(
      () => webhookDeliveries.get(resent.id),
      ({ state }) => state === "delivered",
    );
    expect((await again.stop()).split(`${id} is completed`)).toHaveLength(2);
  });

  it.runIf(hasCurl)("the ticket of the guide on the stream", async () => {
    const ticket = JSON.parse(await shell(blocksOf("docs/guides/stream.md", "sh")[0] ?? ""));
    expect(ticket).toMatchObject({ object: "stream_ticket", ticket: expect.any(String) });
  });

  it("the client of the guide on the stream, across a stop of the service", async () => {
    const [example = ""] = blocksOf("docs/guides/stream.md", "js");
    const file = join(folder, "follow.mjs");
    writeFileSync(file, example);
    const token = (await shell("./bursar token")).trim();
    const bursar = createBursar({ baseUrl: url, credentials: () => token });
    const pay = (reference: string) =>
      bursar.transactions.create({ reference, asset: "USD", amount: "1" }, { idempotencyKey: reference });
    const before = (await bursar.events.list({ limit: 1 }).page()).latest_sequence;
    const env = { BURSAR_URL: url, BURSAR_TOKEN: token };
    const args = ["--experimental-websocket", "--no-warnings", file, String(before + 2)];
    const client = run(process.execPath, args, { env });
    await pay("stream-1");
    // The same port, so that the client finds it again.
    sandbox.child.kill("SIGTERM");
    await sandbox.exited;
    sandbox = spawnBursar({
      args: ["dev"],
      env: { BURSAR_DATA_DIR: dataDir, BURSAR_CONFIG: configuration, PORT: new URL(url).port },
    });
    await sandbox.ready();
    await pay("stream-2");
    const lines = (await client).stdout.trim().split("\n");
    expect(lines.map((line) => Number(line.split(" ")[0]))).toEqual(
      Array.from({ length: before + 2 }, (_, index) => index + 1),
    );
    expect(lines.at(-1)).toBe(`${before + 2} transaction.updated accepted -> completed`);
  });
});

function hasProgram(name: string): boolean {
  try {
    execFileSync(name, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
