import { expect, it } from "vitest";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.js";
import { createSend } from "./send.js";

/** Nodes that answer when the test says so, and a clock that it moves. */
function openNodes(count: number) {
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
  const send = createSend({ endpoints, hasPool: true, timers: { after } });
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

it("a node that does not answer does not hold up what others were given, and gets nothing more until it has", async () => {
  const { begin, answer, ring, given, alarms } = openNodes(3);
  const first = await begin("a", "b");
  await answer("1", "refused");
  await answer("2", "refused");
  expect(first.outcomes).toBeUndefined();
  await ring();
  expect(first.outcomes).toEqual(["refused", "refused"]);
  given.length = 0;
  const second = await begin("c");
  expect(given).toEqual(["1: c", "2: c"]);
  await answer("2", "silent");
  await answer("1", taken);
  expect([second.outcomes, alarms.size]).toEqual([["taken"], 0]);
  await answer("3", taken);
  given.length = 0;
  const third = await begin("d");
  expect(given).toEqual(["1: d", "2: d", "3: d"]);
  for (const name of ["1", "2", "3"]) await answer(name, "silent");
  expect([third.outcomes, alarms.size]).toEqual([["unknown"], 0]);
});

it("the first answer is waited for, and what no node is free for is sent later", async () => {
  const { begin, answer, given, alarms } = openNodes(1);
  const first = await begin("a");
  expect(alarms.size).toBe(0);
  const second = await begin("b");
  expect([second.outcomes, given]).toEqual([["unknown"], ["1: a"]]);
  await answer("1", taken);
  expect(first.outcomes).toEqual(["taken"]);
});
