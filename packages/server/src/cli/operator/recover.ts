import { showId } from "@bursar/protocol";
import type { Command } from "commander";
import { makeTokenKey } from "../../credentials/token-keys.js";
import { printable } from "../../runtime/printable.js";
import type { Database } from "../../store/core/database.js";
import {
  auditRecovery,
  listRecoveredMarkets,
  listRecoveredTenants,
  type RecoveredEpoch,
  recoverDatabase,
} from "../../store/recovery/recover-database.js";
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
      "after a restore to an earlier point: begin a new epoch, skip the sequences that were lost, end all tokens, and list what to tell receivers",
    )
    .option("--lift <number>", "by how much every sequence is lifted", sequenceArgument, liftDefault)
    .option("--past <number>", "lift every sequence at least past this number", sequenceArgument, 0)
    .option("--key <name>", "names the recovery; the same name again changes nothing", keyArgument)
    .action(async (options: RecoverOptions) => {
      await withDatabase(async ({ database, sealing, newUuid }) => {
        const now = new Date();
        const tokenKey = makeTokenKey(sealing, newUuid(), now.getTime());
        const epoch = await recoverDatabase(database, { ...options, key: options.key, tokenKey, now });
        // This process has begun the epoch, and goes on in it.
        await database.identify().catch(() => undefined);
        await auditRecovery(database, epoch.id, now);
        await report(database, epoch);
      });
    });
}

async function report(database: Database, { id, isRepeated }: RecoveredEpoch): Promise<void> {
  const done = isRepeated ? "This recovery was done before. Its epoch is" : "The database is in a new epoch:";
  console.log(`${done} ${showId("epo", id)}`);
  console.log("Every access token from before it is refused; clients request new ones.");
  console.log("Running processes notice within two seconds. They close all streams with 4010.");
  console.log(
    "\nTell receivers the last sequence that they can rely on. What they hold after it must be read again.",
  );
  for (let afterId: string | undefined; ; ) {
    const tenants = await listRecoveredTenants(database, id, afterId);
    for (const { id: tenantId, name, kept, lifted, endpoints } of tenants) {
      console.log(
        `${showId("tnt", tenantId)}  ${printable(name)}  kept up to ${kept}, continues after ${lifted}`,
      );
      for (const endpoint of endpoints)
        console.log(`  ${showId("whe", endpoint.id)}  ${printable(endpoint.url)}`);
    }
    afterId = tenants.at(-1)?.id;
    if (afterId === undefined) break;
  }
  for (const { market, levelSequence, tradeSequence } of await listRecoveredMarkets(database))
    console.log(`${market}  book kept up to ${levelSequence}, trades up to ${tradeSequence}`);
  console.log(
    "\nChanges of clients, secrets, keys, policies and destinations after the restored point are undone. Compare `bursar audit` exports with the log, and repeat what is missing: a client that was disabled may be active again.",
  );
}
