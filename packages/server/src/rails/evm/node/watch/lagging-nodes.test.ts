import { expect, it } from "vitest";
import { createLaggingNodes, type LaggingNode } from "./lagging-nodes.js";

function watch() {
  const reported: LaggingNode[] = [];
  let nowMs = 0;
  const nodes = createLaggingNodes({
    names: ["one", "two", "three"],
    monotonicMs: () => nowMs,
    onLagging: (node) => reported.push(node),
  });
  const see = (seconds: number, finals: Record<string, number>) => {
    for (let second = 0; second < seconds; second++) {
      nowMs += 1000;
      nodes.see(new Map(Object.entries(finals)));
    }
    return nodes.read();
  };
  const wait = (seconds: number) => {
    nowMs += seconds * 1000;
    return nodes.read();
  };
  return { reported, see, wait };
}

it("a node that stands still is named once, when others have been ahead of it for a minute", () => {
  const { reported, see } = watch();
  expect(see(30, { one: 10, two: 10, three: 10 })).toEqual([false, false, false]);
  expect(see(50, { one: 11, two: 10, three: 12 })).toEqual([false, false, false]);
  expect(see(120, { one: 13, two: 10, three: 13 })).toEqual([false, true, false]);
  expect(reported).toEqual([{ name: "two", finalNumber: 10, highest: 13 }]);
  // It has caught up, and stands still once more.
  expect(see(1, { one: 13, two: 13, three: 13 })).toEqual([false, false, false]);
  expect(see(70, { one: 14, two: 13, three: 14 })).toEqual([false, true, false]);
  expect(reported).toHaveLength(2);
});

it("a node that is behind and gets on is not named", () => {
  const { reported, see } = watch();
  for (let block = 0; block < 100; block++) see(10, { one: block + 5, two: block, three: block + 5 });
  expect(reported).toEqual([]);
});

it("a node that does not answer is named", () => {
  const { reported, see } = watch();
  see(10, { one: 10, two: 10, three: 10 });
  expect(see(70, { one: 11, three: 11 })).toEqual([false, true, false]);
  expect(reported).toEqual([{ name: "two", finalNumber: undefined, highest: 11 }]);
});

it("nothing is said about nodes that this process does not look at any more", () => {
  const { reported, see, wait } = watch();
  see(100, { one: 10, two: 9, three: 10 });
  expect(wait(60)).toEqual([]);
  expect(see(1, { one: 20, two: 9, three: 20 })).toEqual([false, false, false]);
  expect(reported).toHaveLength(1);
});
