import { randomInt } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Bursar, createBursar } from "@bursar/client";
import { freePort } from "../../src/embedded/free-port.js";
import { eventually } from "../harness/eventually.js";
import { getToken, runBursar, startSandbox } from "../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";

export interface KillLoopOptions {
  times: number;
  /** The process to kill with SIGKILL: the service, or its PostgreSQL. */
  victim: "service" | "postgres";
}

export interface KillLoopReport {
  kills: number;
  /** The keys that were sent, and the ones answered with 202 at any attempt. */
  sent: number;
  acknowledged: number;
  /** Keys whose 202 responses named different transactions; each one is a double payment. */
  contradicted: string[];
  /** Transactions that a 202 named and that do not exist or are not final. */
  lost: string[];
  /** The number of transactions at the end. */
  found: number;
  /** The output of `bursar audit ledger`. */
  books: { code: number | null; output: string };
}

const senders = 16;
/** The number of responses before a kill, so that a slow machine tests as much as a fast one. */
const answersMin = 40;
const answersMax = 120;
/** An additional random delay, so that the kill happens anywhere between two responses. */
const momentMaxMs = 50;
const requestTimeoutMs = 15_000;
const startTimeoutMs = 180_000;

/**
 * Sends transactions continuously while the process is killed at random times and restarted. It records every 202. At the end each one
 * must have exactly one final transaction, and the ledger audit must pass.
 */
export async function runKillLoop({ times, victim }: KillLoopOptions): Promise<KillLoopReport> {
  const folder = createTemporaryFolder("kill");
  const dataDir = join(folder, "data");
  const env = { BURSAR_DATA_DIR: dataDir, PORT: String(await freePort()), LOG_LEVEL: "warn" };
  const url = `http://127.0.0.1:${env.PORT}`;
  const idsByKey = new Map<string, Set<string>>();
  let service = await startSandbox(env);
  let token = await getToken(env);
  // One attempt at a time, so that this proof decides what is repeated.
  const bursar = createBursar({
    baseUrl: url,
    credentials: () => token,
    retriesMax: 0,
    timeoutMs: requestTimeoutMs,
  });
  let sent = 0;
  let answers = 0;
  let sending = true;

  /** Makes one attempt; true if it was acknowledged. */
  async function attempt(key: string): Promise<boolean> {
    const created = await bursar.transactions
      .create({ reference: "kill", asset: "USD", amount: "0.01" }, { idempotencyKey: key })
      .catch(() => undefined);
    if (created === undefined) return false;
    answers += 1;
    idsByKey.set(key, (idsByKey.get(key) ?? new Set()).add(created.id));
    return true;
  }

  async function send(): Promise<void> {
    while (sending) {
      const key = `kill-${sent++}`;
      // A client without a response repeats its request until it gets one.
      while (!(await attempt(key))) await sleep(20);
      // Some clients repeat an answered request, as if the response had been lost.
      if (randomInt(10) === 0) await attempt(key);
    }
  }

  const sendingAll = Promise.all(Array.from({ length: senders }, send));
  for (let kill = 0; kill < times; kill++) {
    const last = answers + randomInt(answersMin, answersMax);
    await eventually(
      () => answers,
      (count) => count >= last,
      startTimeoutMs,
    );
    await sleep(randomInt(momentMaxMs));
    if (victim === "service") {
      service.child.kill("SIGKILL");
      await service.exited;
      service = await startSandbox(env);
    } else {
      process.kill(postmasterPid(dataDir), "SIGKILL");
      const restarts = () => service.output().split("is running again").length - 1;
      await eventually(restarts, (count) => count === kill + 1, startTimeoutMs);
    }
    // A token is valid for 15 minutes, which a slow machine needs for thirty kills.
    token = await getToken(env);
  }
  sending = false;
  await sendingAll;

  const transactions = await readAll(bursar);
  const books = await runBursar(["audit", "ledger"], env);
  service.child.kill("SIGTERM");
  await service.exited;
  rmSync(folder, { recursive: true, force: true });

  const finalIds = new Set(transactions.filter(({ state }) => state === "completed").map(({ id }) => id));
  return {
    kills: times,
    sent,
    acknowledged: idsByKey.size,
    contradicted: [...idsByKey].filter(([, ids]) => ids.size !== 1).map(([key]) => key),
    lost: [...idsByKey.values()].flatMap((ids) => [...ids]).filter((id) => !finalIds.has(id)),
    found: transactions.length,
    books,
  };
}

function postmasterPid(dataDir: string): number {
  return Number(readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n")[0]);
}

/** Returns every payment, once none is in progress. The sandbox also has the deposits that fund it. */
async function readAll({ transactions }: Bursar): Promise<{ id: string; state: string }[]> {
  const accepted = () => transactions.list({ state: ["accepted"], limit: 1 }).page();
  while ((await accepted()).data.length > 0) await sleep(50);
  const all: { id: string; state: string }[] = [];
  for await (const payment of transactions.list({ kind: "transfer", limit: 200 })) all.push(payment);
  return all;
}
