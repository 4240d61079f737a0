import { accountName } from "@bursar/domain";
import { expect, it } from "vitest";
import type { ClaimedTransaction } from "../app/transactions/settlement.js";
import { bookRail } from "../rails/book/book-rail.js";
import { decideBatch } from "./decide-batch.js";

const acceptedMs = 0x019b_0000_0000;
const claimed: ClaimedTransaction = {
  tenantId: "t",
  id: "019b0000-0000-7000-8000-000000000000",
  state: "accepted",
  version: 1,
  clientId: "c",
  asset: "USD",
  amount: 10n,
  sourceWalletId: "s",
  destinationWalletId: "d",
  expiresAt: null,
  createdAt: new Date(acceptedMs),
  sourceIsFrozen: false,
  sourcePurpose: "treasury",
  network: "book",
  needsJudgement: false,
  approval: null,
};

function decideAt(ms: number, expiresAt: Date | null) {
  const account = (accountId: string) => accountName({ tenantId: "t", accountId, asset: "USD" });
  const accounts = new Map(["s", "d"].map((owner) => [account(owner), { available: 10n, held: 0n }]));
  const rails = new Map([[bookRail.network, bookRail]]);
  const facts = { accounts, usage: new Map(), rails, policies: new Map(), now: new Date(ms) };
  const [settlement] = decideBatch([{ ...claimed, expiresAt }], facts);
  return { occurredMs: settlement?.occurredAt.getTime(), failure: settlement?.decision?.failure };
}

it("puts nothing before the acceptance, however far this clock is behind that of whoever accepted", () => {
  expect(decideAt(acceptedMs - 5000, null)).toEqual({ occurredMs: acceptedMs, failure: null });
  expect(decideAt(acceptedMs + 5000, null)).toEqual({ occurredMs: acceptedMs + 5000, failure: null });
});

it("measures expiry by the time that it writes down", () => {
  const expiresAt = new Date(acceptedMs - 1000);
  expect(decideAt(acceptedMs - 5000, expiresAt)).toEqual({ occurredMs: acceptedMs, failure: "EXPIRED" });
});
