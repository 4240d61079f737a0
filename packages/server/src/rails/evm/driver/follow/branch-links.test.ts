import { expect, it } from "vitest";
import { createBranchLinks } from "./branch-links.js";

const block = (number: number) => ({ number, hash: `0x${number}` });

it("leads to the first block whose parent was not read, or to where the caller ends", () => {
  const links = createBranchLinks(() => 0);
  for (const number of [9, 8, 7]) links.add(`0x${number}`, block(number - 1));
  expect(links.firstUnread(block(9), () => false)).toEqual(block(6));
  expect(links.firstUnread(block(9), ({ number }) => number === 8)).toEqual(block(8));
  expect(links.firstUnread(block(10), () => false)).toEqual(block(10));
});

it("ends at blocks that name themselves, or each other, as parents", () => {
  const links = createBranchLinks(() => 0);
  /** A loop without an end would hang the tests. */
  let looks = 0;
  const isEnd = () => {
    looks += 1;
    if (looks > 10) throw new Error("it does not end");
    return false;
  };
  links.add("0xself", { number: 199, hash: "0xself" });
  expect(links.firstUnread({ number: 200, hash: "0xself" }, isEnd)).toEqual({
    number: 199,
    hash: "0xself",
  });
  links.add("0xone", { number: 204, hash: "0xother" });
  links.add("0xother", { number: 299, hash: "0xone" });
  expect(links.firstUnread({ number: 205, hash: "0xone" }, isEnd)).toEqual({
    number: 204,
    hash: "0xother",
  });
  expect(links.firstUnread({ number: 205, hash: "0xother" }, isEnd)).toEqual({
    number: 205,
    hash: "0xother",
  });
});

it("forgets after a minute what one node has named as a parent", () => {
  let nowMs = 0;
  const links = createBranchLinks(() => nowMs);
  links.add("0x9", block(8));
  nowMs = 30_000;
  links.add("0x8", block(7));
  nowMs = 60_000;
  expect(links.firstUnread(block(9), () => false)).toEqual(block(9));
  expect(links.firstUnread(block(8), () => false)).toEqual(block(7));
});

it("keeps a bounded number of blocks, those that were read last", () => {
  const links = createBranchLinks(() => 0);
  for (let number = 5000; number > 0; number--) links.add(`0x${number}`, block(number - 1));
  expect(links.firstUnread(block(5000), () => false)).toEqual(block(5000));
  expect(links.firstUnread(block(4096), () => false)).toEqual(block(0));
});

it("gives each block once to be verified, the first ones and the last, and forgets one that was wrong", () => {
  const links = createBranchLinks(() => 0);
  expect(links.unverified(block(40))).toEqual([]);
  for (let number = 40; number > 10; number--) links.add(`0x${number}`, block(number - 1));
  const given = links.unverified(block(40));
  expect(given).toHaveLength(16);
  expect(given[0]).toEqual({ hash: "0x40", parentHash: "0x39" });
  expect(given.at(-1)).toEqual({ hash: "0x11", parentHash: "0x10" });
  expect(links.unverified(block(40))[0]).toEqual({ hash: "0x25", parentHash: "0x24" });
  expect(links.unverified(block(40))).toEqual([]);
  links.forget("0x20");
  expect(links.firstUnread(block(40), () => false)).toEqual(block(20));
  links.add("0x20", block(19));
  expect(links.unverified(block(40))).toEqual([{ hash: "0x20", parentHash: "0x19" }]);
});
