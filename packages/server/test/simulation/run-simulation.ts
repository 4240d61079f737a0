import { audit } from "./auditor/auditor.js";
import type { PlantedBug } from "./bugs/planted-bug.js";
import { runClients } from "./world/clients.js";
import { type Closing, readClosing } from "./world/closing.js";
import { codeOf } from "./world/exchange.js";
import { createWorld, type World } from "./world/world.js";

export interface SimulationReport {
  seed: number;
  /** Which promises were not kept; none, if all is well. */
  violations: string[];
  /** What has happened, and how often: answers, outcomes and faults. */
  tally: Record<string, number>;
}

interface SimulationOptions {
  bug?: PlantedBug;
  trace?: (line: string) => void;
}

/** When faults end, whether or not the clients are done. */
const faultsEndAfterMs = 3000;

/** One run: clients and faults, then peace, then the audit. The seed decides all of it. */
export async function runSimulation(
  seed: number,
  options: SimulationOptions = {},
): Promise<SimulationReport> {
  const world = createWorld(seed, options.bug, options.trace ?? (() => undefined));
  const { scheduler, scenario, outside } = world;
  const closings: Closing[] = [];
  const failures: string[] = [];
  let isOver = false;
  scheduler.after(outside, faultsEndAfterMs, "faults end", world.heal);
  const live = async () => {
    await Promise.all(scenario.tenants.map((tenant) => runClients(world, tenant)));
    world.heal();
    await world.quiet();
    for (const tenant of scenario.tenants) closings.push(await readClosing(world, tenant));
    isOver = true;
  };
  const fail = (error: unknown) => void failures.push(`the run did not end: ${String(error)}`);
  live().catch((error: unknown) => {
    fail(error);
    isOver = true;
  });
  await scheduler.runUntil(() => isOver).catch(fail);

  const audited = closings.flatMap((closing) =>
    audit({
      closing,
      exchanges: world.exchanges.filter(({ tenant }) => tenant === closing.tenant),
      openings: world.openings.filter(({ tenant }) => tenant === closing.tenant),
      tenant: closing.tenant,
      network: world.network,
      lostIds: world.lostIds,
      undoneIds: world.undoneIds,
      epoch: world.epoch(),
      endedMs: scheduler.now(),
      transactionsMax: scenario.transactionsMax,
    }),
  );
  return { seed, violations: [...failures, ...world.breakages(), ...audited], tally: count(world, closings) };
}

function count(
  { exchanges, scenario, epoch, lostIds, undoneIds }: World,
  closings: readonly Closing[],
): Record<string, number> {
  const tally: Record<string, number> = {
    kills: scenario.killsMs.length,
    outages: scenario.outagesMs.length,
    rewinds: epoch() - 1,
    "rewinds with a rail": scenario.hasRail ? epoch() - 1 : 0,
    "lost ids": lostIds.size,
    "lost payouts": closings
      .flatMap(({ transactions }) => transactions)
      .filter(({ id, kind }) => kind === "payout" && undoneIds.has(id)).length,
  };
  const add = (what: string) => {
    tally[what] = (tally[what] ?? 0) + 1;
  };
  for (const exchange of exchanges) {
    const { request, answer } = exchange;
    const isRefusal = answer !== "lost" && answer.status >= 400 && answer.status < 500;
    add(`${request.kind} ${answer === "lost" ? answer : isRefusal ? codeOf(exchange) : answer.status}`);
  }
  for (const { transactions } of closings)
    for (const { state, failure } of transactions) add(failure?.code ?? state);
  return tally;
}
