import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { PlaceOrderBody } from "@bursar/client";
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
const retryMs = 20;
export const market = "ETH-USD";

export function createMixedLoad(world: TwoProcesses, pauseMs = 0): MixedLoad {
  const acknowledged: Acknowledged[] = [];
  let answers = 0;
  let isOn = false;
  let running: Promise<unknown> = Promise.resolve();

  /** The resource, if the request was accepted. */
  async function answerOf<Value>(request: Promise<Value>): Promise<Value | undefined> {
    const answer = await request.catch(() => undefined);
    if (answer !== undefined) answers += 1;
    return answer;
  }

  /** Repeats the request until it is answered, and sometimes once more, as if the answer had been lost. */
  async function create(
    client: TestClient,
    kind: Acknowledged["kind"],
    request: (key: string) => Promise<{ id: string }>,
  ): Promise<string> {
    const key = randomUUID();
    const entry: Acknowledged = { client, kind, key, ids: new Set() };
    for (;;) {
      const id = (await answerOf(request(key)))?.id;
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
      const { transactions } = world.bursarOf(world.payer);
      await create(world.payer, "transactions", (idempotencyKey) =>
        transactions.create({ reference: "load", asset: "USD", amount: "0.01" }, { idempotencyKey }),
      );
    }
  }

  const nextDeeds = world.traders.map((_, index) => createRandomDeeds(index));
  async function trade(client: TestClient, next: ReturnType<typeof createRandomDeeds>): Promise<void> {
    const own: string[] = [];
    const { orders } = world.bursarOf(client);
    while (isOn) {
      await sleep(pauseMs);
      const deed = next();
      const id = deed.kind === "place" ? undefined : (own[deed.ago] ?? own[0]);
      if (deed.kind === "place") {
        const body = { market, ...deed.body } as unknown as PlaceOrderBody;
        own.unshift(
          await create(client, "orders", (idempotencyKey) => orders.place(body, { idempotencyKey })),
        );
      } else if (id === undefined) continue;
      else if (deed.kind === "cancel") await answerOf(orders.cancel(id));
      else await answerOf(orders.amend(id, { size: deed.size }));
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
