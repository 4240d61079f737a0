import { describe, expect, it } from "vitest";
import { endOfStop, maySend, stopSigned, stopUnsigned, type UnsignedHolds } from "./stop-payment.js";

const free: UnsignedHolds = {
  ...{ cancelRequested: false, isFrozen: false, isSuspended: false, isDisabled: false },
  ...{ isDelisted: false, isExpired: false },
};

/** As the table in docs/guides/chains.md. */
const table = [
  // What is the case, without a signature, with one, whether it is sent again, and the end.
  [{}, undefined, undefined, true, undefined],
  [{ cancelRequested: true }, "CANCEL_REQUESTED", "CANCEL_REQUESTED", true, { kind: "cancel" }],
  [{ isFrozen: true }, "WALLET_FROZEN", "WALLET_FROZEN", false, { kind: "fail", failure: "WALLET_FROZEN" }],
  [{ isSuspended: true }, "TENANT_SUSPENDED", "TENANT_SUSPENDED", false, { kind: "cancel" }],
  [{ isDisabled: true }, "CLIENT_DISABLED", undefined, false, { kind: "cancel" }],
  [{ isExpired: true }, "EXPIRED", undefined, true, { kind: "fail", failure: "EXPIRED" }],
  [
    { isDelisted: true },
    "ADDRESS_NOT_LISTED",
    undefined,
    true,
    { kind: "fail", failure: "ADDRESS_NOT_LISTED" },
  ],
] as const;

describe("a payment that has a nonce", () => {
  it.each(table)("with %j is stopped as the table says", (holds, unsigned, signed, isSent, end) => {
    const given = { ...free, ...holds };
    expect([stopUnsigned(given), stopSigned(given), maySend(given)]).toEqual([unsigned, signed, isSent]);
    if (unsigned !== undefined) expect(endOfStop(unsigned)).toEqual(end);
  });

  it("fails for what keeps it from being paid, if the signer has bound it to its nonce", () => {
    expect(endOfStop("WOULD_REVERT")).toEqual({ kind: "fail", failure: "WOULD_REVERT" });
    expect(endOfStop("FEE_TOO_HIGH")).toEqual({ kind: "fail", failure: "FEE_TOO_HIGH" });
  });

  it("is cancelled by a client rather than by what came later", () => {
    const all: UnsignedHolds = {
      ...{ cancelRequested: true, isFrozen: true, isSuspended: true, isDisabled: true },
      ...{ isDelisted: true, isExpired: true },
    };
    expect([stopUnsigned(all), stopSigned(all)]).toEqual(["CANCEL_REQUESTED", "CANCEL_REQUESTED"]);
  });
});
