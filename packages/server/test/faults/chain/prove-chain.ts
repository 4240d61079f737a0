import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { createRandom, type Random } from "../../simulation/world/random.js";
import { auditProof } from "./audit-proof.js";
import { createDepositors } from "./deposits.js";
import { resumeIfHalted } from "./disputes.js";
import { createPayer } from "./payouts.js";
import { type ProofChain, reorganisationMax } from "./proof-chain.js";
import { answered, type ProofWorld } from "./proof-world.js";
import { type Death, steps, victims } from "./steps.js";
import { describeOpen, haltedWallets } from "./stuck.js";

export interface ProofPlan<Chain extends ProofChain> {
  seed: number;
  payoutCount: number;
  depositCount: number;
  killCount: number;
  /** What goes wrong between the service and its nodes and on the chain itself, until it is stopped. */
  startFaults: (world: ProofWorld<Chain>, random: Random) => NetworkFaults;
  /** More to try when the faults have ended. */
  afterFaults?: (world: ProofWorld<Chain>, deposit: () => Promise<void>) => Promise<void>;
}

export interface NetworkFaults {
  counts: Readonly<Record<string, number>>;
  /** Ends all faults, and heals what they have left. */
  stop: () => Promise<void>;
}

const isLong = process.env["BURSAR_PROOF_FORM"] === "long";
const stepTimeoutMs = 180_000;
const provokeEveryMs = 1200;
/** The short form leaves CI its time also if it fails. */
const settleTimeoutMs = isLong ? 600_000 : 120_000;

export const tell = (text: string) => void process.stdout.write(`${text}\n`);
const startedMs = performance.now();
const seconds = () => Math.round((performance.now() - startedMs) / 1000);

/** Pays and receives while processes die and the network fails, waits until everything has ended, and compares. */
export async function prove<Chain extends ProofChain>(
  world: ProofWorld<Chain>,
  { seed, payoutCount, depositCount, killCount, startFaults, afterFaults }: ProofPlan<Chain>,
): Promise<void> {
  const random = createRandom(seed);
  const depositors = await createDepositors(world.chain, world.wallets, random);
  const payer = createPayer(world, seed, random);
  tell(`${seconds()} s: ${world.wallets.length} wallets are ready`);
  const network = startFaults(world, random);
  const halts: string[] = [];
  const deaths = drawDeaths(random, killCount);
  const share = (total: number, index: number) =>
    Math.floor((total * (index + 1)) / killCount) - Math.floor((total * index) / killCount);
  const surviveAll = async () => {
    for (const [index, death] of deaths.entries()) {
      const fired = world.gate.arm(death);
      const paying = payer.pay(share(payoutCount, index));
      const depositing = depositors.deposit(share(depositCount, index));
      const more: Promise<void>[] = [];
      await survive(world, death, fired, async () => {
        more.push(payer.pay(1), depositors.deposit(1));
        await more.at(-1);
      });
      await Promise.all([paying, depositing, ...more]);
      await depositors.insist();
      const halt = await resumeIfHalted(world);
      if (halt !== undefined) halts.push(halt);
      if (isLong || index % 5 === 4)
        tell(
          `${seconds()} s: ${index + 1} kills, ${payer.requested.length} payouts, ${depositors.sent.length} deposits, ${await openCount(world)} open; ${death.victim} ${death.when} ${death.step}${halt === undefined ? "" : `; halted: ${halt}`}`,
        );
    }
  };
  await surviveAll().finally(network.stop);
  await afterFaults?.(world, () => depositors.deposit(1));
  halts.push(...(await settle(world, depositors.insist)));
  tell(`${seconds()} s: everything has ended`);
  const { faults, counts } = await auditProof(world, payer.requested, depositors.sent);
  tell(
    JSON.stringify({
      seed,
      seconds: seconds(),
      repeated: payer.repeated(),
      halts: halts.length,
      network: network.counts,
      counts,
    }),
  );
  expect(faults.slice(0, 20)).toEqual([]);
  expect(payer.requested.length).toBeGreaterThanOrEqual(payoutCount);
  expect(depositors.sent.length).toBeGreaterThanOrEqual(depositCount);
  // A network halts only if two nodes disagree about a final block.
  for (const halt of halts) expect(halt).toContain("disagree about");
}

/** Every step once, in random order, before any of them is the second time; the moment and the victim go round. */
function drawDeaths(random: Random, count: number): Death[] {
  const all = victims.flatMap((victim) => (["before", "after"] as const).map((when) => ({ victim, when })));
  const turn = random.between(0, all.length - 1);
  const deaths: Death[] = [];
  for (let round = 0; deaths.length < count; round++) {
    const shuffled = steps
      .map((step, index) => ({ step, index, order: random.next() }))
      .sort((a, b) => a.order - b.order);
    for (const { step, index } of shuffled) {
      const { victim, when } = all[(turn + index + round) % all.length] as (typeof all)[number];
      deaths.push({ step, victim, when });
    }
  }
  return deaths.slice(0, count);
}

/** Waits until a process has died at the step, and starts it again. Some steps need something to happen. */
async function survive(
  world: ProofWorld,
  death: Death,
  fired: Promise<void>,
  provoke: () => Promise<unknown>,
): Promise<void> {
  let isReached = false;
  void fired.then(() => {
    isReached = true;
  });
  const endsMs = performance.now() + stepTimeoutMs;
  while (!isReached) {
    await Promise.race([fired, sleep(provokeEveryMs)]);
    if (isReached) break;
    if (performance.now() > endsMs)
      throw new Error(
        `${death.step} was not reached within ${stepTimeoutMs} ms:\n${world.output().slice(-3000)}`,
      );
    await Promise.race([fired, provoke()]);
    // Books are compared less and less often while nodes disagree about balances, so this step needs some that agree.
    if (death.step === "writeHoldings" || death.step === "balances")
      await world.chain.heal().catch(() => undefined);
    if (death.step === "excludePayments")
      await world.chain.reorganise(reorganisationMax).catch(() => undefined);
  }
  await world.restart(death.victim);
}

async function openCount({ database }: ProofWorld): Promise<number> {
  const [row] = await database
    .query<{ count: string }>(sql`SELECT count(*) FROM open_transactions`)
    .catch(() => []);
  return Number(row?.count ?? -1);
}

/** Waits until every transaction has ended, and the books have reached the final block of a chain that rests. */
async function settle(world: ProofWorld, insist: () => Promise<number>): Promise<string[]> {
  const halts: string[] = [];
  const startMs = performance.now();
  for (let told = 1; ; await sleep(250)) {
    const halt = await resumeIfHalted(world);
    if (halt !== undefined) halts.push(halt);
    const missing = await insist();
    const { isResting, finalized } = await world.chain.status();
    const [row] = await answered(() =>
      world.database.query<{ settled: string; open: string; payments: string }>(sql`
        SELECT settled_number AS settled, (SELECT count(*) FROM open_transactions) AS open,
          (SELECT count(*) FROM open_transactions o JOIN transactions t USING (tenant_id, id) WHERE t.kind <> 'deposit') AS payments
        FROM networks
      `),
    );
    const isSettled = isResting && Number(row?.settled) === finalized;
    if (missing === 0 && row?.open === "0" && isSettled) return halts;
    // What has left the chain, such as an attempt that was replaced, is waited for until some more blocks are final. Payments need none.
    if (missing === 0 && row?.payments === "0" && isSettled) await world.chain.mine();
    const waitedMs = performance.now() - startMs;
    const state = `${missing} deposits missing, ${row?.open} open, settled ${row?.settled} of ${finalized}`;
    const halted = await haltedWallets(world);
    if (waitedMs > settleTimeoutMs || halted.length > 0)
      throw new Error(
        [
          `not everything has ended: ${state}`,
          ...halted,
          await describeOpen(world),
          world.output().slice(-4000),
        ].join("\n"),
      );
    if (waitedMs > told * 30_000) {
      tell(`${seconds()} s: ${state}${halt === undefined ? "" : `; halted: ${halt}`}`);
      told += 1;
    }
  }
}
