import { BursarError } from "@bursar/client";
import { expect, it } from "vitest";
import { keptUntil, readUnanswered, removeOld } from "./stored-requests";
import { isFinalRefusal, refuseUnsent, wasNotMade } from "./was-not-made";

const day = 86_400_000;
const now = Date.parse("2026-11-18T00:00:00Z");
const item = (key: string, sentAtMs: number) =>
  JSON.stringify({ key, body: { reference: key }, sentAt: new Date(sentAtMs).toISOString() });

it("requests without an answer are shown by age, and none that is older than 30 days or cannot be read", () => {
  const items = [
    item("b", now - day),
    item("a", now - 2 * day),
    item("old", now - 30 * day),
    "{",
    "[]",
    "null",
  ];
  expect(readUnanswered(items, now).map(({ key }) => key)).toEqual(["a", "b"]);
  expect(keptUntil(new Date(now - 30 * day).toISOString())).toBe(new Date(now).toISOString());
});

it("old requests of everybody are removed from the browser, and nothing else is", () => {
  const kept = {
    "bursar.unanswered.cli_1.payment.a": item("a", now),
    "bursar.draft.cli_1.payment": "{}",
    other: "",
  };
  const storage = {
    ...kept,
    "bursar.unanswered.cli_1.payment.b": item("b", now - 31 * day),
    "bursar.unanswered.cli_2.order.c": item("c", now - 31 * day),
  } as Record<string, string>;
  const methods = {
    getItem: { value: (name: string) => storage[name] ?? null },
    removeItem: { value: (name: string) => delete storage[name] },
  };
  removeOld(Object.defineProperties(storage, methods) as unknown as Storage, now);
  expect({ ...storage }).toEqual(kept);
});

it("something was not created if it was refused at once, or was never valid", () => {
  const failed = (outcome: "unknown" | "refused", code = "INVALID_REQUEST", path?: string) =>
    new BursarError({
      code,
      message: "",
      outcome,
      attempts: 1,
      ...(path === undefined ? {} : { details: [{ path, reason: "" }] }),
    });
  expect(wasNotMade(failed("refused", "RATE_LIMITED"), false)).toBe(true);
  expect(wasNotMade(new Error("a wallet was named meanwhile"), false)).toBe(true);
  expect(wasNotMade(failed("unknown"), false)).toBe(false);
  // The quota, the policy or a limit refuses to ask again; the first attempt may have paid.
  for (const [code, path] of [
    ["RATE_LIMITED", undefined],
    ["POLICY_REJECTED", "policy.limit"],
    ["AMOUNT_OUT_OF_RANGE", "body.amount"],
  ] as const)
    expect([code, wasNotMade(failed("refused", code, path), true)]).toEqual([code, false]);
  expect(wasNotMade(failed("unknown", "INVALID_REQUEST", "body.amount"), true)).toBe(false);
  expect(wasNotMade(failed("refused", "INVALID_REQUEST", "body.amount"), true)).toBe(true);
  // The key belongs to something that was created.
  for (const isRepeated of [true, false])
    expect(wasNotMade(failed("refused", "IDEMPOTENCY_KEY_REUSED"), isRepeated)).toBe(false);
});

it("a refusal is final unless the same request is answered otherwise a moment later", () => {
  const failed = (status: number | undefined, outcome: "unknown" | "refused" = "refused") =>
    new BursarError({ code: "X", message: "", outcome, attempts: 1, status });
  for (const status of [400, 403, 404, 409, 422])
    expect([status, isFinalRefusal(failed(status))]).toEqual([status, true]);
  for (const status of [401, 408, 425, 429, 500, 503, undefined])
    expect([status, isFinalRefusal(failed(status))]).toEqual([status, false]);
  expect(isFinalRefusal(failed(422, "unknown"))).toBe(false);
  expect(isFinalRefusal(new Error("other"))).toBe(false);
});

it("what was not sent, because something could not be read before, has no unknown outcome", () => {
  const errorOf = (cause: Error) => {
    try {
      return refuseUnsent(cause);
    } catch (error) {
      return error as Error;
    }
  };
  const lost = new BursarError({ code: "TIMEOUT", message: "Too late.", outcome: "unknown", attempts: 5 });
  expect(errorOf(lost).message).toContain("Nothing was sent");
  expect([wasNotMade(errorOf(lost), false), wasNotMade(errorOf(lost), true)]).toEqual([true, false]);
  const named = new Error("a wallet was named meanwhile");
  expect(errorOf(named)).toBe(named);
});
