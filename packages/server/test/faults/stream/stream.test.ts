import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createBursar } from "@bursar/client";
import { describe, expect, it } from "vitest";
import { freePort } from "../../../src/embedded/free-port.js";
import { eventually } from "../../harness/eventually.js";
import { getToken, startSandbox } from "../../harness/service/bursar-process.js";
import { startTestService } from "../../harness/service/test-service.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";
import { createChaosProxy } from "../chaos-proxy.js";
import { followStream } from "./stream-follower.js";

/** Short and long sizes are in tools/proofs/proofs.mjs. */
const cuts = Number(process.env["BURSAR_CUTS"]);
const events = Number(process.env["BURSAR_EVENTS"]);
const kills = Number(process.env["BURSAR_STREAM_KILLS"]);
const isLong = process.env["BURSAR_PROOF_FORM"] === "long";
const timeoutMs = 300_000 + cuts * 5000 + kills * 20_000;

const batchSize = 50;
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
const print = (what: string, facts: object) => {
  if (isLong) process.stdout.write(`${what}: ${JSON.stringify(facts)}\n`);
};

const clientOf = (url: string, token: string) => createBursar({ baseUrl: url, credentials: () => token });

/** Makes a batch of events, and retries until it is accepted. */
async function pay(url: string, token: string): Promise<void> {
  const payments = Array.from({ length: batchSize }, () => ({
    idempotency_key: randomUUID(),
    reference: "stream",
    asset: "USD",
    amount: "0.01",
  }));
  for (let left = payments; left.length > 0; ) {
    const failed = new Set<string>();
    for await (const { error, idempotencyKey } of clientOf(url, token).transactions.createMany(left))
      if (error !== undefined) failed.add(idempotencyKey);
    left = left.filter(({ idempotency_key: key }) => failed.has(key));
  }
}

/** The sandbox begins with the deposits that fund it. */
async function countEvents(url: string, token: string): Promise<number> {
  return (await clientOf(url, token).events.list({ limit: 200 }).page()).latest_sequence;
}

describe("a client that follows the stream receives 1 to N, each once and in order", () => {
  it(
    `when its connection is cut ${cuts} times while ${events} events happen in two processes`,
    async () => {
      const service = await startTestService();
      const other = await service.another();
      const token = await service.token(await service.createTenant(String(events)));
      const ports = [service, other].map(({ url }) => Number(new URL(url).port));
      const proxy = await createChaosProxy({ ports, cuts, bytesMax: Math.ceil((events * 1600) / cuts) });
      const follower = followStream(
        () => `http://127.0.0.1:${proxy.port}`,
        () => token,
      );
      for (let paid = 0; paid < events; paid += batchSize) await pay(service.url, token);
      // If all events were sent before the last cut, continue with more of both.
      let total = events;
      const broken = () => Object.values(proxy.broken()).reduce((sum, count) => sum + count, 0);
      while (broken() < cuts) {
        await pay(service.url, token);
        total += batchSize;
      }
      await eventually(
        () => follower.seen.at(-1),
        (last) => last === total,
        timeoutMs,
      );
      await follower.stop();
      print("cuts", {
        total,
        connections: follower.connections(),
        broken: proxy.broken(),
      });
      await proxy.close();
      await other.stop();
      await service.stop();
      expect(follower.faults).toEqual([]);
      expect(follower.seen).toEqual(upTo(total));
    },
    timeoutMs,
  );

  it(
    `when the service is killed ${kills} times without warning`,
    async () => {
      const folder = createTemporaryFolder("stream-kill");
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const env = { BURSAR_DATA_DIR: join(folder, "data"), PORT: String(port), LOG_LEVEL: "warn" };
      let service = await startSandbox(env);
      const token = await getToken(env);
      const follower = followStream(
        () => url,
        () => token,
      );
      let total = await countEvents(url, token);
      for (let kill = 0; kill <= kills; kill++) {
        const paying = Array.from({ length: 10 }, () => pay(url, token));
        total += paying.length * batchSize;
        if (kill < kills) {
          await sleep(100 + 50 * kill);
          service.child.kill("SIGKILL");
          await service.exited;
          service = await startSandbox(env);
        }
        await Promise.all(paying);
      }
      await eventually(
        () => follower.seen.at(-1),
        (last) => last === total,
        timeoutMs,
      );
      await follower.stop();
      print("kills", { total, connections: follower.connections() });
      service.child.kill("SIGTERM");
      await service.exited;
      rmSync(folder, { recursive: true, force: true });
      expect(follower.faults).toEqual([]);
      expect(follower.seen).toEqual(upTo(total));
    },
    timeoutMs,
  );
});
