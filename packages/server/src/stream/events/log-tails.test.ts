import { expect, it } from "vitest";
import { createLogTails } from "./log-tails.js";

it("a tail that is refreshed at any moment of a reading reads what was committed before", async () => {
  for (let moment = 0; moment < 12; moment++) {
    let reads = 0;
    const tails = createLogTails({
      listEvents: async () => {
        reads += 1;
        return [];
      },
      events: { readHeads: async () => new Map() },
      wakeUps: { subscribe: () => () => undefined },
      onError: () => undefined,
    });
    const tail = await tails.open("tenant");
    void tail.refresh();
    while (reads === 0) await undefined;
    for (let turn = 0; turn < moment; turn++) await undefined;
    const readsBefore = reads;
    await tail.refresh();
    expect([moment, reads > readsBefore]).toEqual([moment, true]);
    tails.close();
  }
});
