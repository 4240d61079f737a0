import { afterEach, expect, it, vi } from "vitest";
import { forgetInvitation, keepInvitation, keptInvitation } from "./kept-invitation";

afterEach(() => vi.unstubAllGlobals());

function stubStorage(): Map<string, string> {
  const stored = new Map<string, string>();
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
    removeItem: (key: string) => stored.delete(key),
  });
  return stored;
}

it("keeps an invitation for as long as it is valid", () => {
  const stored = stubStorage();
  keepInvitation("inv_1", 1000);
  expect(keptInvitation(1000 + 30 * 60_000 - 1)).toBe("inv_1");
  expect(keptInvitation(1000 + 30 * 60_000)).toBeUndefined();
  expect(stored.size).toBe(0);
});

it("forgets an invitation, and does not read what it has not written", () => {
  const stored = stubStorage();
  keepInvitation("inv_1", 0);
  forgetInvitation();
  expect(keptInvitation(0)).toBeUndefined();
  for (const value of ["inv_1", "null", "{}", `{"invitation":1,"at":0}`]) {
    stored.set("bursar-invitation", value);
    expect([value, keptInvitation(0)]).toEqual([value, undefined]);
  }
});

it("does without storage", () => {
  const refuse = () => {
    throw new Error("storage is blocked");
  };
  vi.stubGlobal("sessionStorage", { getItem: refuse, setItem: refuse, removeItem: refuse });
  keepInvitation("inv_1", 0);
  expect(keptInvitation(0)).toBeUndefined();
});
