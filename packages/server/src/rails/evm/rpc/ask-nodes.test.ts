import { describe, expect, it } from "vitest";
import type { RpcEndpoint } from "./rpc-endpoint.js";
import { AnswerFault, createRpcPool } from "./rpc-pool.js";
import { isSameOrLacked } from "./same-of-most.js";

/** Nodes that answer when the test says so, and a clock that it moves. */
function openPool(count: number) {
  const state = { nowMs: 0 };
  const asked: string[] = [];
  const waiting: { name: string; answer: (value: string) => void }[] = [];
  let alarms: { atMs: number; work: () => void }[] = [];
  const endpoints = Array.from({ length: count }, (_, index): RpcEndpoint => {
    const name = String(index + 1);
    return {
      name,
      call: async (calls) => {
        asked.push(name);
        const value = await new Promise<string>((resolve) => waiting.push({ name, answer: resolve }));
        return calls.map(() => ({ result: value }));
      },
      pauseMs: () => 0,
      close: async () => undefined,
    };
  });
  const pool = createRpcPool({
    ...{ network: "eip155:1", endpoints, monotonicMs: () => state.nowMs },
    timers: {
      after: (delayMs, work) => {
        const alarm = { atMs: state.nowMs + delayMs, work };
        alarms.push(alarm);
        return () => {
          alarms = alarms.filter((one) => one !== alarm);
        };
      },
    },
  });
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  const wait = async (ms: number) => {
    state.nowMs += ms;
    const due = alarms.filter(({ atMs }) => atMs <= state.nowMs);
    alarms = alarms.filter(({ atMs }) => atMs > state.nowMs);
    for (const { work } of due) work();
    await settle();
  };
  const answer = async (name: string, value: string) => {
    const index = waiting.findIndex((one) => one.name === name);
    waiting.splice(index, 1)[0]?.answer(value);
    await settle();
  };
  const read = (result: unknown) => {
    if (result === "wrong") throw new AnswerFault("wrong");
    return result === "none" ? undefined : (result as string);
  };
  /** Asks every node; `given` has what was said, when it is there. */
  const ask = async (isLackTold = false) => {
    asked.length = 0;
    const look: { given?: string } = {};
    void pool
      .askEach([{ method: "eth_chainId", params: [], read }], isLackTold ? isSameOrLacked(count) : undefined)
      .then((nodes) => {
        const said = nodes.map(({ answers }) =>
          "unavailable" in answers || !("value" in answers[0]) ? "-" : (answers[0].value ?? "none"),
        );
        look.given = said.join(" ");
      });
    await settle();
    return look;
  };
  /** Asks one node after the other, also for more that no answer of "none" says anything about. */
  const askOne = async (isMoreAsked = false) => {
    asked.length = 0;
    const look: { given?: unknown } = {};
    const question = { method: "eth_chainId", params: [], read };
    const more = { ...question, read: (result: unknown) => read(result === "none" ? "wrong" : result) };
    void pool.ask(isMoreAsked ? [question, more] : [question]).then((given) => {
      look.given = isMoreAsked ? given : given[0];
    });
    await settle();
    return look;
  };
  const first = () => pool.inOrder()[0]?.name;
  return { askOne, ask, answer, wait, asked, first };
}

describe("three nodes", () => {
  it("are not waited for if two say the same, and one that is late is left out, longer each time", async () => {
    const { ask, answer, wait, asked, first } = openPool(3);
    let look = await ask();
    await answer("2", "a");
    await wait(60_000);
    expect(look.given).toBeUndefined();
    await answer("3", "a");
    expect(look.given).toBeUndefined();
    await wait(120_000);
    expect(look.given).toBe("- a a");
    expect(first()).toBe("2");
    const askTwo = async () => {
      look = await ask();
      expect(asked).toEqual(["2", "3"]);
      await answer("2", "a");
      await answer("3", "a");
      expect(look.given).toBe("- a a");
    };
    await askTwo();
    await wait(2000);
    look = await ask();
    expect(asked).toEqual(["1", "2", "3"]);
    await answer("2", "a");
    await answer("3", "a");
    expect(look.given).toBeUndefined();
    await wait(500);
    expect(look.given).toBe("- a a");
    await wait(3999);
    await askTwo();
    await wait(1);
    look = await ask();
    expect(asked).toEqual(["1", "2", "3"]);
    await answer("1", "too late");
    await answer("1", "too late");
    for (const name of ["2", "3", "1"]) await answer(name, "b");
    expect(look.given).toBe("b b b");
    expect(first()).toBe("1");
  });

  it("are all waited for while two of them differ, also the one that was late", async () => {
    const { ask, answer, wait, asked } = openPool(3);
    let look = await ask();
    await answer("1", "a");
    await answer("2", "a");
    await wait(500);
    expect(look.given).toBe("a a -");
    look = await ask();
    expect(asked).toEqual(["1", "2"]);
    await answer("1", "a");
    await answer("2", "b");
    await wait(1000);
    expect(asked).toEqual(["1", "2", "3"]);
    expect(look.given).toBeUndefined();
    await answer("3", "of before");
    await answer("3", "b");
    expect(look.given).toBe("a b b");
  });
});

describe("a slow node of three", () => {
  it("has 15 s if the others differ, or twice their time", async () => {
    const { ask, answer, wait, asked } = openPool(3);
    let look = await ask();
    await answer("1", "a");
    await answer("2", "b");
    await wait(14_999);
    expect(look.given).toBeUndefined();
    await wait(1);
    expect(look.given).toBe("a b -");
    // It is left out, and asked as the others differ again.
    look = await ask();
    await answer("1", "a");
    await answer("2", "b");
    expect(asked).toEqual(["1", "2", "3"]);
    await wait(15_000);
    expect(look.given).toBe("a b -");
    const { ask: askSlow, ...others } = openPool(3);
    look = await askSlow();
    await others.wait(10_000);
    await others.answer("1", "a");
    await others.answer("2", "b");
    await others.wait(19_999);
    expect(look.given).toBeUndefined();
    await others.wait(1);
    expect(look.given).toBe("a b -");
  });

  it("has 45 s if it is needed because another one gives nothing usable", async () => {
    for (const isInTime of [true, false]) {
      const { ask, answer, wait } = openPool(3);
      const look = await ask();
      await answer("1", "wrong");
      await answer("2", "b");
      await wait(44_999);
      expect(look.given).toBeUndefined();
      if (isInTime) await answer("3", "b");
      else await wait(1);
      expect(look.given).toBe(isInTime ? "- b b" : "- b -");
    }
  });

  it("is not waited for if the others do not have it, and it can only be there if most have it", async () => {
    const { ask, answer, wait } = openPool(3);
    const look = await ask(true);
    await answer("1", "none");
    await answer("2", "none");
    await wait(500);
    expect(look.given).toBe("none none -");
  });

  it("has 2 s for what only that one may have", async () => {
    const { askOne, answer, wait, asked } = openPool(3);
    let look = await askOne();
    await answer("1", "none");
    await answer("2", "none");
    await wait(1999);
    await answer("3", "a");
    expect(look.given).toEqual({ value: "a" });
    look = await askOne();
    await answer("1", "none");
    await answer("2", "none");
    await wait(2000);
    expect(look.given).toEqual({ value: undefined });
    expect(asked).toEqual(["1", "2", "3"]);
  });

  it("has more time if it is also asked for what the others have not answered", async () => {
    const { askOne, answer, wait } = openPool(3);
    const look = await askOne(true);
    await answer("1", "none");
    await answer("2", "none");
    await wait(10_000);
    expect(look.given).toBeUndefined();
    await answer("3", "a");
    expect(look.given).toEqual([{ value: "a" }, { value: "a" }]);
  });

  it("is asked after the others when it took 5 s", async () => {
    const { askOne, answer, wait, first } = openPool(3);
    const look = await askOne();
    await wait(5000);
    await answer("1", "a");
    expect(look.given).toEqual({ value: "a" });
    expect(first()).toBe("2");
  });
});

it("two nodes are both waited for", async () => {
  const { ask, answer, wait } = openPool(2);
  const look = await ask();
  await answer("1", "a");
  await wait(60_000);
  expect(look.given).toBeUndefined();
  await answer("2", "a");
  expect(look.given).toBe("a a");
});

it("a node that takes too long for what it is asked alone is asked after the others for ten minutes", async () => {
  const { askOne, answer, wait, asked, first } = openPool(2);
  const look = await askOne();
  await wait(44_000);
  expect(asked).toEqual(["1"]);
  await wait(1000);
  expect(asked).toEqual(["1", "2"]);
  await answer("2", "a");
  expect(look.given).toEqual({ value: "a" });
  expect(first()).toBe("2");
  await answer("1", "b");
  await wait(600_000);
  expect(first()).toBe("1");
  const alone = openPool(1);
  const patient = await alone.askOne();
  await alone.wait(50_000);
  await alone.answer("1", "c");
  expect(patient.given).toEqual({ value: "c" });
});

it("a node whose answer is wrong is asked after the others for ten minutes", async () => {
  for (const isAskedAlone of [true, false]) {
    const { ask, askOne, answer, wait, asked, first } = openPool(3);
    const look = await (isAskedAlone ? askOne() : ask());
    for (const [name, value] of [
      ["1", "wrong"],
      ["2", "a"],
      ["3", "a"],
    ] as const)
      await answer(name, value);
    expect(look.given).toEqual(isAskedAlone ? { value: "a" } : "- a a");
    await askOne();
    expect(asked).toEqual(["2"]);
    await answer("2", "a");
    await wait(599_999);
    expect(first()).toBe("2");
    await wait(1);
    expect(first()).toBe("1");
  }
});
