import { expect, it } from "vitest";
import {
  type BlockHeader,
  NodesDisagreeError,
  NodeUnavailableError,
} from "../../../../app/chain/chain-node.js";
import { LeaseLostError } from "../../../../runtime/loops/lease.js";
import { type FollowedChain, NetworkHaltedError } from "../driver-context.js";
import { createHeadRecords } from "./head-records.js";

const silent = new NodeUnavailableError("no answer");
const lease = { network: "eip155:1", holder: "a process", fence: 1n } as never;

function createHeads() {
  let nowMs = 1000;
  let monotonicMs = 0;
  const stored: string[] = [];
  let held: typeof lease | undefined = lease;
  const heads = createHeadRecords({
    ...{ network: { network: "eip155:1" }, monotonicMs: () => monotonicMs },
    store: {
      recordHeads: async (_, { headNumber }) => void stored.push(`head ${headNumber}`),
      recordStall: async (_, stall) => void stored.push(`stalled: ${stall?.reason}`),
      recordSilence: async (_, since) => void stored.push(`silent since ${since.getTime()}`),
    },
    recorder: { now: () => nowMs++ },
    onError: (error) => {
      throw error;
    },
    leaseOf: () => held,
  });
  const step = (head: number | undefined, error?: unknown) =>
    heads
      .during(async () => {
        const header = { number: head, baseFee: 1n } as BlockHeader;
        if (head !== undefined) await heads.record(lease, { shown: header, final: header });
        if (error !== undefined) throw error;
      })
      .catch((thrown: unknown) => expect(thrown).toBe(error));
  const loseLease = () => {
    held = undefined;
  };
  const acquireLease = () => {
    heads.reset();
    held = lease;
  };
  const settle = async (error: unknown) => {
    monotonicMs += 30_000;
    const chain = { lease, tail: [{ number: 7 }] } as unknown as FollowedChain;
    const failing = heads.settling(chain, () => Promise.reject(error));
    await expect(failing).rejects.toBe(error);
  };
  return { stored, step, settle, loseLease, acquireLease };
}

it("stores the second step without an answer, with the time of the first, and the same head after it", async () => {
  const { stored, step } = createHeads();
  await step(7);
  await step(undefined, silent);
  await step(7);
  expect(stored).toEqual(["head 7"]);
  await step(undefined, silent);
  await step(undefined, silent);
  await step(7);
  expect(stored).toEqual(["head 7", "silent since 1002", "head 7"]);
});

it("does not count a step in which a node has given its newest block, nodes that disagree, or other errors", async () => {
  const { stored, step } = createHeads();
  for (let steps = 0; steps < 3; steps++) {
    await step(7, silent);
    await step(undefined, new NodesDisagreeError("two blocks"));
    await step(undefined, new Error("the database"));
  }
  expect(stored).toEqual(["head 7"]);
});

it("says that a network is stalled whose steps fail, but not for another process or a halt", async () => {
  const { stored, settle } = createHeads();
  for (const error of [new LeaseLostError("lost"), new NetworkHaltedError("halted")])
    for (let steps = 0; steps < 4; steps++) await settle(error);
  expect(stored).toEqual([]);
  for (let steps = 0; steps < 4; steps++) await settle(new Error("the block 8 has something else"));
  expect(stored).toEqual(["stalled: A step has failed, and the log of the service says why."]);
});

it("starts over under another lease: a step without an answer from before says nothing about now", async () => {
  const { stored, step, loseLease, acquireLease } = createHeads();
  await step(undefined, silent);
  loseLease();
  await step(undefined);
  acquireLease();
  await step(undefined, silent);
  expect(stored).toEqual([]);
  await step(undefined, silent);
  expect(stored).toEqual(["silent since 1001"]);
});
