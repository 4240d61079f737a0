import { expect, it } from "vitest";
import { percentEncode } from "../http/percent-encode.js";
import { containsText } from "./delivery-items.js";

it("a reference with half of a surrogate pair is looked for in paths too", () => {
  expect(containsText("/v1/transactions/another", "reference\ud800")).toBe(false);
  expect(containsText("/v1/transactions/reference%EF%BF%BD", "reference\ud800")).toBe(true);
  expect(containsText({ path: "/v1/transactions/a%20b" }, "a b")).toBe(true);
  expect(percentEncode("\ud83d\ude00/")).toBe("%F0%9F%98%80%2F");
});
