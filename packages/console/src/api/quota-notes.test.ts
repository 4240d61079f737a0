import { describe, expect, it } from "vitest";
import { createQuotaNotes } from "./quota-notes";

const headers = (policy: string, state: string) =>
  new Headers({ "RateLimit-Policy": policy, RateLimit: state });

describe("notes of quotas", () => {
  it("wait until half of the quota is there, less the time that has passed", () => {
    let nowMs = 1000;
    const notes = createQuotaNotes(() => nowMs);
    expect(notes.msUntilHalf("manage")).toBe(0);
    notes.note(headers('"manage";q=500;w=5', '"manage";r=150;t=4'));
    expect(notes.msUntilHalf("manage")).toBe(1000);
    expect(notes.msUntilHalf("read")).toBe(0);
    nowMs += 400;
    expect(notes.msUntilHalf("manage")).toBe(600);
    nowMs += 5000;
    expect(notes.msUntilHalf("manage")).toBe(0);
  });

  it("heed the quota of the tenant, if less of it is left", () => {
    const notes = createQuotaNotes(() => 0);
    const policy = '"manage";q=500;w=5, "tenant-manage";q=1000;w=10';
    notes.note(headers(policy, '"manage";r=500;t=0, "tenant-manage";r=100;t=9'));
    expect(notes.msUntilHalf("manage")).toBe(4000);
  });

  it("ignore responses without the headers", () => {
    const notes = createQuotaNotes(() => 0);
    notes.note(new Headers({ RateLimit: '"manage";r=0;t=9' }));
    expect(notes.msUntilHalf("manage")).toBe(0);
  });
});
