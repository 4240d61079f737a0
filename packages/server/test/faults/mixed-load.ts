import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createRandomDeeds } from "../harness/markets/random-orders.js";
import type { TestClient } from "../harness/service/test-service.js";
import type { TwoProcesses } from "./two-processes.js";

/** What was answered with 202: for each key the ids that the answers named. */
export interface Acknowledged {
  client: TestClient;
  kind: "transactions" | "orders";
  key: string;
  ids: Set<string>;
}

/** Clients that pay and trade at both processes, each repeating a request until it is answered, with a pause before each new one. */
export interface MixedLoad {
  acknowledged: Acknowledged[];
  /** The number of 202 so far. */
  answers: () => number;
  resume: () => void;
  /** Resolves when no request is in progress. */
  pause: () => Promise<void>;
}

const payersCount = 4;
const requestTimeoutMs = 15_000;
const retryMs = 20;
export const market = "ETH-USD";

export function createMixedLoad(world: TwoProcesses, pauseMs = 0): MixedLoad {
  const acknowledged: Acknowledged[] = [];
  let answers = 0;
  let isOn = false;
  let running: Promise<unknown> = Promise.resolve();

  /** One attempt, at any of the processes; the id if it was answered with 202. */
  async function attempt(
    client: TestClient,
    method: string,
    path: string,
    body: object | undefined,
    key: string | undefined,
  ): Promise<string | undefined> {
    const token = await world.tokenOf(client);
    const response = await fetch(`${world.services[randomInt(2)]?.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(key === undefined ? {} : { "idempotency-key": key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(requestTimeoutMs),
    }).catch(() => undefined);
    const answer = (await response?.json().catch(() => undefined)) as { id?: string } | undefined;
    if (response?.status !== 202) return undefined;
    answers += 1;
    return answer?.id;
  }

  /** Repeats the request until it is answered, and sometimes once more, as if the answer had been lost. */
  async function create(client: TestClient, kind: Acknowledged["kind"], body: object): Promise<string> {
    const key = randomUUID();
    const entry: Acknowledged = { client, kind, key, ids: new Set() };
    for (;;) {
      const id = await attempt(client, "POST", `/v1/${kind}`, body, key);
      if (id === undefined) {
        await sleep(retryMs);
        continue;
      }
      if (entry.ids.size === 0) acknowledged.push(entry);
      entry.ids.add(id);
      if (randomInt(10) > 0) return id;
    }
  }

  async function pay(): Promise<void> {
    while (isOn) {
      await sleep(pauseMs);
      await create(world.payer, "transactions", { reference: "load", asset: "USD", amount: "0.01" });
    }
  }

  const nextDeeds = world.traders.map((_, index) => createRandomDeeds(index));
  async function trade(client: TestClient, next: ReturnType<typeof createRandomDeeds>): Promise<void> {
    const own: string[] = [];
    while (isOn) {
      await sleep(pauseMs);
      const deed = next();
      if (deed.kind === "place") own.unshift(await create(client, "orders", { market, ...deed.body }));
      else {
        const path = `/v1/orders/${own[deed.ago] ?? own[0]}`;
        if (own.length === 0) continue;
        if (deed.kind === "cancel") await attempt(client, "DELETE", path, undefined, undefined);
        else await attempt(client, "PATCH", path, { size: deed.size }, undefined);
      }
    }
  }

  return {
    acknowledged,
    answers: () => answers,
    resume: () => {
      isOn = true;
      running = Promise.all([
        ...Array.from({ length: payersCount }, pay),
        ...world.traders.map((client, index) => trade(client, nextDeeds[index] ?? createRandomDeeds(index))),
      ]);
    },
    pause: async () => {
      isOn = false;
      await running;
    },
  };
}
