import { expect, it } from "vitest";
import { editedScopes, scopeEditOf } from "./scope-edit";

it("the scopes that a person adds and removes are applied to those that are there now", () => {
  const edit = scopeEditOf(["orders:read", "transactions:write"], ["transactions:write", "events:read"]);
  expect(edit).toEqual({ added: ["events:read"], removed: ["orders:read"] });
  expect(editedScopes(["orders:read", "wallets:read"], edit)).toEqual(["wallets:read", "events:read"]);
});

it("what somebody else has added or removed already is neither added nor removed", () => {
  const present = ["events:read", "wallets:read"];
  const chosen = editedScopes(present, { added: ["events:read"], removed: ["orders:read"] });
  expect(chosen).toEqual(present);
  expect(scopeEditOf(present, chosen)).toEqual({ added: [], removed: [] });
});
