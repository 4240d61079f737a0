import { afterEach, expect, it, vi } from "vitest";

afterEach(() => {
  vi.unstubAllGlobals();
});

it("logging out forgets what its person typed in the tab, and nothing that was sent or that others typed", async () => {
  // The client of the page, which the module loads, is made for its origin.
  vi.stubGlobal("location", new URL("http://localhost/console"));
  const { forgetDrafts } = await import("./use-draft");
  const kept = {
    "bursar.draft.cli_1.payment": JSON.stringify({ amount: "2", sent: { amount: "2" } }),
    "bursar.draft.cli_10.payment": JSON.stringify({ amount: "3" }),
    "bursar.draft.cli_2.payment": JSON.stringify({ amount: "4" }),
    other: "",
  };
  const storage: Record<string, string> = {
    ...kept,
    "bursar.draft.cli_1.order": JSON.stringify({ size: "1" }),
  };
  const methods = {
    getItem: { value: (name: string) => storage[name] ?? null },
    removeItem: { value: (name: string) => delete storage[name] },
  };
  vi.stubGlobal("sessionStorage", Object.defineProperties(storage, methods));
  forgetDrafts("cli_1");
  expect({ ...storage }).toEqual(kept);
});
