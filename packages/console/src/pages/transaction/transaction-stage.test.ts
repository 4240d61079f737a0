import type { Transaction } from "@bursar/client";
import { expect, it } from "vitest";
import {
  cancellationNote,
  mayBeCancelled,
  mayBeSpedUp,
  noEntriesNote,
  whenChanged,
} from "./transaction-stage";

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

it("a payment is offered to be sped up while it waits for a block and nobody has asked to cancel it", () => {
  const cancel_request = {
    requested_at: "2026-11-19T08:00:00Z",
    requested_by: { type: "operator", client_id: null },
  } as const;
  expect(mayBeSpedUp({ ...stage("broadcast"), cancel_request: null })).toBe(true);
  expect(mayBeSpedUp({ ...stage("broadcast"), cancel_request })).toBe(false);
  expect(mayBeSpedUp({ ...stage("broadcast", "deposit"), cancel_request: null })).toBe(false);
  for (const state of ["processing", "confirming", "completed"] as const)
    expect([state, mayBeSpedUp({ ...stage(state), cancel_request: null })]).toEqual([state, false]);
});

it("a requested cancellation stays in sight when an event comes, until the payment ends", () => {
  const cancel_request = {
    requested_at: "2026-11-19T08:00:00Z",
    requested_by: { type: "operator", client_id: null },
  } as const;
  const of = (version: number, state: string, request: typeof cancel_request | null) =>
    ({ version, state, cancel_request: request }) as Transaction;
  const known = of(3, "broadcast", cancel_request);
  expect(whenChanged(known, of(2, "processing", null))).toBe(known);
  expect(whenChanged(known, of(4, "confirming", null))).toEqual(of(4, "confirming", cancel_request));
  expect(whenChanged(known, of(5, "completed", null))).toEqual(of(5, "completed", null));
});

it("a payment without entries says what is held, and one that has ended that nothing was moved", () => {
  expect(noEntriesNote(stage("confirming"))).toMatch(/amount and the network fee are held.*block is final/);
  expect(noEntriesNote(stage("confirming", "deposit"))).toContain("credited when its block is final");
  expect(noEntriesNote(stage("awaiting_approval", "transfer", "book"))).toMatch(/held in the wallet/);
  expect(noEntriesNote(stage("accepted"))).not.toContain("are held");
  for (const state of ["completed", "rejected", "failed", "cancelled"] as const)
    expect(noEntriesNote(stage(state))).toBe("Nothing was moved.");
});
