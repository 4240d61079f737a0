import type { Me, Person } from "@bursar/client";
import { expect, it } from "vitest";
import { explainKeptSessions } from "./sessions-to-end";

const all = ["people:manage", "clients:manage", "transactions:approve"];
const explain = (id: string, scopes: string[], own = all, single_administrator = false) =>
  explainKeptSessions(
    { id, scopes } as Pick<Person, "id" | "scopes">,
    { client: { id: "cli_own" }, token: { scopes: own }, tenant: { single_administrator } } as Me,
  );

it("the sessions of somebody who may do no more, and of oneself, can be ended", () => {
  expect(explain("cli_other", ["clients:manage"])).toBeUndefined();
  expect(explain("cli_own", all, ["clients:manage"])).toBeUndefined();
});

it("those of somebody who may do more or approves payments cannot, and the page says why", () => {
  expect(explain("cli_other", ["audit:read"])).toContain("lacks audit:read");
  expect(explain("cli_other", ["transactions:approve"])).toContain("approves payments");
  expect(explain("cli_other", ["transactions:approve"], all, true)).toBeUndefined();
});
