import { expect, it } from "vitest";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.js";
import { createSend } from "./send.js";

/** Nodes that answer when the test says so, and a clock that it moves. */
function openNodes(count: number, hasPool = true) {
  const given: string[] = [];
  const waiting = new Map<string, (outcome: { result: string } | "refused" | "silent") => void>();
  const alarms = new Set<() => void>();
  const endpoints = Array.from({ length: count }, (_, index): RpcEndpoint => {
    const name = String(index + 1);
    return {
      name,
      call: async (calls) => {
        given.push(`${name}: ${calls.map(({ params }) => params[0]).join(" ")}`);
        const outcome = await new Promise<{ result: string } | "refused" | "silent">((resolve) =>
          waiting.set(name, resolve),
        );
        if (outcome === "silent") return calls.map(() => ({ unavailable: "no answer" }));
        const error = { code: -32_000, message: "already known", returned: undefined };
        return calls.map(() => (outcome === "refused" ? { error } : outcome));
      },
      pauseMs: () => 0,
      close: async () => undefined,
    };
  });
  const after = (_: number, work: () => void) => {
    alarms.add(work);
    return () => void alarms.delete(work);
  };
  const send = createSend({ endpoints, hasPool, timers: { after } });
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  const begin = async (...bytes: string[]) => {
    const sent: { outcomes?: readonly string[] } = {};
    void send(bytes).then((outcomes) => Object.assign(sent, { outcomes }));
    await settle();
    return sent;
  };
  const answer = async (name: string, outcome: { result: string } | "refused" | "silent") => {
    waiting.get(name)?.(outcome);
    await settle();
  };
  const ring = async () => {
    const due = [...alarms];
    alarms.clear();
    for (const work of due) work();
    await settle();
  };
  return { begin, answer, ring, given, alarms };
}

const taken = { result: "0x1" };

it("a node that does not answer does not hold up what others were given, and gets what comes meanwhile when it has", async () => {
  const { begin, answer, ring, given, alarms } = openNodes(3);
  const first = await begin("a", "b");
  await answer("1", "refused");
  await answer("2", "refused");
  expect(first.outcomes).toBeUndefined();
  await ring();
  expect(first.outcomes).toEqual(["refused", "refused"]);
  given.length = 0;
  const second = await begin("b", "c");
  expect(given).toEqual(["1: b c", "2: b c"]);
  await answer("2", "silent");
  await answer("1", taken);
  expect([second.outcomes, alarms.size]).toEqual([["taken", "taken"], 0]);
  given.length = 0;
  await answer("3", taken);
  expect(given).toEqual(["3: c"]);
  await answer("3", taken);
  given.length = 0;
  const third = await begin("d");
  expect(given).toEqual(["1: d", "2: d", "3: d"]);
  for (const name of ["1", "2", "3"]) await answer(name, "silent");
  expect([third.outcomes, alarms.size]).toEqual([["unknown"], 0]);
});

it.each([true, false])(
  "nodes get everything that a faster one takes, in this order (with a pool: %s)",
  async (hasPool) => {
    const { begin, answer, given } = openNodes(3, hasPool);
    const names = Array.from({ length: 250 }, (_, index) => String(index));
    const sent = await begin(...names);
    for (let parts = 0; sent.outcomes === undefined; parts++) {
      expect(parts).toBeLessThan(1000);
      await answer("1", taken);
    }
    expect(sent.outcomes).toEqual(names.map(() => "taken"));
    for (let parts = 0; parts < 250; parts++) for (const name of ["2", "3"]) await answer(name, taken);
    for (const name of ["1", "2", "3"]) {
      const got = given.filter((one) => one.startsWith(`${name}: `)).map((one) => one.slice(3));
      expect(got.flatMap((one) => one.split(" "))).toEqual(names);
    }
  },
);

it("what a node has not answered is bounded", async () => {
  const { begin, answer, given } = openNodes(2);
  for (let part = 0; part < 15; part++) {
    await begin(...Array.from({ length: 100 }, (_, index) => `${part}.${index}`));
    await answer("1", taken);
  }
  for (let part = 0; part < 15; part++) await answer("2", taken);
  const got = given.filter((one) => one.startsWith("2: ")).flatMap((one) => one.slice(3).split(" "));
  expect(got.length).toBe(1000);
  await begin("next");
  expect(given.slice(-2)).toEqual(["1: next", "2: next"]);
});

it("a slow node is waited for as long as the others say nothing", async () => {
  const { begin, answer, alarms } = openNodes(3);
  const sent = await begin("a");
  await answer("1", "silent");
  expect(alarms.size).toBe(0);
  await answer("2", "refused");
  expect(alarms.size).toBe(1);
  await answer("3", taken);
  expect([sent.outcomes, alarms.size]).toEqual([["taken"], 0]);
});

it.each([
  ["silent", "refused"],
  ["refused", "silent"],
] as const)(
  "bytes that one node refuses, as it has them, are not unknown while another is silent: %s, %s",
  async (...said) => {
    const { begin, answer } = openNodes(2);
    const sent = await begin("a");
    for (const [index, outcome] of said.entries()) await answer(String(index + 1), outcome);
    expect(sent.outcomes).toEqual(["refused"]);
  },
);
