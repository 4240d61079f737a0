import { describe, expect, it } from "vitest";
import type { ActivePolicy } from "../../policy/policy.js";
import type { ClaimedPayment, PendingApproval } from "../settlement.js";
import { createApprovalTally } from "./show-approval-tally.js";

const uuid = (last: number) => `018f0000-0000-7000-8000-00000000000${last}`;
const requestedAtMs = Date.UTC(2026, 0, 1);
const standing = {
  ...{ lineage: 1n, resetAtMs: null, isSingleAdministrator: false, isActive: true, isPerson: false },
  ...{ scopes: [], publicKeys: [], authorityChangedAtMs: 0 },
};

/** The tally of a payment that its only approver has approved. */
function tallyOf(facts: Partial<PendingApproval>) {
  const approval = {
    ...{ requirement: { approvals: 1, clientIds: null, expiresAfterSeconds: 3600 }, rule: "r" },
    ...{ policyVersion: 1, askedAt: new Date(requestedAtMs), initiator: standing },
    approvals: [
      {
        ...{ clientId: uuid(2), decision: "approve", atMs: requestedAtMs + 1, standingFault: null },
        ...{ lineage: 2n, authorityChangedAtMs: 0 },
      },
    ],
    ...{ isRejected: false, isDelisted: false },
    ...facts,
  } as PendingApproval;
  const payment = {
    ...{ id: uuid(3), tenantId: uuid(9), clientId: uuid(1), createdAt: new Date(requestedAtMs) },
    ...{ requestedAtMs, isHeld: false, approval },
  } as ClaimedPayment;
  const show = createApprovalTally({
    readOpenPayment: async () => payment,
    read: async () => ({ refused: "TRANSACTION_NOT_FOUND" }),
    policies: { peek: () => ({ version: 1 }) as ActivePolicy, load: () => Promise.reject() },
    now: () => requestedAtMs + 2,
  });
  return show({ principal: { tenantId: uuid(9) } } as Parameters<typeof show>[0], uuid(3));
}

describe("the tally of a payment to an address", () => {
  it("is approved while the address is on the allow-list", async () => {
    expect(await tallyOf({})).toMatchObject({ state: "approved", counted: 1 });
  });

  it("is rejected if the address was removed since, because it will not be paid", async () => {
    expect(await tallyOf({ isDelisted: true })).toMatchObject({ state: "rejected", counted: 1 });
  });
});
