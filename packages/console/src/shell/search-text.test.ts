import { expect, it } from "vitest";
import { parseSearch, stringifySearch } from "./search-text";

const references = [
  "2031",
  "true",
  "null",
  "1e3",
  "20311234567890123456",
  "{}",
  '"a"',
  "a b&c=d+%",
  "[1]",
  "ü",
];

it("every text in the address is that text, whatever else it could be read as", () => {
  for (const reference of references) {
    const text = stringifySearch({ reference, state: undefined });
    expect([text.slice(0, 11), parseSearch(text)]).toEqual(["?reference=", { reference }]);
  }
  expect(parseSearch("?reference=2031&state=completed")).toEqual({ reference: "2031", state: "completed" });
});

it("an address without filters has no question mark", () => {
  expect([stringifySearch({}), stringifySearch({ state: undefined })]).toEqual(["", ""]);
  expect(parseSearch("")).toEqual({});
});
