import { expect, it } from "vitest";
import type { UnconfirmedPage } from "../../../app/chain/unconfirmed-wallet.js";
import { createEvmDriver, type EvmDriverDeps } from "./evm-driver.js";

const network = "eip155:1";
const block = { number: 1, hash: "block", parentHash: "before" };

/** A driver whose clock stands still: what it is to ask once a second, it asks once, unless it has forgotten that. Its other parts fail. */
function createDriver(isStandby = false) {
  const rounds: number[] = [];
  const read = { positions: 0 };
  let steps = 0;
  let step: (() => void) | undefined;
  const lease = { network, holder: "holder", fence: 1 };
  const deps = {
    network: { network, coin: "ETH", tokens: [], inFlightMax: 16 },
    node: {
      heads: async () => ({ latest: { ...block, baseFee: 1n }, final: block }),
      header: async () => ({ ...block, hash: "genesis" }),
    },
    signer: {},
    store: {
      leases: {
        acquire: async () => (isStandby ? [] : [lease]),
        renew: async () => [lease],
        release: async () => undefined,
      },
      isRegistered: async () => true,
      readPosition: async () => {
        read.positions += 1;
        return { tail: [block], settledNumber: 1, genesisHash: "genesis", haltedReason: null };
      },
      recordHeads: async () => undefined,
      recordStall: async () => undefined,
      recordSilence: async () => undefined,
      listUnconfirmed: async (_: string, { of }: UnconfirmedPage) => {
        if (of === "all") rounds.push(steps);
        return { wallets: [], next: undefined };
      },
    },
    recorder: { now: () => 0, onChanged: () => undefined },
    isUnavailable: () => false,
    holder: "holder",
    ...{ leaseMs: 1000, pollEveryMs: 1000, monotonicMs: () => 0 },
    ...{ onError: () => undefined, onLost: () => undefined, onShort: () => undefined },
    timers: {
      after: (_: number, next: () => void) => {
        step = next;
        return () => undefined;
      },
    },
  } as unknown as EvmDriverDeps;
  const driver = createEvmDriver(deps);
  /** Lets the driver make a step, up to its pause. */
  const run = async () => {
    for (let turns = 0; turns < 50; turns++) await Promise.resolve();
    steps += 1;
    const next = step;
    step = undefined;
    next?.();
    for (let turns = 0; turns < 500; turns++) await Promise.resolve();
  };
  return { driver, run, rounds, read };
}

it("asks about all wallets again when the database may have gone back", async () => {
  const { driver, run, rounds } = createDriver();
  driver.start();
  for (let steps = 0; steps < 3; steps++) await run();
  expect(rounds).toHaveLength(1);
  driver.reset();
  for (let steps = 0; steps < 3; steps++) await run();
  expect(rounds).toHaveLength(2);
  await driver.stop();
});

it("does not read the blocks of a network while another process holds the lease", async () => {
  const { driver, run, read } = createDriver(true);
  driver.start();
  for (let steps = 0; steps < 5; steps++) await run();
  expect(read.positions).toBe(0);
  await driver.stop();
});
