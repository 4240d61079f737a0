import { expect, it } from "vitest";
import { type CredentialUse, createCredentialUses } from "./credential-uses.js";

it("writes each use of a passkey, and that of other credentials once a minute", async () => {
  const written: CredentialUse[] = [];
  let nowMs = 0;
  const uses = createCredentialUses({
    write: async (some) => void written.push(...some),
    onError: (error) => expect.fail(String(error)),
    now: () => nowMs,
  });
  for (nowMs of [0, 40_000, 61_000]) {
    uses.record("key", "key of a program");
    uses.recordPasskey("passkey");
  }
  await uses.close();
  const timesOf = (id: string) => written.filter((use) => use.id === id).map(({ usedAt }) => +usedAt);
  expect(timesOf("key of a program")).toEqual([0, 61_000]);
  expect(timesOf("passkey")).toEqual([0, 40_000, 61_000]);
});
