import type { BursarEvent } from "@bursar/client";
import { describe, expect, it } from "vitest";
import { subjectOf } from "./event-subject";

describe("the state of what an event is about", () => {
  const ofWallet = (frozen: boolean) =>
    ({
      event: "wallet.updated",
      data: { wallet: { id: "wlt_1", state: "active", frozen }, previous_state: "active" },
    }) as BursarEvent;

  it("is that of the wallet, and frozen if the wallet is", () => {
    expect(subjectOf(ofWallet(true))).toEqual({ id: "wlt_1", state: "frozen" });
    expect(subjectOf(ofWallet(false))).toEqual({ id: "wlt_1", state: "active" });
  });
});
