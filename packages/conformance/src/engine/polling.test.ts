import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { readTarget } from "../target/read-target.js";
import { createPolling } from "./polling.js";
import { createSession } from "./session.js";

const source = "timing: { poll_ms: 1 }";
const target = readTarget(source, { baseUrl: "http://127.0.0.1:1", token: "t" }, {});

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => vi.useRealTimers());

/** A run of 3 s, with pollers that each send a request at every question. */
function startPolling(requestsMax = 60) {
  const session = createSession({
    target,
    token: "t",
    bounds: { requestsMax, durationMs: 3000, totals: new Map() },
  });
  const pauses: number[] = [];
  const polling = createPolling(session, async (durationMs) => {
    pauses.push(durationMs);
    await new Promise((resolve) => setTimeout(resolve, durationMs));
  });
  const ask = async () => {
    session.exchanges.push({} as never);
    return undefined;
  };
  return { session, ask, pauses, ...polling };
}

/** What a promise becomes when the clock has passed this time. */
async function after<T>(durationMs: number, promise: Promise<T>): Promise<T> {
  await vi.advanceTimersByTimeAsync(durationMs);
  return promise;
}

it("pauses grow, so that a target that is slow does not use up the requests of the run", async () => {
  const { session, poll, ask } = startPolling();
  await after(2500, poll(2500, ask));
  expect(session.exchanges.length).toBeLessThan(60);
});

it("pauses do not grow beyond what the requests of the run allow", async () => {
  const { poll, ask, pauses } = startPolling();
  await after(2500, poll(2500, ask));
  // Half of 60 requests for 3 s, and fewer when some are used.
  expect(Math.max(...pauses)).toBeGreaterThanOrEqual(90);
  expect(Math.max(...pauses)).toBeLessThan(150);
});

it("several checks that ask at once share the requests", async () => {
  const { session, poll, ask, pauses } = startPolling(600);
  await after(500, Promise.all([1, 2, 3].map(() => poll(500, ask))));
  // One alone would ask every 10 ms.
  expect(session.exchanges.length).toBeLessThan(100);
  expect(Math.max(...pauses)).toBeGreaterThanOrEqual(25);
});

it("asks a last time when the time has passed", async () => {
  const { poll } = startPolling();
  const started = performance.now();
  const late = poll(300, async () => (performance.now() - started >= 300 ? "late" : undefined));
  expect(await after(300, late)).toBe("late");
});

it("what arrives by itself is noticed at once, because looking costs nothing", async () => {
  const { watch, pauses } = startPolling();
  await after(
    100,
    watch(100, async () => undefined),
  );
  expect(Math.max(...pauses)).toBe(1);
});
