import { expect, it } from "vitest";
import { actionName, actionNames } from "./action-name";

it("a refused request has the name of the act that it would have been, and others stay as they are", () => {
  expect(actionName("POST /v1/transactions/:id/approvals")).toBe("transaction.approve");
  for (const other of ["transaction.approve", "GET /v1/clients", "constructor"])
    expect(actionName(other)).toBe(other);
  for (const name of Object.values(actionNames)) expect(name).toMatch(/^[a-z_]+\.[a-z_]+$/);
});
