import { readFileSync } from "node:fs";
import { showId } from "@bursar/protocol";
import type { Command } from "commander";
import { type ChainVerdict, verifyAudit } from "../../app/audit/audit-chain.js";
import { entriesLostAction, nilTenantId } from "../../app/audit/audit-entry.js";
import { isPositionAuthentic } from "../../app/audit/chain-hash.js";
import { type Checkpoint, signCheckpoint, tenantOfCheckpoint } from "../../app/audit/checkpoint.js";
import { readCheckpoints } from "../../app/audit/read-checkpoints.js";
import { type FileVerdict, verifySegments } from "../../app/audit/segments/verify-segments.js";
import { OperatorError } from "../../operator-error.js";
import { createAuditStore } from "../../store/access/audit.js";
import { createSegmentStore } from "../../store/access/audit-segments.js";
import { listTamperedClients } from "../../store/access/authenticate-clients.js";
import { createTenantStore } from "../../store/access/clients.js";
import { auditLedger, recordLedgerAudit } from "../../store/ledger/audit-ledger.js";
import { findForgedApprovals } from "../../store/transactions/forged-approvals.js";
import { print, printError, printJson } from "../print.js";
import { addChainAudit } from "./audit-chain.js";
import { addSegmentCommands, readable } from "./audit-segments.js";
import { withDatabase } from "./operator-database.js";

/** The number of forged decisions that are listed. */
const forgedMax = 100;

export function addAuditCommand(program: Command): void {
  const audit = program.command("audit").description("check the audit log and the ledger");
  audit
    .command("ledger")
    .description("check the ledger: sums, balances, holds, sequences")
    .action(async () => {
      const verdicts = await withDatabase(async ({ database, now }) => {
        const found = await auditLedger(database);
        // The verdict counts, also if it cannot be recorded, as by a role that may only read.
        await recordLedgerAudit(database, found, new Date(now())).catch((error: unknown) =>
          printError(`Warning: the metrics do not show this audit: ${(error as Error).message}.`),
        );
        return found;
      });
      for (const { what, violations } of verdicts) {
        print(`${violations.length === 0 ? "holds    " : "VIOLATED "} ${what}`);
        for (const violation of violations) print(`          ${JSON.stringify(violation)}`);
      }
      if (verdicts.some(({ violations }) => violations.length > 0))
        throw new OperatorError("The ledger violates the rules above.");
    });
  addChainAudit(audit);
  audit
    .command("verify")
    .description(
      "verify every tenant's hash chain of audit entries, the clients, and the decisions on payments; finds what was changed, removed or added",
    )
    .option(
      "--since <file>",
      "also compare with the checkpoints in this file of JSON lines: the service's log, events, or the output of `bursar audit checkpoint`",
    )
    .option("--file <file...>", "also verify these exported files, and that the database continues them")
    .action(async ({ since, file = [] }: { since?: string; file?: string[] }) => {
      const checkpoints = since === undefined ? [] : readCheckpointFile(since);
      const { files, verdicts, tampered, forged } = await withDatabase(
        async ({ database, parts: { keys } }) => {
          const tenants = await createTenantStore(database).listTenants();
          const segments = { store: createSegmentStore(database), keys };
          const verified = await readable(verifySegments(segments, file, checkpoints));
          for (const one of verified) print(describeFile(one));
          return {
            files: verified,
            verdicts: await verifyAudit({
              store: createAuditStore(database),
              keys,
              checkpoints,
              tenantIds: [nilTenantId, ...tenants.map(({ id }) => id)],
              onVerdict: (verdict) => print(describeChain(verdict)),
            }),
            tampered: await listTamperedClients(database),
            forged: await findForgedApprovals(database, forgedMax),
          };
        },
      );
      for (const id of tampered)
        print(`${showId("cli", id)}  the client, or one of its credentials, was changed or removed`);
      for (const { transaction_id, decision } of forged)
        print(
          `${showId("tx", String(transaction_id))}  a decision (${decision}) that the service has not recorded`,
        );
      if (verdicts.some(({ fault }) => fault !== undefined))
        throw new OperatorError("The audit log has been tampered with.");
      if (files.some(({ verdict }) => "fault" in verdict))
        throw new OperatorError("An exported file was tampered with, or one is missing.");
      if (tampered.length > 0)
        throw new OperatorError(
          "The clients above were changed in the database. Examine it, and run `bursar client restore` for each.",
        );
      if (forged.length > 0)
        throw new OperatorError(
          "The decisions above were added to the database, or changed there. An approval of them does not count. A rejection has stopped its payment: request that again.",
        );
    });
  audit
    .command("checkpoint")
    .description(
      "sign the present end of every audit log and print it; keep the output away from the database, for `audit verify --since`",
    )
    .action(async () => {
      const untrusted = await withDatabase(async ({ database, parts: { keys }, now }) => {
        const heads = await createAuditStore(database).listHeads();
        const trusted = heads.filter((head) => isPositionAuthentic(keys, "head", head));
        const at = new Date(now());
        for (const head of trusted) printJson(signCheckpoint(keys, head, at));
        return heads.filter((head) => !trusted.includes(head)).map(({ tenantId }) => nameOf(tenantId));
      });
      if (untrusted.length > 0)
        throw new OperatorError(
          `The end of the audit log was changed for: ${untrusted.join(", ")}. It was not signed. Run \`bursar audit verify\`.`,
        );
    });
  audit
    .command("keys")
    .description("print the public keys that verify checkpoints, as a JWK set")
    .action(async () => {
      const keys = await withDatabase(async ({ parts }) => parts.useCases.listAuditKeys());
      printJson({ keys });
    });
  addSegmentCommands(audit);
}

function describeFile({ path, verdict }: FileVerdict): string {
  if ("fault" in verdict) return `${path}  ${verdict.fault}`;
  return `${path}  ${nameOf(verdict.tenantId)}  entries ${verdict.first} to ${verdict.last}  intact`;
}

function describeChain(verdict: ChainVerdict): string {
  const { tenantId, entries, faults, moreFaults, head, prunedTo, losses } = verdict;
  const removed = prunedTo === 0n ? "" : ` after ${prunedTo}, which were exported and removed`;
  const lost =
    losses === 0
      ? ""
      : `, ${losses} of which say that a restore or a failover has lost others (${entriesLostAction})`;
  const more = moreFaults === 0 ? [] : [`and ${moreFaults} more faults`];
  const found = faults.length === 0 ? `intact  ${head}` : [...faults, ...more].join("\n          ");
  return `${nameOf(tenantId)}  ${entries} entries${removed}${lost}  ${found}`;
}

function nameOf(tenantId: string): string {
  return tenantId === nilTenantId ? "(no tenant)" : showId("tnt", tenantId);
}

function readCheckpointFile(path: string): Checkpoint[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new OperatorError(`The file ${path} cannot be read.`, { cause });
  }
  const checkpoints = readCheckpoints(text);
  if (checkpoints.length === 0) throw new OperatorError(`The file ${path} contains no checkpoint.`);
  const malformed = checkpoints.find((checkpoint) => tenantOfCheckpoint(checkpoint) === undefined);
  if (malformed !== undefined)
    throw new OperatorError(
      `A checkpoint in ${path} has the tenant_id ${JSON.stringify(malformed.tenant_id)}, which is not the id of a tenant.`,
    );
  return checkpoints;
}
