import { describe, expect, it } from "vitest";
import { alterId, idsLike } from "./altered-ids.js";

const ids = [
  "tx_018f5c2e",
  "-2..86jjdtm_",
  "86jjdtm%",
  "__",
  "%",
  "7",
  "A",
  "..",
  ".x",
  "ab.",
  "mv/1/x97",
  "zápis-✓",
  "😀a",
  "a😀",
  "😀",
  "wJalrXUtnFEMI==",
  "12",
];

describe("an id that is altered", () => {
  it.each(ids)("is never the id %s itself, and can be sent", (id) => {
    for (const altered of [alterId(id), ...idsLike(id)]) {
      expect(altered).not.toBe(id);
      expect(altered).not.toBe("");
      expect(decodeURIComponent(encodeURIComponent(altered))).toBe(altered);
    }
  });

  it.each(ids)("of %s is none that another transaction has", (id) => {
    const known = new Set([id, alterId(id), ...idsLike(id)]);
    expect(known.has(alterId(id, known))).toBe(false);
    expect(idsLike(id, known)).toEqual([]);
  });

  it("has a pattern also if the id ends with the sign of one", () => {
    expect(idsLike("ab1_")).toEqual(["ab1_x7", "ab1", "ab__", "ab%"]);
    expect(idsLike("ab1%")).toEqual(["ab1%x7", "ab1", "ab_%", "ab%"]);
    expect(idsLike("tx_01")).toEqual(["tx_01x7", "tx_0", "tx_0_", "tx_0%"]);
  });

  it("leads to no other path", () => {
    expect(idsLike(".x")).toEqual([".xx7", "._", ".%"]);
  });
});
