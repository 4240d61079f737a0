import type { ModelChain } from "../../harness/chain/model-chain.js";
import { readBytes } from "../../harness/chain/model-chain.js";
import { networks } from "../database/simulated-chain-tables.js";
import type { SimulatedDatabase } from "../database/simulated-database.js";
import type { Random } from "../world/random.js";
import type { Actor, Scheduler } from "../world/scheduler.js";

interface RestoreDeps {
  database: SimulatedDatabase;
  chain: ModelChain;
  scheduler: Scheduler;
  random: Random;
  outside: Actor;
  count: (what: string) => void;
  /** All bytes that the signer has made. */
  signed: readonly string[];
  isHealed: () => boolean;
  stopAll: () => void;
  startAgain: () => Promise<void>;
}

const blocksUntilFinal = 6;

/**
 * Makes a backup, and restores it later. Meanwhile everything that was signed has come into final blocks: a nonce that the signer has bound and no
 * block has used needs a person, and is not simulated.
 */
export function startRestores(deps: RestoreDeps): void {
  const { database, scheduler, random, outside } = deps;
  const backUp = () => {
    // The network begins at its final block, once.
    if ((database.tables.get(networks.name)?.size ?? 0) === 0) {
      scheduler.after(outside, 100, "a backup", backUp);
      return;
    }
    const commits = database.commits();
    scheduler.after(outside, random.between(200, 4500), "a restore", () => restore(deps, commits));
  };
  scheduler.after(outside, random.between(200, 3000), "a backup", backUp);
}

function restore(deps: RestoreDeps, commits: number): void {
  const { database, chain, scheduler, outside, count, isHealed } = deps;
  if (isHealed()) return;
  deps.stopAll();
  chain.setBaseFee(10n);
  let blocks = 0;
  const finish = () => {
    for (const bytes of isEverythingUsed(deps) ? [] : deps.signed) chain.send(bytes);
    chain.mine(() => true);
    blocks += 1;
    if (blocks < blocksUntilFinal) {
      scheduler.after(outside, 20, "a block", finish);
      return;
    }
    chain.setBaseFee(100n);
    if (isEverythingUsed(deps)) {
      database.rewind(database.commits() - commits);
      count("restores");
    }
    void deps.startAgain();
  };
  finish();
}

function isEverythingUsed({ chain, signed }: RestoreDeps): boolean {
  const { nonces } = chain.final();
  return signed.every((bytes) => {
    const { address, nonce } = readBytes(bytes);
    return nonce < (nonces.get(address) ?? 0);
  });
}
