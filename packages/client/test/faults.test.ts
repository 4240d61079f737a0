import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { type BursarError, createBursar, isBursarError } from "@bursar/client";
import { expect, it } from "vitest";
import { type Fault, faults, startFaultService } from "./harness/fault-service.js";
import { createIdleClock } from "./harness/idle-clock.js";

const payments = Number(process.env["BURSAR_CLIENT_PAYMENTS"] ?? 1000);
const seed = Number(process.env["BURSAR_CLIENT_SEED"] ?? 7);
const concurrency = 16;

/** A small generator (mulberry32), so that a failure can be repeated. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A port at which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

it(`${payments} payments through every fault become ${payments} transactions, and every outcome is true`, async () => {
  const random = createRandom(seed);
  const draw = (): Fault =>
    random() < 0.5 ? "none" : (faults[Math.floor(random() * faults.length)] ?? "none");
  const service = await startFaultService(draw);
  const deadUrl = `http://127.0.0.1:${await closedPort()}`;
  let active = 0;
  const clock = createIdleClock(() => active - service.stalled() <= 0, random);
  const bursar = createBursar({
    baseUrl: service.url,
    credentials: () => "token",
    runtime: clock.runtime,
    fetch: (url, init) => fetch(random() < 0.05 ? url.replace(service.url, deadUrl) : url, init),
    onRequest: () => {
      active += 1;
    },
    onResponse: () => {
      active -= 1;
    },
  });
  const outcomes = { refused: 0, not_sent: 0, unknown: 0 };
  const untrue: unknown[] = [];
  const results = new Map<string, string>();

  /** What a program does: it repeats a failed call with the same key. */
  async function pay(reference: string): Promise<void> {
    for (;;) {
      const wasPaid = service.payments.has(reference);
      const failure = await bursar.transactions
        .create({ reference, asset: "USD", amount: "1" }, { idempotencyKey: reference })
        .then(({ id }) => void results.set(reference, id))
        .catch((error: unknown) => error);
      if (failure === undefined) return;
      if (!isBursarError(failure)) throw failure;
      const { outcome, idempotencyKey } = failure as BursarError;
      outcomes[outcome] += 1;
      if (idempotencyKey !== reference) untrue.push(failure);
      if (outcome !== "unknown" && service.payments.has(reference) !== wasPaid) untrue.push(failure);
    }
  }

  try {
    const left = Array.from({ length: payments }, (_, at) => `invoice-${at}`);
    const worker = async () => {
      for (let reference = left.pop(); reference !== undefined; reference = left.pop()) await pay(reference);
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
  } finally {
    clock.stop();
    await service.close();
  }
  expect(untrue).toEqual([]);
  expect(service.payments.size).toBe(payments);
  expect(new Set([...service.payments.values()].map(({ reference }) => reference)).size).toBe(payments);
  for (const [reference, { id }] of service.payments) expect(results.get(reference)).toBe(id);
  // The script was hard enough to see each of them.
  expect(outcomes.refused).toBeGreaterThan(0);
  expect(outcomes.unknown).toBeGreaterThan(0);
});
