import type { FaultRates } from "../database/simulated-database.js";
import type { Random } from "./random.js";

/** What kind of day a run has, drawn from its seed: some are quiet, so that a failure there is easy to read. */
export interface Scenario {
  tenants: readonly string[];
  processes: number;
  clientsPerTenant: number;
  requestsPerClient: number;
  /** What goes wrong with statements. */
  rates: FaultRates;
  /** When processes are killed and when the database goes away, after the start of the run. */
  killsMs: readonly number[];
  outagesMs: readonly number[];
  /** How wrong the clocks of the machines may be at the start, and become when they are set. */
  clockErrorMs: number;
  clockJumpMs: number;
  clockChangesMs: readonly number[];
  /** By how much the clock of the machine that takes over from the database is wrong. */
  databaseClockMs: number;
  /** When the database fails over to a machine that lacks its last commits. */
  rewindsMs: readonly number[];
  /** How often something waits in a process before it is stored. */
  queues: number;
  /**
   * Whether tenants use the network of several steps. It keeps what a database has lost. A payment that was sent, lost, and not sent again is
   * paid by the network and not by the books, so the auditor excuses those whose steps were lost, and nothing else.
   */
  hasRail: boolean;
  /** How many transactions a tenant may make in a period; undefined without a limit. */
  transactionsMax: number | undefined;
  /** How often a client does not get an answer, or the network delivers its request once more. */
  answersLost: number;
  requestsRepeated: number;
}

export const noFaults: FaultRates = { refused: 0, cut: 0, answerLost: 0 };

const tenantIds = ["00000000-0000-7000-8000-0000000000a1", "00000000-0000-7000-8000-0000000000b2"];
const faultsWithinMs = 600;

const dayMs = 86_400_000;

export function drawScenario(random: Random): Scenario {
  const sometimes = (probability: number, most: number) =>
    random.chance(probability) ? random.next() * most : 0;
  const moments = (most: number) =>
    Array.from({ length: random.between(0, most) }, () => random.between(1, faultsWithinMs));
  const rewindsMs = random.chance(0.4) ? moments(3) : [];
  return {
    tenants: tenantIds.slice(0, random.chance(0.3) ? 2 : 1),
    processes: random.between(1, 3),
    clientsPerTenant: random.between(2, 4),
    requestsPerClient: random.between(2, 6),
    rates: { refused: sometimes(0.4, 0.08), cut: sometimes(0.4, 0.08), answerLost: sometimes(0.5, 0.15) },
    killsMs: random.chance(0.5) ? moments(4) : [],
    outagesMs: random.chance(0.3) ? moments(2) : [],
    // A service does not start with a clock that differs by more.
    clockErrorMs: random.chance(0.6) ? 0 : random.pick([20, 500, 4000]),
    clockJumpMs: random.chance(0.5) ? 0 : random.pick([4000, 60_000, 30 * dayMs]),
    clockChangesMs: moments(3),
    databaseClockMs: random.chance(0.3) ? random.pick([-17, 17]) * dayMs : 0,
    rewindsMs,
    queues: rewindsMs.length > 0 ? 0.5 : sometimes(0.2, 0.3),
    hasRail: rewindsMs.length === 0 || random.chance(0.7),
    transactionsMax: random.chance(0.5) ? random.between(3, 8) : undefined,
    answersLost: sometimes(0.5, 0.15),
    requestsRepeated: sometimes(0.5, 0.15),
  };
}
