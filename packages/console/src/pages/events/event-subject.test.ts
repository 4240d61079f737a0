import type { BursarEvent } from "@bursar/client";
import { describe, expect, it } from "vitest";
import { subjectOf } from "./event-subject";

describe("what an event has changed", () => {
  const ofWallet = (frozen: boolean, before: { previous_state: string; previous_frozen: boolean }) =>
    subjectOf({
      event: "wallet.updated",
      data: {
        wallet: { id: "wlt_1", state: "active", frozen, frozen_reason: frozen ? "a lost laptop" : null },
        ...before,
      },
    } as BursarEvent);

  it("is that a wallet was frozen, with the reason, or is active again", () => {
    const [active, frozen] = [false, true].map((previous_frozen) => ({
      previous_state: "active",
      previous_frozen,
    })) as [Parameters<typeof ofWallet>[1], Parameters<typeof ofWallet>[1]];
    expect(ofWallet(true, active)).toEqual({
      ...{ id: "wlt_1", state: "frozen", previous: "active", reason: "a lost laptop" },
    });
    expect(ofWallet(false, frozen)).toEqual({ id: "wlt_1", state: "active", previous: "frozen" });
    const created = { previous_state: "creating", previous_frozen: false };
    expect(ofWallet(false, created)).toMatchObject({ previous: "creating" });
    // Only the reason has changed.
    expect(ofWallet(true, frozen)).toMatchObject({ state: "frozen", previous: undefined });
  });

  it("is not a state before for what did not exist", () => {
    const order = { event: "order.updated", data: { order: { id: "ord_1", state: "open" } } };
    const created = { ...order, data: { ...order.data, previous_state: "none" } } as BursarEvent;
    expect(subjectOf(created)).toEqual({ id: "ord_1", state: "open", previous: undefined });
    const checkpoint = {
      event: "audit.checkpoint",
      data: { checkpoint: { number: 52 }, previous_state: "none" },
    };
    expect(subjectOf(checkpoint as BursarEvent)).toEqual({
      ...{ id: undefined, state: "signed up to entry 52", previous: undefined },
    });
  });
});
