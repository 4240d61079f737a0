import {
  array,
  assert,
  boolean,
  constantFrom,
  integer,
  option,
  property,
  record,
  subarray,
} from "fast-check";
import { describe, expect, it } from "vitest";
import { type Approval, mayApprove, tallyApprovals } from "./approvals.js";

const asked = { initiatorId: "initiator", askedAtMs: 1000 };
const two = { approvals: 2, clientIds: ["a", "b", "c", "initiator"], expiresAfterSeconds: 60 };
const deadlineMs = 61_000;
const say = (clientId: string, more: Partial<Approval> = {}): Approval => ({
  clientId,
  decision: "approve",
  atMs: 2000,
  isEnabled: true,
  ...more,
});
const stateOf = (approvals: Approval[], nowMs = 3000) => tallyApprovals(two, asked, approvals, nowMs).state;

describe("approvals", () => {
  it("are pending until there are enough", () => {
    expect(tallyApprovals(two, asked, [say("a")], 3000)).toEqual({
      state: "pending",
      approved: 1,
      missing: 1,
      deadlineMs,
    });
    expect(tallyApprovals(two, asked, [say("a"), say("b"), say("c")], 3000)).toMatchObject({
      state: "approved",
      approved: 3,
      missing: 0,
    });
  });

  it("of the same client count once", () => expect(stateOf([say("a"), say("a")])).toBe("pending"));
  it("of the initiator never count, even if it is listed", () =>
    expect(stateOf([say("a"), say("initiator")])).toBe("pending"));
  it("of clients that are not listed do not count", () =>
    expect(stateOf([say("a"), say("z")])).toBe("pending"));
  it("of clients that have been disabled since do not count", () =>
    expect(stateOf([say("a"), say("b", { isEnabled: false })])).toBe("pending"));
  it("end with one rejection, even after enough approvals or if its client has been disabled since", () => {
    expect(stateOf([say("a", { decision: "reject" })])).toBe("rejected");
    expect(stateOf([say("a"), say("b"), say("b", { decision: "reject" })])).toBe("rejected");
    expect(stateOf([say("a", { decision: "reject", isEnabled: false })])).toBe("rejected");
  });
  it("cannot be ended by a client that may not approve", () =>
    expect(stateOf([say("z", { decision: "reject" }), say("initiator", { decision: "reject" })])).toBe(
      "pending",
    ));
  it("do not count at or after the deadline", () => {
    expect(stateOf([say("a"), say("b", { atMs: deadlineMs })], deadlineMs)).toBe("expired");
    expect(stateOf([say("a"), say("b", { atMs: deadlineMs - 1 })], deadlineMs)).toBe("approved");
    expect(stateOf([say("a")], deadlineMs - 1)).toBe("pending");
    expect(stateOf([say("a", { decision: "reject", atMs: deadlineMs })], deadlineMs)).toBe("expired");
  });
  it("may come from any client except the initiator if no clients are listed", () => {
    const anybody = { ...two, clientIds: null };
    expect(mayApprove(anybody, "initiator", "z")).toBe(true);
    expect(mayApprove(anybody, "initiator", "initiator")).toBe(false);
    expect(tallyApprovals(anybody, asked, [say("y"), say("z")], 3000).state).toBe("approved");
  });

  it("are complete only with enough distinct, listed and enabled clients before the deadline, and no rejection", () => {
    const clients = ["a", "b", "c", "d", "initiator"];
    const approval = record({
      clientId: constantFrom(...clients),
      decision: constantFrom("approve" as const, "approve" as const, "reject" as const),
      atMs: integer({ min: 1000, max: 70_000 }),
      isEnabled: boolean(),
    });
    const requirement = record({
      approvals: integer({ min: 1, max: 4 }),
      clientIds: option(subarray(clients)),
      expiresAfterSeconds: integer({ min: 1, max: 80 }),
    });
    return assert(
      property(
        requirement,
        array(approval, { maxLength: 8 }),
        integer({ min: 1000, max: 99_000 }),
        (needed, said, nowMs) => {
          let count = 0;
          let isRefused = false;
          for (const client of clients) {
            const isListed = needed.clientIds === null || needed.clientIds.indexOf(client) >= 0;
            if (client === "initiator" || !isListed) continue;
            const own = said.filter(
              (one) => one.clientId === client && one.atMs - 1000 < needed.expiresAfterSeconds * 1000,
            );
            if (own.some((one) => one.decision === "approve" && one.isEnabled)) count += 1;
            if (own.some((one) => one.decision === "reject")) isRefused = true;
          }
          const isLate = nowMs - 1000 >= needed.expiresAfterSeconds * 1000;
          const waiting = isLate ? "expired" : "pending";
          const expected = isRefused ? "rejected" : count >= needed.approvals ? "approved" : waiting;
          expect(tallyApprovals(needed, asked, said, nowMs)).toMatchObject({
            state: expected,
            approved: count,
          });
        },
      ),
    );
  });
});
