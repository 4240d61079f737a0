import { expect, it } from "vitest";
import { createWakeUps } from "./wake-ups.js";

it("hears what other processes say, and passes over what it does not understand", async () => {
  let say: (text: string) => void = () => undefined;
  const wakeUps = createWakeUps({
    openChannel: ({ onText }) => {
      say = onText;
      return { send: async () => undefined, close: async () => undefined };
    },
    processId: "own",
  });
  const heard: unknown[] = [];
  wakeUps.listen("events", (tenantIds) => heard.push(tenantIds));
  for (const text of [
    "",
    "x",
    "other events",
    "other nothing a",
    "own events a",
    "other events a,b",
    "other events any",
  ])
    say(text);
  expect(heard).toEqual([["a", "b"], "any"]);
  await wakeUps.close();
});
