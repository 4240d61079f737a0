import { readId, showId } from "@bursar/protocol";
import type { Command } from "commander";
import { describeAct, nilTenantId } from "../../app/audit/audit-entry.js";
import { secretContexts } from "../../compose/secret-contexts.js";
import { createReseal } from "../../credentials/reseal.js";
import {
  listValidTokenKeys,
  revokeTokenKey,
  rotateTokenKeys,
  scheduledTokenKeys,
  tokenKeyId,
} from "../../credentials/token-keys.js";
import { OperatorError } from "../../operator-error.js";
import { createAuditStore } from "../../store/access/audit.js";
import { type Resealed, resealSecrets } from "../../store/access/reseal.js";
import { createTokenKeyStore } from "../../store/access/tokens.js";
import { print, printError } from "../print.js";
import { withDatabase } from "./operator-database.js";

export function addKeysCommand(program: Command): void {
  const keys = program
    .command("keys")
    .description("manage the keys that sign access tokens, and encrypt secrets with a new master key");
  keys
    .command("rotate")
    .description(
      "publish a new key, which starts to sign 30 seconds later; the old one is kept until its tokens have expired",
    )
    .action(async () => {
      const { added, removed, unreadable } = await withDatabase(({ database, sealing, newUuid, now }) =>
        rotateTokenKeys(createTokenKeyStore(database), sealing, newUuid, now),
      );
      print(`${tokenKeyId(added.id)} is published and signs from ${added.activeFrom.toISOString()}`);
      for (const id of removed) print(`${tokenKeyId(id)} is removed`);
      for (const id of unreadable.slice(0, shownMax))
        printError(
          `Warning: the master key does not decrypt ${tokenKeyId(id)}. It is not used. Remove it with \`bursar keys revoke\`.`,
        );
    });
  keys
    .command("revoke <key>")
    .description(
      "end a key that signs access tokens: within 5 seconds no process accepts its tokens any more",
    )
    .action(async (shown: string) => {
      const id = readId("key", shown);
      if (id === undefined)
        throw new OperatorError(`${shown} is not the id of a key. List them with \`bursar keys list\`.`);
      const added = await withDatabase(({ database, sealing, newUuid, now }) =>
        revokeTokenKey(createTokenKeyStore(database), sealing, id, newUuid, now, warnUnrecorded),
      );
      print(`${shown} is revoked. Its tokens are refused within 5 seconds.`);
      if (added !== undefined) print(`${tokenKeyId(added.id)} signs from now on.`);
    });
  keys
    .command("reseal")
    .description(
      "encrypt and authenticate everything in the database with the current master key, while the service runs",
    )
    .option(
      "--accept-broken-logs",
      "end the other keys also in an audit log with removed or inserted entries, which cannot be restored",
    )
    .action(async ({ acceptBrokenLogs: acceptsBroken = false }: { acceptBrokenLogs?: boolean }) => {
      const { keyId, resealed, unreadable } = await withDatabase(async ({ database, sealing, now }) => {
        const at = new Date(now());
        const { reseal, unreadable } = createReseal(sealing);
        const counts = await resealSecrets(database, reseal, secretContexts, at, { acceptsBroken });
        const origin = { by: "operator", tenantId: nilTenantId } as const;
        const { id } = sealing.keyring.current;
        await createAuditStore(database).append([describeAct(origin, "keys.reseal", id, at)]);
        return { keyId: sealing.keyring.current.id, resealed: counts, unreadable };
      });
      const { tokenKeys, clientKeys, webhookSecrets, approvals, macs, chains } = resealed;
      print(
        `Encrypted again with the master key ${keyId}: ${tokenKeys} token keys, ${clientKeys} keys of clients, ${webhookSecrets} webhook endpoints, ${approvals} signatures of approvals.`,
      );
      print(
        `Authenticated again: ${macs} rows of open transactions, deposits, approvals, wallet addresses and commands.`,
      );
      print(`Continued with this key: ${chains} audit logs. The other keys count only up to here.`);
      for (const unused of resealed.unusedKeys)
        print(
          `The database retains the key ${unused}, with which no entry of an audit log counts. If you have never used it, something else has inserted it.`,
        );
      const broken = describeBroken(resealed.brokenChains);
      if (broken === undefined || acceptsBroken)
        print(
          "The other master keys are not needed any more, unless a process still writes with one of them.",
        );
      refuseUnreadable(unreadable);
      refuseForged(resealed.forgedDeposits);
      if (broken === undefined) return;
      if (!acceptsBroken) throw new OperatorError(`${broken} ${brokenAdvice}`);
      print(`${broken} Entries before that place count no longer if their key was replaced earlier.`);
    });
  keys
    .command("adopt")
    .description(
      "authenticate the clients and the audit log of a database that a version without these keys has written; once, after a review",
    )
    .action(async () => {
      const isAdopted = await withDatabase(
        ({ parts }) => parts.adoptDatabase(),
        async () => undefined,
      );
      print(
        isAdopted
          ? "The clients and the audit log are authenticated as they are."
          : "The database has its keys already. Nothing was changed.",
      );
    });
  keys
    .command("list")
    .description("list the keys that sign access tokens, with the role of each")
    .action(async () => {
      const listed = await withDatabase(async ({ database, sealing, now }) =>
        scheduledTokenKeys(await listValidTokenKeys(createTokenKeyStore(database)), sealing, now()),
      );
      for (const { id, activeFrom, role } of listed) {
        const from = activeFrom instanceof Date ? activeFrom.toISOString() : String(activeFrom);
        print(`${tokenKeyId(id)}  ${from}  ${role}`);
      }
    });
}

function refuseForged(deposits: number): void {
  if (deposits > 0)
    throw new OperatorError(
      `${deposits} deposits were changed in the database by something other than Bursar, or inserted into it. They keep the MAC that they have. Everything else was done. List them with \`bursar audit ledger\`.`,
    );
}

const shownMax = 10;

function refuseUnreadable(contexts: readonly string[]): void {
  if (contexts.length === 0) return;
  const shown = `${contexts.slice(0, shownMax).join(", ")}${contexts.length > shownMax ? ", …" : ""}`;
  throw new OperatorError(
    `${contexts.length} secrets cannot be read with any of the listed master keys, and stay as they are: ${shown}. Everything else was done. If a master key is missing in the file, add it and run the command again. Otherwise something other than Bursar has written them.`,
  );
}

function describeBroken(chains: Resealed["brokenChains"]): string | undefined {
  if (chains.length === 0) return undefined;
  const places = chains.map(({ tenantId, number }) => `${nameOfChain(tenantId)} at entry ${number}`);
  return `Entries were removed from an audit log, or inserted into it: ${places.join(", ")}.`;
}

const brokenAdvice =
  "The old master key still counts there. Everything else was done. Keep that key in the file, run `bursar audit verify`, restore the log from a backup, and run this command again. If the log cannot be restored, add `--accept-broken-logs`: entries before that place, of keys that were replaced earlier, then count no longer.";

function nameOfChain(tenantId: string): string {
  return tenantId === nilTenantId ? "that of no tenant" : showId("tnt", tenantId);
}

function warnUnrecorded(error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  printError(`Warning: the audit log has no entry about this, because it could not be written: ${reason}`);
}
