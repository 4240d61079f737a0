import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { nilTenantId } from "../../app/audit/audit-entry.js";
import { exportSegment, type SegmentDeps } from "../../app/audit/segments/export-segment.js";
import { pruneSegment } from "../../app/audit/segments/prune-segment.js";
import { OperatorError } from "../../operator-error.js";
import { createSegmentStore } from "../../store/access/audit-segments.js";
import type { Database } from "../../store/core/database.js";
import { print } from "../print.js";
import { findTenant } from "./find-tenant.js";
import { type OperatorTools, withDatabase } from "./operator-database.js";

const tenantHelp = "the tenant's id or name; `none` for the log of requests that belong to no tenant";

/** Retention: old entries are exported to files, and then removed from the database. */
export function addSegmentCommands(audit: Command): void {
  audit
    .command("export")
    .description("write the entries of a tenant's audit log that a checkpoint covers to a file")
    .requiredOption("--tenant <tenant>", tenantHelp)
    .requiredOption("--to <file>", "the file to write; it must not exist")
    .option(
      "--before <date-or-number>",
      "leave out entries from this date (2026-01-31, or with a time) or number on",
      beforeArgument,
    )
    .option("--after <file>", "continue after this exported file, instead of after the last removed entry")
    .action(async ({ tenant, to, before, after }: ExportOptions) => {
      const verdict = await withSegments(async (deps, database) => {
        const tenantId = await findLog(database, tenant);
        return await readable(exportSegment(deps, { tenantId, path: resolve(to), before, afterPath: after }));
      });
      if ("fault" in verdict) throw new OperatorError(`The audit log was not exported: ${verdict.fault}.`);
      print(`entries ${verdict.first} to ${verdict.last} are in ${to}`);
    });
  audit
    .command("prune")
    .description(
      "remove the entries in an exported file from the database; run it as the owner of the tables",
    )
    .requiredOption("--tenant <tenant>", tenantHelp)
    .requiredOption("--file <file>", "a file that `bursar audit export` has written")
    .action(async ({ tenant, file }: { tenant: string; file: string }) => {
      const verdict = await withSegments(async (deps, database) => {
        const role = await deps.store.findPowerlessRole();
        if (role !== undefined)
          throw new OperatorError(
            `The database role ${role} may not remove audit entries. Set DATABASE_URL to that of the owner of the tables.`,
          );
        return await readable(pruneSegment(deps, { tenantId: await findLog(database, tenant), path: file }));
      });
      if ("fault" in verdict) throw new OperatorError(`Nothing was removed: ${verdict.fault}.`);
      print(`entries ${verdict.first} to ${verdict.last} are removed from the database`);
    });
}

interface ExportOptions {
  tenant: string;
  to: string;
  before?: bigint | Date;
  after?: string;
}

async function withSegments<T>(work: (deps: SegmentDeps, database: Database) => Promise<T>): Promise<T> {
  return await withDatabase(({ database, parts, now }: OperatorTools) =>
    work({ store: createSegmentStore(database), keys: parts.keys, now: () => new Date(now()) }, database),
  );
}

async function findLog(database: Database, named: string): Promise<string> {
  return named === "none" ? nilTenantId : (await findTenant(database, named)).id;
}

/** A file that cannot be read or written is the operator's to repair: no stack trace. */
export async function readable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { code, path, message } = error as NodeJS.ErrnoException;
    if (path === undefined || code === undefined) throw error;
    throw new OperatorError(`The file ${path} cannot be used: ${message}.`, { cause: error });
  }
}

/** Parses a number of an entry, a date, or a date with a time. A date is its midnight in UTC. */
function beforeArgument(text: string): bigint | Date {
  if (/^[1-9]\d{0,15}$/.test(text)) return BigInt(text);
  const date = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(text)
    ? new Date(text)
    : new Date(Number.NaN);
  if (Number.isNaN(date.getTime()))
    throw new InvalidArgumentError("It must be the number of an entry, or a date like 2026-01-31.");
  return date;
}
