import { expect, it } from "vitest";
import { cancellationNote, mayBeCancelled, noEntriesNote } from "./transaction-stage";

const stage = <State extends Parameters<typeof mayBeCancelled>[0]["state"]>(
  state: State,
  kind: "payout" | "transfer" | "deposit" = "payout",
  network = "eip155:1",
) => ({ state, kind, network });

it("a payment is offered for cancellation until it is in a block, and a deposit never", () => {
  for (const state of ["accepted", "awaiting_approval", "processing", "broadcast"] as const) {
    expect([state, mayBeCancelled(stage(state))]).toEqual([state, true]);
    expect([state, mayBeCancelled(stage(state, "deposit"))]).toEqual([state, false]);
  }
  for (const state of ["confirming", "completed", "rejected", "failed", "cancelled"] as const)
    expect([state, mayBeCancelled(stage(state))]).toEqual([state, false]);
});

it("a cancellation says what it does to a payment that its network may have", () => {
  for (const state of ["processing", "broadcast"] as const) {
    expect(cancellationNote(stage(state))).toMatch(/network fee.*If a block includes the payment first/);
    expect(cancellationNote(stage(state, "transfer", "book"))).toBe("Nothing is paid.");
  }
  expect(cancellationNote(stage("awaiting_approval"))).not.toContain("fee");
});

it("a payment without entries says what is held, and one that has ended that nothing was moved", () => {
  expect(noEntriesNote(stage("confirming"))).toMatch(/amount and the network fee are held.*block is final/);
  expect(noEntriesNote(stage("confirming", "deposit"))).toContain("credited when its block is final");
  expect(noEntriesNote(stage("awaiting_approval", "transfer", "book"))).toMatch(/held in the wallet/);
  expect(noEntriesNote(stage("accepted"))).not.toContain("are held");
  for (const state of ["completed", "rejected", "failed", "cancelled"] as const)
    expect(noEntriesNote(stage(state))).toBe("Nothing was moved.");
});
