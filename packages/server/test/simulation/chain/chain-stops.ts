import { chainPayments, suspendedTenants } from "../database/simulated-chain-tables.js";
import type { SimulatedDatabase } from "../database/simulated-database.js";
import { keyOf, wallets as walletTable } from "../database/simulated-tables.js";
import type { Random } from "../world/random.js";
import type { Actor, Scheduler } from "../world/scheduler.js";
import type { OwnWallet } from "./chain-wallets.js";

interface StopDeps {
  database: SimulatedDatabase;
  scheduler: Scheduler;
  random: Random;
  wallets: readonly OwnWallet[];
  /** Does it. */
  actor: Actor;
  /** Waits. It is never killed. */
  outside: Actor;
  count: (what: string) => void;
  /** Repeats what the world has made fail. */
  insist: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Freezes a wallet or suspends a tenant, for a while. What is lifted before the driver has looked stops nothing. */
export async function stopForAWhile(deps: StopDeps): Promise<void> {
  const { database, scheduler, random, actor, outside, count, insist } = deps;
  const { tenantId, walletId } = random.pick(deps.wallets);
  const isSuspension = random.chance(0.3);
  const set = (isStopped: boolean) =>
    insist(() =>
      database.query(actor, isStopped ? "stop" : "go on", async (rows) => {
        if (isSuspension && isStopped) return rows.put(suspendedTenants, tenantId, true);
        if (isSuspension) return rows.remove(suspendedTenants, tenantId);
        const key = keyOf(tenantId, walletId);
        await rows.lock(walletTable, key);
        const wallet = rows.get(walletTable, key);
        if (wallet !== undefined) rows.put(walletTable, key, { ...wallet, frozen: isStopped });
      }),
    );
  count(isSuspension ? "suspensions" : "freezes");
  await set(true);
  await scheduler.turn(outside, "goes on", random.between(100, 3000));
  await set(false);
}

/** Whether nothing is signed for a payment, as was committed. */
export function isUnsigned({ tables }: SimulatedDatabase, tenantId: string, id: string): boolean {
  const row = tables.get(chainPayments.name)?.get(keyOf(tenantId, id)) as { stage: string } | undefined;
  return row?.stage === "ready" || row?.stage === "assigned";
}
