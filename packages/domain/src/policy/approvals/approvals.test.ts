import { array, assert, constantFrom, integer, option, property, record, subarray } from "fast-check";
import { describe, expect, it } from "vitest";
import { comparedMax } from "../../access/held-keys.js";
import {
  type Approval,
  findIndependenceFault,
  type Initiator,
  mayApprove,
  tallyApprovals,
} from "./approvals.js";

/** One bit for each name, in the order in which the names occur. */
const names: string[] = [];
const lineageOf = (...ids: string[]) =>
  ids.reduce((lineage, id) => {
    if (!names.includes(id)) names.push(id);
    return lineage | (1n << BigInt(names.indexOf(id)));
  }, 0n);

const asked: Initiator = {
  initiatorId: "initiator",
  lineage: lineageOf("initiator"),
  requestedAtMs: 900,
  askedAtMs: 1000,
  resetAtMs: null,
  isSingleAdministrator: false,
};
const two = { approvals: 2, clientIds: ["a", "b", "c", "initiator"], expiresAfterSeconds: 60 };
const deadlineMs = 61_000;
const say = (clientId: string, more: Partial<Approval> = {}): Approval => ({
  clientId,
  decision: "approve",
  atMs: 2000,
  standingFault: null,
  lineage: lineageOf(clientId),
  authorityChangedAtMs: 0,
  ...more,
});
const held = (...keys: string[]) => keys.map((key) => ({ key, untilMs: null }));
const stateOf = (approvals: Approval[], nowMs = 3000) => tallyApprovals(two, asked, approvals, nowMs).state;

describe("approvals", () => {
  it("count once if their clients have a key in common", () => {
    const signed = (clientId: string, ...keys: string[]) => say(clientId, { publicKeys: held(...keys) });
    expect(stateOf([signed("a", "k"), signed("b", "k")])).toBe("pending");
    expect(stateOf([signed("a", "k"), signed("b", "l")])).toBe("approved");
    expect(stateOf([signed("a"), signed("b")])).toBe("approved");
    expect(stateOf([signed("a", "k", "l"), signed("b", "m", "l")])).toBe("pending");
    // The second decision of one client does not take the first from it.
    expect(stateOf([signed("a", "k"), signed("a", "k"), signed("b", "l")])).toBe("approved");
    const alone = { ...asked, isSingleAdministrator: true };
    expect(tallyApprovals(two, alone, [signed("a", "k"), signed("b", "k")], 3000).approved).toBe(1);
  });

  it("are pending until there are enough", () => {
    expect(tallyApprovals(two, asked, [say("a")], 3000)).toEqual({
      state: "pending",
      approved: 1,
      missing: 1,
      faults: [null],
      deadlineMs,
    });
    expect(tallyApprovals(two, asked, [say("a"), say("b"), say("c")], 3000)).toMatchObject({
      state: "approved",
      approved: 3,
      missing: 0,
    });
  });

  it("of programs do not count if people are required, but reject", () => {
    const people = { ...two, people: true };
    const ben = say("b", { isPerson: true });
    expect(tallyApprovals(people, asked, [say("a"), ben, say("c")], 3000)).toMatchObject({ missing: 1 });
    expect(tallyApprovals(people, asked, [ben, say("c", { isPerson: true })], 3000).state).toBe("approved");
    expect(tallyApprovals(people, asked, [ben, say("c", { decision: "reject" })], 3000).state).toBe(
      "rejected",
    );
  });

  it("of the same client count once", () => expect(stateOf([say("a"), say("a")])).toBe("pending"));
  it("of the initiator never count, even if it is listed", () =>
    expect(stateOf([say("a"), say("initiator")])).toBe("pending"));
  it("of clients that are not listed do not count", () =>
    expect(stateOf([say("a"), say("z")])).toBe("pending"));
  it("of clients that have been disabled since do not count", () =>
    expect(stateOf([say("a"), say("b", { standingFault: "client_disabled" })])).toBe("pending"));
  it("end with one rejection, even after enough approvals or if its client has been disabled since", () => {
    expect(stateOf([say("a", { decision: "reject" })])).toBe("rejected");
    expect(stateOf([say("a"), say("b"), say("b", { decision: "reject" })])).toBe("rejected");
    expect(stateOf([say("a", { decision: "reject", standingFault: "client_disabled" })])).toBe("rejected");
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

  it("do not count from a client that has a key of the initiator, also with a single administrator", () => {
    const approvals = [say("a", { publicKeys: held("k") }), say("b", { publicKeys: held("l") })];
    for (const isSingleAdministrator of [false, true]) {
      const initiator = { ...asked, isSingleAdministrator, publicKeys: held("m", "l") };
      expect(tallyApprovals(two, initiator, approvals, 3000)).toMatchObject({
        state: "pending",
        approved: 1,
      });
      const faults = approvals.map((one) => findIndependenceFault(initiator, one));
      expect(faults).toEqual([undefined, "shared_key"]);
    }
  });

  it("do not count with a key that either side had when the transaction was requested, or shortly before", () => {
    const initiator = { ...asked, requestedAtMs: 20_000 };
    const faultOf = (...untilMs: number[]) =>
      untilMs.map((until) => {
        const former = [{ key: "k", untilMs: until }];
        return [
          findIndependenceFault({ ...initiator, publicKeys: former }, say("b", { publicKeys: held("k") })),
          findIndependenceFault({ ...initiator, publicKeys: held("k") }, say("b", { publicKeys: former })),
        ];
      });
    expect(faultOf(25_000, 20_000, 10_000)).toEqual(Array(3).fill(["shared_key", "shared_key"]));
    expect(faultOf(9999)).toEqual([[undefined, undefined]]);
    const unknown = { ...initiator, publicKeys: [{ key: null, untilMs: 25_000 }] };
    expect(findIndependenceFault(unknown, say("b", { publicKeys: held("x") }))).toBe("shared_key");
    expect(findIndependenceFault(unknown, say("b"))).toBe(undefined);
  });

  it("do not count from a client whose lineage has too many keys to compare, of those that count", () => {
    const initiator = { ...asked, requestedAtMs: 20_000, publicKeys: held("k") };
    const keys = (count: number, untilMs: number | null) =>
      Array.from({ length: count }, (_, index) => ({ key: `key ${index}`, untilMs }));
    const faultOf = (lineageKeys: ReturnType<typeof keys>) =>
      findIndependenceFault(initiator, say("b", { lineageKeys }));
    expect(faultOf(keys(comparedMax, null))).toBe(undefined);
    expect(faultOf(keys(comparedMax + 1, null))).toBe("shared_key");
    expect(faultOf(keys(10 * comparedMax, 0))).toBe(undefined);
  });

  it("do not count with a key of a client in the lineage, except with a single administrator", () => {
    const [lineageKeys, own] = [held("k"), say("b", { publicKeys: held("k") })];
    expect(findIndependenceFault({ ...asked, lineageKeys }, own)).toBe("shared_key");
    expect(findIndependenceFault({ ...asked, publicKeys: held("k") }, say("b", { lineageKeys }))).toBe(
      "shared_key",
    );
    const alone = { ...asked, lineageKeys, isSingleAdministrator: true };
    expect(findIndependenceFault(alone, own)).toBe(undefined);
    expect(stateOf([say("a", { lineageKeys }), own])).toBe("pending");
    expect(stateOf([say("a", { lineageKeys }), say("b", { lineageKeys: held("l") })])).toBe("approved");
  });

  it("do not count from a client that shares lineage with the initiator", () => {
    const child = say("b", { lineage: lineageOf("b", "initiator") });
    expect(stateOf([say("a"), child])).toBe("pending");
    expect(findIndependenceFault(asked, child)).toBe("shared_lineage");
    const initiator = { ...asked, lineage: lineageOf("initiator", "root") };
    expect(findIndependenceFault(initiator, say("b", { lineage: lineageOf("b", "root") }))).toBe(
      "shared_lineage",
    );
  });
  it("do not count from a client that was changed when the transaction was requested, or later", () => {
    expect(stateOf([say("a"), say("b", { authorityChangedAtMs: 899 })])).toBe("approved");
    for (const authorityChangedAtMs of [900, 5000])
      expect(stateOf([say("a"), say("b", { authorityChangedAtMs })])).toBe("pending");
  });
  it("count once for clients of one lineage", () => {
    const [one, other] = ["a", "b"].map((id) => say(id, { lineage: lineageOf(id, "root") })) as [
      Approval,
      Approval,
    ];
    expect(stateOf([one, other])).toBe("pending");
    expect(stateOf([one, other, say("c")])).toBe("approved");
  });
  it("count whatever the order in which dependent and independent clients approve", () => {
    const bridge = say("a", { lineage: lineageOf("a", "x", "y") });
    const [one, other] = [
      say("b", { lineage: lineageOf("b", "x") }),
      say("c", { lineage: lineageOf("c", "y") }),
    ];
    expect(stateOf([one, other, bridge])).toBe("approved");
    expect(stateOf([bridge, one, other])).toBe("approved");
  });
  it("do not count for an initiator that was reset after its request", () =>
    expect(tallyApprovals(two, { ...asked, resetAtMs: 901 }, [say("a"), say("b")], 3000).state).toBe(
      "pending",
    ));
  it("count for an initiator that was reset only if it requested when no former credential was accepted any more", () => {
    const stateAfter = (ms: number) =>
      tallyApprovals(two, { ...asked, resetAtMs: asked.requestedAtMs - ms }, [say("a"), say("b")], 3000)
        .state;
    expect([5000, 10_000, 10_001].map(stateAfter)).toEqual(["pending", "pending", "approved"]);
  });
  it("count in spite of a shared lineage if there is a single administrator, but not from the initiator", () => {
    const initiator = { ...asked, isSingleAdministrator: true };
    const [a, b, own] = ["a", "b", "initiator"].map((id) =>
      say(id, { lineage: lineageOf(id, "initiator") }),
    ) as [Approval, Approval, Approval];
    expect(tallyApprovals(two, initiator, [a, b], 3000).state).toBe("approved");
    expect(tallyApprovals(two, initiator, [a, own], 3000).state).toBe("pending");
    expect(tallyApprovals(two, initiator, [a, { ...b, authorityChangedAtMs: 901 }], 3000).state).toBe(
      "pending",
    );
  });

  it("are complete only with enough distinct, listed and enabled clients before the deadline, and no rejection", () => {
    const clients = ["a", "b", "c", "d", "initiator"];
    const approval = record({
      clientId: constantFrom(...clients),
      decision: constantFrom("approve" as const, "approve" as const, "reject" as const),
      atMs: integer({ min: 1000, max: 70_000 }),
      standingFault: constantFrom(null, "client_disabled" as const),
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
            if (own.some((one) => one.decision === "approve" && one.standingFault === null)) count += 1;
            if (own.some((one) => one.decision === "reject")) isRefused = true;
          }
          const isLate = nowMs - 1000 >= needed.expiresAfterSeconds * 1000;
          const waiting = isLate ? "expired" : "pending";
          const expected = isRefused ? "rejected" : count >= needed.approvals ? "approved" : waiting;
          const made = said.map(({ clientId, ...more }) => say(clientId, more));
          expect(tallyApprovals(needed, asked, made, nowMs)).toMatchObject({
            state: expected,
            approved: count,
          });
        },
      ),
    );
  });
});
