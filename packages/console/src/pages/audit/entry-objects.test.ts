import { expect, it } from "vitest";
import { entryObjects } from "./entry-objects";

it("what an entry says was changed is no object", () => {
  const objects = [
    "cli_1",
    "name:Grace%20H.",
    "name_before:Grace",
    "scope_added:wallets:read",
    "https://a.example/b",
  ];
  expect(entryObjects({ object: null, objects })).toEqual({
    ids: ["cli_1", "https://a.example/b"],
    changes: ["name:Grace H.", "name_before:Grace", "scope_added:wallets:read"],
  });
  expect(entryObjects({ object: "wlt_1", objects: [] })).toEqual({ ids: ["wlt_1"], changes: [] });
  expect(entryObjects({ object: null, objects: ["name:%"] }).changes).toEqual(["name:%"]);
});
