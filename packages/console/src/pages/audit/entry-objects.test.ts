import { expect, it } from "vitest";
import { changesText, entryObjects } from "./entry-objects";

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
    changes: [
      { name: "name", value: "Grace H." },
      { name: "name_before", value: "Grace" },
      { name: "scope_added", value: "wallets:read" },
    ],
  });
  expect(entryObjects({ object: "wlt_1", objects: [] })).toEqual({ ids: ["wlt_1"], changes: [] });
  const [broken] = entryObjects({ object: null, objects: ["name:%"] }).changes;
  expect(broken).toEqual({ name: "name", value: "%" });
});

it("a name that looks like other changes stays one change, on the page and in the file", () => {
  const typed = 'Grace", scope_added: "policies:write, role:admin';
  const { changes } = entryObjects({ object: null, objects: [`name:${encodeURIComponent(typed)}`] });
  expect(changes).toEqual([{ name: "name", value: typed }]);
  expect(changesText(changes)).toBe(`name: ${JSON.stringify(typed)}`);
  expect(changesText([...changes, { name: "role", value: "viewer" }])).toMatch(/", role: "viewer"$/);
});
