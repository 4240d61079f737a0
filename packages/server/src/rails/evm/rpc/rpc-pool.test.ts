import { expect, it } from "vitest";
import type { RpcEndpoint } from "./rpc-endpoint.js";
import { createRpcPool } from "./rpc-pool.js";

it("asks nodes that have contradicted the others after all others, and all if none is left", async () => {
  const odd = new Set<string>();
  const asked: string[] = [];
  const silent = new Set<string>();
  const endpoints = ["one", "two", "three"].map(
    (name): RpcEndpoint => ({
      name,
      call: async (calls) => {
        asked.push(name);
        return calls.map(() => (silent.has(name) ? { unavailable: "it does not answer" } : { result: name }));
      },
      pauseMs: () => 0,
      close: async () => undefined,
    }),
  );
  const pool = createRpcPool({
    ...{ network: "eip155:1", endpoints, monotonicMs: () => 0, timers: { after: () => () => undefined } },
    isOdd: (name) => odd.has(name),
  });
  const question = { method: "eth_chainId", params: [], read: (result: unknown) => result as string };
  const ask = async () => {
    asked.length = 0;
    await pool.ask([question]);
    return asked.join();
  };
  expect(await ask()).toBe("one");
  odd.add("one");
  expect(await ask()).toBe("two");
  silent.add("two").add("three");
  expect(await ask()).toBe("two,three,one");
  odd.add("two").add("three");
  expect(await ask()).toBe("one");
});

it("asks a node that leaves answers out after the others for ten minutes", async () => {
  const [asked, state]: [string[], { nowMs: number }] = [[], { nowMs: 0 }];
  const endpoints = ["one", "two"].map(
    (name): RpcEndpoint => ({
      name,
      call: async (calls) => {
        asked.push(name);
        const omitted = { unavailable: "it is not answered", isWrong: true } as const;
        return calls.map(() => (name === "one" ? omitted : { result: name }));
      },
      pauseMs: () => 0,
      close: async () => undefined,
    }),
  );
  const timers = { after: () => () => undefined };
  const pool = createRpcPool({ network: "eip155:1", endpoints, monotonicMs: () => state.nowMs, timers });
  const question = { method: "eth_chainId", params: [], read: (result: unknown) => result as string };
  for (let times = 0; times < 3; times++) await pool.ask([question]);
  expect(asked.join()).toBe("one,two,two,two");
  state.nowMs = 600_000;
  await pool.ask([question]);
  expect(asked.slice(4).join()).toBe("one,two");
});
