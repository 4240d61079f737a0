import { expect, it } from "vitest";
import type { Trade } from "../../app/markets/trade.js";
import { createTradeTail } from "./trades-channel.js";

it("a new follower gets a trade that was made since the position was read, even if nothing else happens", async () => {
  const sequences = [1, 2];
  const sent: string[] = [];
  const tail = createTradeTail(
    {
      name: "ETH-USD",
      presentTrade: ({ sequence }) => ({ sequence }) as never,
      view: { listen: () => () => undefined },
    },
    {
      lastTrade: async () => sequences.at(-1) ?? 0,
      listTradesAfter: async (_, after) =>
        sequences.filter((sequence) => sequence > after).map((sequence) => ({ sequence }) as Trade),
    },
    (error) => {
      throw error;
    },
  );
  expect(await tail.refresh()).toBe(2);
  sequences.push(3);
  tail.follow((frames) => sent.push(frames.toString("latin1")));
  await new Promise((resolve) => setImmediate(resolve));
  expect(sent.join("").match(/"sequence":\d/g)).toEqual(['"sequence":3']);
});
