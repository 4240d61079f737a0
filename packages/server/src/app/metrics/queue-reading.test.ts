import { describe, expect, it } from "vitest";
import { createQueueReader, type QueueReading } from "./queue-reading.js";

const reading = { deferredEvents: 3 } as QueueReading;

describe("a reader of queues", () => {
  it("runs one statement for scrapes that come together or soon after each other", async () => {
    let statements = 0;
    let monotonicMs = 0;
    const readQueues = async () => {
      statements += 1;
      return reading;
    };
    const queues = createQueueReader({ readQueues, monotonicMs: () => monotonicMs });
    expect(await Promise.all([queues.read(), queues.read(), queues.read()])).toEqual([
      reading,
      reading,
      reading,
    ]);
    monotonicMs = 4999;
    await queues.read();
    expect(statements).toBe(1);
    monotonicMs = 5000;
    await queues.read();
    expect(statements).toBe(2);
  });

  it("reports nothing, and counts it, if the database refuses", async () => {
    const readQueues = async () => {
      throw new Error("gone");
    };
    const queues = createQueueReader({ readQueues, monotonicMs: () => 0 });
    expect(await queues.read()).toBeUndefined();
    expect(queues.failures()).toBe(1);
  });

  it("does not wait for a database that hangs, nor send it a second statement", async () => {
    let statements = 0;
    let answer: (value: QueueReading) => void = () => undefined;
    const readQueues = () => {
      statements += 1;
      return new Promise<QueueReading>((resolve) => {
        answer = resolve;
      });
    };
    const queues = createQueueReader({ readQueues, monotonicMs: () => 0, timeoutMs: 1 });
    expect(await queues.read()).toBeUndefined();
    expect(await queues.read()).toBeUndefined();
    expect(statements).toBe(1);
    answer(reading);
    await Promise.resolve();
    expect(await queues.read()).toBe(reading);
  });
});
