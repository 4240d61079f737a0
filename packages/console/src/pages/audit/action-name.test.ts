import { expect, it } from "vitest";
import { actionName, actionNames, requestsFor } from "./action-name";

it("a refused request has the name of the act that it would have been, and others stay as they are", () => {
  expect(actionName("PUT /v1/policy")).toBe("policy.replace");
  for (const other of ["transaction.approve", "GET /v1/clients", "constructor"])
    expect(actionName(other)).toBe(other);
  for (const name of Object.values(actionNames).flat()) expect(name).toMatch(/^[a-z_]+\.[a-z_]+$/);
});

it("a refused decision is not shown as an approval, because it may have been a rejection", () => {
  expect(actionName("POST /v1/transactions/:id/approvals")).toBe("transaction.approve or transaction.reject");
});

it("requests are found by the name of their act, as a whole or by its beginning", () => {
  expect(requestsFor("transaction.reject", true)).toEqual(["POST /v1/transactions/:id/approvals"]);
  expect(requestsFor("transaction.c", false)).toEqual([
    "POST /v1/transactions",
    "POST /v1/transactions/batch",
    "POST /v1/transactions/:id/cancel",
  ]);
  expect(requestsFor("transaction.c", true)).toEqual([]);
});
