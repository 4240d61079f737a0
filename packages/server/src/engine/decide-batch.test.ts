import { accountName } from "@bursar/domain";
import { describe, expect, it } from "vitest";
import { createRails } from "../app/rails/rail.js";
import type { ClaimedPayment } from "../app/transactions/settlement.js";
import { bookRail } from "../rails/book/book-rail.js";
import { decideBatch } from "./decide-batch.js";

const acceptedMs = 0x019b_0000_0000;
const payment: ClaimedPayment = {
  tenantId: "t",
  id: "019b0000-0000-7000-8000-000000000000",
  kind: "transfer",
  state: "accepted",
  version: 1,
  clientId: "c",
  network: "book",
  asset: "USD",
  amount: 10n,
  sourceAccountId: "s",
  sourceWalletId: "s",
  destinationAccountId: "d",
  feeHold: null,
  expiresAt: null,
  createdAt: new Date(acceptedMs),
  requestedAtMs: acceptedMs,
  countedAt: null,
  sourceIsFrozen: false,
  isHeld: false,
  sourcePurpose: "treasury",
  market: null,
  destination: "own_wallet",
  needsJudgement: false,
  approval: null,
};

function decideAt(ms: number, claimed: readonly ClaimedPayment[], behind: readonly string[] = []) {
  const account = (accountId: string) => accountName({ tenantId: "t", accountId, asset: "USD" });
  const balances = new Map(["s", "d"].map((id) => [account(id), { available: 10n, held: 0n }]));
  const chain = { ...bookRail, network: "eip155:1", firstEvent: "begin" as const };
  const rails = createRails([bookRail, chain]);
  const now = new Date(ms);
  const facts = { balances, usage: new Map(), rails, policies: new Map(), now, behind: new Set(behind) };
  return decideBatch(claimed, facts).map(({ occurredAt, decision, heldUntil, actorId }) => ({
    occurredMs: occurredAt.getTime(),
    state: decision?.state,
    failure: decision?.failure,
    ...(heldUntil === undefined ? {} : { heldUntil }),
    ...(actorId === undefined ? {} : { actorId }),
  }));
}

it("puts nothing before the acceptance, however far this clock is behind that of the process that accepted", () => {
  const [early] = decideAt(acceptedMs - 5000, [payment]);
  expect(early).toEqual({ occurredMs: acceptedMs, state: "completed", failure: null });
  const [late] = decideAt(acceptedMs + 5000, [payment]);
  expect(late).toEqual({ occurredMs: acceptedMs + 5000, state: "completed", failure: null });
});

it("measures expiry by the time that it writes down", () => {
  const expiresAt = new Date(acceptedMs - 1000);
  const [expired] = decideAt(acceptedMs - 5000, [{ ...payment, expiresAt }]);
  expect(expired).toEqual({ occurredMs: acceptedMs, state: "failed", failure: "EXPIRED" });
});

it("shows each payment of a batch what the one before has left", () => {
  const states = decideAt(acceptedMs, [
    { ...payment, amount: 6n },
    { ...payment, amount: 6n },
    { ...payment, amount: 4n },
  ]).map(({ state, failure }) => failure ?? state);
  expect(states).toEqual(["completed", "INSUFFICIENT_FUNDS", "completed"]);
});

describe("a payment of a wallet whose chain or signer may be ahead of the books", () => {
  const onChain = { ...payment, network: "eip155:1" };
  const decide = (change: Partial<ClaimedPayment>, behind: readonly string[]) =>
    decideAt(acceptedMs, [{ ...onChain, ...change } as ClaimedPayment], behind)[0];

  it.each<[string, Partial<ClaimedPayment>, object]>([
    ["has expired", { expiresAt: new Date(acceptedMs - 1) }, { state: "failed", failure: "EXPIRED" }],
    ["is of a frozen wallet", { sourceIsFrozen: true }, { state: "failed", failure: "WALLET_FROZEN" }],
    ["is more than the wallet has", { amount: 11n }, { state: "failed", failure: "INSUFFICIENT_FUNDS" }],
  ])("does not end because it %s, and is looked at again", (_, change, end) => {
    const waiting = decide(change, ["s"]);
    expect(waiting).toMatchObject({ state: undefined });
    expect(waiting?.heldUntil).toEqual(new Date(acceptedMs + 10_000));
    expect(decide(change, [])).toMatchObject(end);
  });

  it("begins, also if its cancellation was requested, which its rail answers", () => {
    expect(decide({}, ["s"])).toMatchObject({ state: "processing" });
    expect(decide({ cancelRequested: true }, ["s"])).toMatchObject({ state: "processing" });
    const waiting = { cancelRequested: true, state: "awaiting_approval", approval: {} } as ClaimedPayment;
    expect(decide(waiting, ["s"])).toMatchObject({ state: "processing" });
  });

  it("is cancelled for those who requested it, when it can no longer have been made", () => {
    const cancelled = decide({ cancelRequested: true, cancelRequestedBy: "c1" }, []);
    expect(cancelled).toMatchObject({ state: "cancelled", actorId: "c1" });
  });
});
