import { chainWallets, networks } from "../database/simulated-chain-tables.js";
import { auditChain, countOutcomes, isAnythingOpen, rowsOf } from "./audit-chain.js";
import type { ChainBug } from "./chain-bug.js";
import { type ChainWorld, createChainWorld } from "./chain-world.js";
import { type ChainWorldKind, worldOf } from "./chain-worlds.js";

export interface ChainRunOptions {
  bug?: ChainBug;
  /** Drawn from the seed unless it is given. */
  kind?: ChainWorldKind;
  trace?: (line: string) => void;
}

export interface ChainReport {
  seed: number;
  violations: string[];
  tally: Record<string, number>;
}

const faultsEndAfterMs = 8000;
/** How many blocks after the last fault everything must have ended, and how many more are mined for what is looked for in turn. */
const endBlocksMax = 250;
const quietBlocks = 45;

/** One run: payments, deposits and faults, then peace, then the audit. The seed decides all of it. */
export async function runChainSimulation(
  seed: number,
  {
    bug,
    kind = bug === undefined ? worldOf(seed) : (bug.world ?? "usual"),
    trace = () => undefined,
  }: ChainRunOptions = {},
): Promise<ChainReport> {
  const world = createChainWorld(seed, { kind, bug, trace });
  const { scheduler, random, outside, chain } = world;
  const failures: string[] = [];
  let underWay = 0;
  for (let payment = random.between(4, 12); payment > 0; payment--)
    scheduler.after(outside, random.between(1, 5000), "a payment", () => {
      underWay += 1;
      world
        .pay()
        .catch((error: unknown) => failures.push(`a payment could not begin: ${String(error)}`))
        .finally(() => {
          underWay -= 1;
        });
    });
  for (let deposit = random.between(2, 8); deposit > 0; deposit--)
    scheduler.after(outside, random.between(1, 5000), "a deposit", world.deposit);
  for (let stop = random.between(0, 2); stop > 0; stop--)
    scheduler.after(outside, random.between(1, 4000), "a stop", () => {
      underWay += 1;
      world
        .stop()
        .catch((error: unknown) => failures.push(`a stop failed: ${String(error)}`))
        .finally(() => {
          underWay -= 1;
        });
    });
  let healedAt = 0;
  scheduler.after(outside, faultsEndAfterMs, "peace", () => {
    world.heal();
    healedAt = chain.head().number;
  });
  let quietAt: number | undefined;
  await scheduler
    .runUntil(() => {
      if (healedAt === 0) return false;
      const { number } = chain.head();
      const isOpen = underWay > 0 || isAnythingOpen(world) || chain.pool().length > 0;
      quietAt = isOpen ? undefined : (quietAt ?? number);
      const isLate = number - healedAt > endBlocksMax;
      const isQuiet = quietAt !== undefined && number - quietAt >= quietBlocks && isSettled(world, quietAt);
      return isLate || isQuiet;
    })
    .catch((error: unknown) => failures.push(`the run did not end: ${String(error)}`));
  return {
    seed,
    violations: [...failures, ...auditChain(world)],
    tally: { [kind]: 1, ...world.counts, ...countOutcomes(world) },
  };
}

/** Whether all blocks are settled, and every wallet was compared with the chain after this block: what no block shows is found then. */
function isSettled({ database, chain }: ChainWorld, after: number): boolean {
  if (rowsOf(database, networks)[0]?.settledNumber !== chain.final().number) return false;
  return rowsOf(database, chainWallets).every(({ comparedNumber }) => comparedNumber >= after);
}
