import { describe, expect, it } from "vitest";
import { type BoundedGateLimits, createBoundedGate, type GateKey } from "./bounded-gate.js";

/** A gate whose work ends when the test says so. */
function createWorld(limits: BoundedGateLimits) {
  const gate = createBoundedGate(limits);
  const started: { name: string; end: () => void }[] = [];
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    started,
    settle,
    add: (key: GateKey, name = String(key), onWait?: (leave: () => void) => void) =>
      gate.run(key, () => new Promise<string>((end) => started.push({ name, end: () => end(name) })), onWait),
    /** Ends the work in the order in which it was started, until nothing is left. */
    endAll: async () => {
      await settle();
      for (let next = 0; next < started.length; next++) {
        started[next]?.end();
        await settle();
      }
      return started.map(({ name }) => name);
    },
  };
}

it("a bounded gate runs a few at once, lets some wait and refuses the rest", async () => {
  const world = createWorld({ concurrentMax: 2, waitingMax: 3, waitingOfKeyMax: 3 });
  const all = Array.from({ length: 8 }, () => world.add("a"));
  await world.settle();
  expect(world.started).toHaveLength(2);
  await world.endAll();
  const results = await Promise.all(all);
  expect(results).toEqual(["a", "a", "a", "a", "a", "full", "full", "full"]);
  const later = world.add("a");
  await world.endAll();
  expect(await later).toBe("a");
});

it("keys take turns, however many of one wait", async () => {
  const world = createWorld({ concurrentMax: 1, waitingMax: 100, waitingOfKeyMax: 50 });
  for (let number = 0; number < 5; number++) void world.add("flood", `flood ${number}`);
  void world.add("client", "client");
  void world.add("other", "other");
  const order = await world.endAll();
  expect(order).toEqual(["flood 0", "flood 1", "client", "other", "flood 2", "flood 3", "flood 4"]);
});

it("a key that has filled its share does not take the room of another", async () => {
  const world = createWorld({ concurrentMax: 1, waitingMax: 4, waitingOfKeyMax: 2 });
  const flood = Array.from({ length: 10 }, () => world.add("flood"));
  const client = world.add("client");
  await world.endAll();
  expect(await client).toBe("client");
  expect((await Promise.all(flood)).filter((result) => result === "full")).toHaveLength(7);
});

it("work that throws ends its turn", async () => {
  const gate = createBoundedGate({ concurrentMax: 1, waitingMax: 1, waitingOfKeyMax: 1 });
  await expect(gate.run("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await gate.run("a", async () => 7)).toBe(7);
});

it("many keys that have filled all places together do not keep out another one", async () => {
  const world = createWorld({ concurrentMax: 1, waitingMax: 64, waitingOfKeyMax: 4 });
  const flood = Array.from({ length: 64 * 4 }, (_, number) => world.add(`block ${number % 16}`));
  const client = world.add("client");
  await world.endAll();
  expect(await client).toBe("client");
  expect((await Promise.all(flood)).filter((result) => result !== "full")).toHaveLength(64);
});

it("places are not taken from a key that has no more than the others", async () => {
  const world = createWorld({ concurrentMax: 1, waitingMax: 3, waitingOfKeyMax: 3 });
  const all = ["running", "a", "b", "c", "d"].map((key) => world.add(key));
  await world.endAll();
  expect(await Promise.all(all)).toEqual(["running", "a", "b", "c", "full"]);
});

it("one key runs no more at once than it may, and others run beside it", async () => {
  const world = createWorld({
    concurrentMax: 4,
    concurrentOfKeyMax: 2,
    waitingMax: 100,
    waitingOfKeyMax: 50,
  });
  const ofA = Array.from({ length: 5 }, () => world.add("a"));
  await world.settle();
  expect(world.started.map(({ name }) => name)).toEqual(["a", "a"]);
  const ofB = Array.from({ length: 3 }, () => world.add("b"));
  await world.settle();
  expect(world.started.map(({ name }) => name)).toEqual(["a", "a", "b", "b"]);
  // The place of the one that ends goes to a key that may run one more: here the same.
  world.started[2]?.end();
  await world.settle();
  expect(world.started.map(({ name }) => name)).toEqual(["a", "a", "b", "b", "b"]);
  world.started[3]?.end();
  world.started[4]?.end();
  await world.settle();
  expect(world.started).toHaveLength(5);
  await world.endAll();
  expect(await Promise.all([...ofA, ...ofB])).toHaveLength(8);
});

describe("the members of one key", () => {
  const limits = { concurrentMax: 4, concurrentOfKeyMax: 1, waitingMax: 100, waitingOfKeyMax: 50 };
  const of = (member: string) => ({ key: "tenant", member });

  it("take turns, however many of one wait", async () => {
    const world = createWorld(limits);
    for (let number = 0; number < 5; number++) void world.add(of("flood"), `flood ${number}`);
    void world.add(of("officer"), "officer");
    void world.add(of("other"), "other");
    const order = await world.endAll();
    expect(order).toEqual(["flood 0", "flood 1", "officer", "other", "flood 2", "flood 3", "flood 4"]);
  });

  it("have one turn of their key between them while another key has one", async () => {
    const world = createWorld({ ...limits, concurrentMax: 1 });
    for (const member of ["a", "b", "c"]) void world.add(of(member), member);
    void world.add("neighbour");
    expect(await world.endAll()).toEqual(["a", "b", "neighbour", "c"]);
  });

  it("run no more at once than they may, and leave the rest of their key to others", async () => {
    const world = createWorld({ ...limits, concurrentOfKeyMax: 3, concurrentOfMemberMax: 2 });
    for (let number = 0; number < 4; number++) void world.add(of("flood"), "flood");
    void world.add(of("officer"), "officer");
    await world.settle();
    expect(world.started.map(({ name }) => name)).toEqual(["flood", "flood", "officer"]);
    // The place of the officer stays free for another member.
    world.started[2]?.end();
    await world.settle();
    expect(world.started).toHaveLength(3);
    void world.add(of("other"), "other");
    await world.settle();
    expect(world.started.map(({ name }) => name)).toEqual(["flood", "flood", "officer", "other"]);
    expect(await world.endAll()).toHaveLength(6);
  });

  it("wait within a bound of their own", async () => {
    const world = createWorld({ ...limits, waitingOfMemberMax: 2 });
    const flood = Array.from({ length: 5 }, () => world.add(of("flood"), "flood"));
    const officer = world.add(of("officer"), "officer");
    await world.endAll();
    expect(await Promise.all(flood)).toEqual(["flood", "flood", "flood", "full", "full"]);
    expect(await officer).toBe("officer");
  });

  it("do not keep out another one if they have filled all places of the key together", async () => {
    const world = createWorld({ ...limits, waitingOfKeyMax: 4, waitingOfMemberMax: 2 });
    const flood = ["x", "x", "x", "y", "y"].map((member) => world.add(of(member), member));
    const officer = world.add(of("officer"), "officer");
    await world.endAll();
    expect(await officer).toBe("officer");
    expect((await Promise.all(flood)).filter((result) => result === "full")).toHaveLength(1);
  });
});

it("one that leaves while it waits gives up its place, and one that has its turn keeps it", async () => {
  const world = createWorld({ concurrentMax: 1, waitingMax: 1, waitingOfKeyMax: 1 });
  const leaves: (() => void)[] = [];
  const first = world.add("a", "first", (leave) => leaves.push(leave));
  const second = world.add("a", "second", (leave) => leaves.push(leave));
  await world.settle();
  expect(leaves).toHaveLength(1);
  leaves[0]?.();
  expect(await second).toBe("full");
  const third = world.add("a", "third", (leave) => leaves.push(leave));
  await world.settle();
  world.started[0]?.end();
  await world.settle();
  leaves[1]?.();
  await world.endAll();
  expect(await Promise.all([first, third])).toEqual(["first", "third"]);
  expect(world.started.map(({ name }) => name)).toEqual(["first", "third"]);
});
