import { describe, expect, it } from "vitest";
import { createDatabaseIdentity, type DatabaseChange, type DatabaseReading } from "./database-identity.js";

const reading: DatabaseReading = {
  server: "a",
  cluster: "c",
  timeline: "00000002",
  installation: "i",
  epoch: { id: "one", number: 1, startedUs: 0 },
  position: 100,
};

function watched() {
  const identity = createDatabaseIdentity();
  const changes: DatabaseChange[] = [];
  identity.subscribe((change) => changes.push(change));
  const observe = (made: DatabaseReading) => identity.observe(made, identity.known());
  return { identity, changes, observe };
}

describe("the identity of the database", () => {
  it("is what the first connection finds", () => {
    const { identity, changes, observe } = watched();
    expect(observe(reading)).toBe(0);
    expect([identity.epoch(), identity.hasEarlierEpochs(), changes]).toEqual(["one", false, []]);
  });

  it("is known for 50 ms after the database was asked something that it has answered", () => {
    const clock = { ms: 0 };
    const identity = createDatabaseIdentity(undefined, () => clock.ms);
    expect(identity.hasAnsweredNow()).toBe(false);
    identity.observe(reading, identity.known());
    identity.answered(0);
    expect(identity.hasAnsweredNow()).toBe(true);
    // The process stood still, for less than a promotion takes.
    clock.ms = 50;
    expect(identity.hasAnsweredNow()).toBe(false);
    expect(identity.hasAnsweredNow(49)).toBe(true);
    identity.answered(45);
    expect(identity.hasAnsweredNow()).toBe(true);
    identity.observe({ ...reading, server: "b" }, identity.known());
    expect(identity.hasAnsweredNow()).toBe(false);
  });

  it("is not known any more when a connection has ended, whatever was asked before", () => {
    const clock = { ms: 0 };
    const identity = createDatabaseIdentity(undefined, () => clock.ms);
    identity.answered(0);
    clock.ms = 10;
    identity.doubt();
    expect(identity.hasAnsweredNow()).toBe(false);
    identity.answered(9);
    expect(identity.hasAnsweredNow()).toBe(false);
    clock.ms = 12;
    identity.answered(11);
    expect(identity.hasAnsweredNow()).toBe(true);
  });

  it("gets its epoch when the migrations have created the table, which is no change", () => {
    const { identity, changes, observe } = watched();
    observe({ ...reading, epoch: undefined });
    observe(reading);
    expect([identity.epoch(), changes]).toEqual(["one", []]);
  });

  it("changes once when its tables are gone, and again when they come back in another epoch", () => {
    const { identity, changes, observe } = watched();
    observe(reading);
    expect(observe({ ...reading, epoch: undefined })).toBe(1);
    expect(observe({ ...reading, epoch: undefined })).toBe(1);
    expect(identity.known().epoch).toEqual(reading.epoch);
    identity.confirmComplete();
    expect(identity.isIncomplete()).toBe(true);
    expect(observe({ ...reading, epoch: { id: "two", number: 2, startedUs: 0 } })).toBe(2);
    expect(changes).toEqual([{ isNewEpoch: false }, { isNewEpoch: true }]);
    // The rest of a restore can still be missing.
    expect(identity.isIncomplete()).toBe(true);
    identity.confirmComplete();
    expect(identity.isIncomplete()).toBe(false);
  });

  it("is confirmed again after a server without tables was found, although it is the same", () => {
    const { identity, changes, observe } = watched();
    observe(reading);
    identity.distrust();
    identity.distrust();
    expect(changes).toEqual([{ isNewEpoch: false }]);
    observe(reading);
    expect(identity.isIncomplete()).toBe(true);
    identity.confirmComplete();
    expect([identity.isIncomplete(), changes.length]).toEqual([false, 1]);
  });

  it("changes once for all connections that find the new server", () => {
    const { identity, changes, observe } = watched();
    observe(reading);
    expect(observe({ ...reading, server: "b" })).toBe(1);
    expect(observe({ ...reading, server: "b" })).toBe(1);
    expect(changes).toEqual([{ isNewEpoch: false }]);
    observe({ ...reading, server: "b", epoch: { id: "two", number: 2, startedUs: 0 } });
    expect(changes).toEqual([{ isNewEpoch: false }, { isNewEpoch: true }]);
    expect(identity.hasEarlierEpochs()).toBe(true);
  });

  it("ignores what a connection has read before another one found the change", () => {
    const { identity, changes, observe } = watched();
    observe(reading);
    const before = identity.known();
    observe({ ...reading, server: "b" });
    expect(identity.observe(reading, before)).toBeUndefined();
    expect(identity.generation()).toBe(1);
    expect(changes).toHaveLength(1);
  });

  it("knows the furthest position that one server has shown", () => {
    const { identity, observe } = watched();
    observe(reading);
    observe({ ...reading, position: 90 });
    expect(identity.known().position).toBe(100);
    observe({ ...reading, server: "b", position: 10 });
    expect(identity.known().position).toBe(10);
  });

  it("does not change to a server on an earlier timeline of the same cluster", () => {
    const { identity, observe, changes } = watched();
    observe(reading);
    expect(observe({ ...reading, server: "old", timeline: "00000001" })).toBeUndefined();
    expect([identity.server(), changes]).toEqual(["a", []]);
    // Nor after a standby, which has no timeline to show.
    observe({ ...reading, server: "standby", timeline: undefined });
    expect(observe({ ...reading, server: "old", timeline: "00000001" })).toBeUndefined();
    expect(observe({ ...reading, server: "new", timeline: "00000003" })).toBe(2);
    expect(observe({ ...reading, server: "dump", cluster: "d", timeline: "00000001" })).toBe(3);
  });

  it("leaves a server once another one of the cluster takes writes on a later timeline", () => {
    const { identity, observe, changes } = watched();
    observe(reading);
    identity.leave({ cluster: "d", timeline: "00000009" });
    identity.leave({ cluster: "c", timeline: "00000002" });
    expect(changes).toEqual([]);
    identity.leave({ cluster: "c", timeline: "00000003" });
    expect(changes).toEqual([{ isNewEpoch: false }]);
    expect(observe(reading)).toBeUndefined();
    observe({ ...reading, server: "b", timeline: "00000003", epoch: { id: "two", number: 2, startedUs: 0 } });
    expect(changes).toEqual([{ isNewEpoch: false }, { isNewEpoch: true }]);
  });

  it("notifies every listener, even if one fails", () => {
    const errors: unknown[] = [];
    const identity = createDatabaseIdentity((error) => errors.push(error));
    let notified = 0;
    identity.subscribe(() => {
      throw new Error("broken");
    });
    const unsubscribe = identity.subscribe(() => {
      notified += 1;
    });
    identity.observe(reading, identity.known());
    identity.observe({ ...reading, server: "b" }, identity.known());
    unsubscribe();
    identity.observe({ ...reading, server: "c" }, identity.known());
    expect([notified, errors.length]).toEqual([1, 2]);
  });
});
