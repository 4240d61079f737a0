import { expect, it } from "vitest";
import type { ReadyPayment } from "../../app/chain/chain-store.js";
import { chooseReady, createReadyTurns } from "./ready-turns.js";

it("looks at the first payments of a wallet again although others keep coming", () => {
  const walletId = "a";
  const turns = createReadyTurns();
  const choose = (ids: string[], lookedUpTo: Map<string, string | undefined>) => {
    const payments = ids.map((id) => ({ id, walletId }) as ReadyPayment);
    const looks = { isPassedOver: () => false, isBound: () => false, inFlightMax: 16 };
    return chooseReady(turns, { payments, lastWalletId: undefined, lookedUpTo }, looks);
  };
  // A thousand were held when they were looked at, and a thousand more.
  choose([], new Map([[walletId, "a0999"]]));
  choose([], new Map([[walletId, "a1999"]]));
  expect(turns.afterIds.get(walletId)).toBe("a1999");
  // In each look there is one payment that was just requested.
  let looks = 0;
  for (; looks < 1000 && turns.afterIds.has(walletId); looks++) choose([`a${2000 + looks}`], new Map());
  expect(looks).toBe(16);
  expect(turns.found.size).toBe(0);
});
