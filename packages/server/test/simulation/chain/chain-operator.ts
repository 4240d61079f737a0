import { chainBlocks, networks, numberKey } from "../database/simulated-chain-tables.js";
import type { SimulatedDatabase } from "../database/simulated-database.js";
import type { Random } from "../world/random.js";
import type { Actor, Scheduler } from "../world/scheduler.js";

interface OperatorDeps {
  database: SimulatedDatabase;
  scheduler: Scheduler;
  random: Random;
  /** Does it. */
  actor: Actor;
  /** Waits. It is never killed. */
  outside: Actor;
  count: (what: string) => void;
  /** Repeats what the world has made fail. */
  insist: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Looks from time to time whether the network is halted, and resumes it, as `store/chain/resume-chain.ts` does. */
export function startOperator(deps: OperatorDeps): void {
  const { database, scheduler, random, actor, outside, count, insist } = deps;
  const resume = () =>
    database.query(actor, "resume the network", async (rows) => {
      for (const { network } of rows.all(networks)) {
        await rows.lock(networks, network);
        const row = rows.get(networks, network);
        if (row === undefined || row.haltedReason === null) continue;
        count("network halts");
        rows.put(networks, network, { ...row, haltedReason: null });
        for (const { number } of rows.all(chainBlocks)) rows.remove(chainBlocks, numberKey(number));
      }
    });
  const look = () => {
    scheduler.after(outside, random.between(200, 1200), "an operator", look);
    void insist(resume);
  };
  look();
}
