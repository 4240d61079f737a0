import { setTimeout as sleep } from "node:timers/promises";
import { showId } from "@bursar/protocol";
import type { Command } from "commander";
import { makeTokenKey } from "../../credentials/token-keys.js";
import { printable } from "../../runtime/printable.js";
import { type Database, isDatabaseUnavailable } from "../../store/core/database.js";
import {
  auditRecovery,
  listRecoveredMarkets,
  listRecoveredTenants,
  type RecoveredEpoch,
  recoverDatabase,
} from "../../store/recovery/recover-database.js";
import { print } from "../print.js";
import { keyArgument, sequenceArgument } from "./arguments.js";
import { withDatabase } from "./operator-database.js";

const liftDefault = 1_000_000;

interface RecoverOptions {
  lift: number;
  past: number;
  key?: string;
}

export function addRecoverCommand(program: Command): void {
  program
    .command("recover")
    .description(
      "after a restore to an earlier point: begin a new epoch, skip the sequences that were lost, end all tokens and sessions, and list what to tell receivers",
    )
    .option("--lift <number>", "by how much every sequence is lifted", sequenceArgument, liftDefault)
    .option("--past <number>", "lift every sequence at least past this number", sequenceArgument, 0)
    .option("--key <name>", "names the recovery; the same name again changes nothing", keyArgument)
    .action(async (options: RecoverOptions) => {
      await withDatabase(async ({ database, sealing, newUuid }) => {
        const now = new Date();
        const tokenKey = makeTokenKey(sealing, newUuid(), now.getTime());
        const epoch = await recoverDatabase(database, { ...options, key: options.key, tokenKey, now });
        for (const line of await auditAndDescribe(database, epoch, now)) print(line);
      });
    });
}

const triesMax = 5;
const tryAgainMs = 500;

/**
 * The recovery is committed. The command goes on in its epoch, and tries again if running processes, which may know a later one, begin
 * another meanwhile.
 */
async function auditAndDescribe(database: Database, epoch: RecoveredEpoch, now: Date): Promise<string[]> {
  for (let tries = 1; ; tries++) {
    await database.identify().catch(() => undefined);
    try {
      await auditRecovery(database, epoch.id, now);
      return await describe(database, epoch);
    } catch (error) {
      if (!isDatabaseUnavailable(error) || tries === triesMax) throw error;
    }
    await sleep(tryAgainMs);
  }
}

/** Running processes that have seen a later epoch begin one of their own after it, and so does each failover. */
export function describeEpoch({ id, isRepeated }: RecoveredEpoch, currentId: string | undefined): string[] {
  const isCurrent = currentId === undefined || currentId === id;
  const begun = isCurrent ? "The database is in a new epoch:" : "The recovery has begun the epoch";
  const done = isRepeated ? "This recovery was done before. Its epoch is" : begun;
  return [
    `${done} ${showId("epo", id)}`,
    ...(isCurrent ? [] : [`The database is in a later epoch by now: ${showId("epo", currentId)}`]),
  ];
}

async function describe(database: Database, epoch: RecoveredEpoch): Promise<string[]> {
  const { id } = epoch;
  const lines = [
    ...describeEpoch(epoch, database.identity.epoch()),
    "Every access token from before it is refused; clients request new ones. Every session of a person has ended; people log in again.",
    "Running processes notice within two seconds. They close all streams with 4010.",
    "\nTell receivers the last sequence that they can rely on. What they hold after it must be read again.",
  ];
  for (let afterId: string | undefined; ; ) {
    const tenants = await listRecoveredTenants(database, id, afterId);
    for (const { id: tenantId, name, kept, lifted, endpoints } of tenants) {
      lines.push(
        `${showId("tnt", tenantId)}  ${printable(name)}  kept up to ${kept}, continues after ${lifted}`,
        ...endpoints.map((endpoint) => `  ${showId("whe", endpoint.id)}  ${printable(endpoint.url)}`),
      );
    }
    afterId = tenants.at(-1)?.id;
    if (afterId === undefined) break;
  }
  for (const { market, levelSequence, tradeSequence } of await listRecoveredMarkets(database))
    lines.push(`${market}  book kept up to ${levelSequence}, trades up to ${tradeSequence}`);
  lines.push(
    "\nChanges of clients, secrets, keys, policies and destinations after the restored point are undone. Compare `bursar audit` exports with the log, and repeat what is missing: a client that was disabled may be active again. A link of an invitation that was used after that point works again until 30 minutes after it was made: if one can be in the wrong hands, run `bursar people recover` for that person.",
  );
  return lines;
}
