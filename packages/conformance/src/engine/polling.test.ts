import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { readTarget } from "../target/read-target.js";
import { createPolling } from "./polling.js";
import { createSession } from "./session.js";

const source = "timing: { poll_ms: 1 }";
const target = readTarget(source, { baseUrl: "http://127.0.0.1:1", token: "t" }, {});

/** A run of 60 requests and 3 s, with pollers that each send a request at every question. */
function startPolling() {
  const session = createSession({
    target,
    token: "t",
    bounds: { requestsMax: 60, durationMs: 3000, totals: new Map() },
  });
  const pauses: number[] = [];
  const polling = createPolling(session, async (durationMs) => {
    pauses.push(durationMs);
    await delay(durationMs);
  });
  const ask = async () => {
    session.exchanges.push({} as never);
    return undefined;
  };
  return { session, ask, pauses, ...polling };
}

it("a target that is slow does not use up the requests of the run", async () => {
  const { session, poll, ask } = startPolling();
  await poll(700, ask);
  expect(session.exchanges.length).toBeLessThan(30);
});

it("several checks that ask at once share the requests", async () => {
  const { session, poll, ask } = startPolling();
  await Promise.all([1, 2, 3].map(() => poll(700, ask)));
  expect(session.exchanges.length).toBeLessThan(60);
});

it("asks a last time when the time has passed", async () => {
  const { poll } = startPolling();
  const started = performance.now();
  expect(await poll(300, async () => (performance.now() - started >= 300 ? "late" : undefined))).toBe("late");
});

it("what arrives by itself is noticed at once, because looking costs nothing", async () => {
  const { watch, pauses } = startPolling();
  await watch(100, async () => undefined);
  expect(Math.max(...pauses)).toBe(1);
});
