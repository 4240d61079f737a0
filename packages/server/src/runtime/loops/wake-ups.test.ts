import { expect, it } from "vitest";
import { createWakeUps } from "./wake-ups.js";

it("wakes subscribers by notifications of other processes, and ignores what it cannot read", async () => {
  let receive: (payload: string) => void = () => undefined;
  const wakeUps = createWakeUps({
    openChannel: ({ onNotification }) => {
      receive = onNotification;
      return { notify: async () => undefined, isOpen: () => true, close: async () => undefined };
    },
    processId: "own",
  });
  const woken: unknown[] = [];
  wakeUps.subscribe("events", (tenantIds) => woken.push(tenantIds));
  for (const payload of [
    "",
    "x",
    "other events",
    "other nothing a",
    "own events a",
    "other events a,b",
    "other events any",
  ])
    receive(payload);
  expect(woken).toEqual([["a", "b"], "any"]);
  await wakeUps.close();
});
