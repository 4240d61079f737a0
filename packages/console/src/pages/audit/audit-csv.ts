import type { AuditEntry } from "@bursar/client";
import { readClientNames } from "../../api/client-names";
import { type CsvColumn, toCsv } from "../../ui/tables/csv";
import { actionName } from "./action-name";
import { changesText, entryObjects } from "./entry-objects";

/** Entries, with the names of those who acted. */
export async function auditCsv(rows: readonly AuditEntry[]): Promise<string> {
  const names = await readClientNames(rows.map(({ client_id }) => client_id));
  const columns: readonly CsvColumn<AuditEntry>[] = [
    ["number", (row) => String(row.number)],
    ["occurred_at", (row) => row.occurred_at],
    ["actor", (row) => row.actor],
    ["client_id", (row) => row.client_id],
    ["client_name", ({ client_id }) => names.get(client_id ?? "") ?? null],
    ["action", (row) => row.action],
    ["action_name", ({ action }) => actionName(action)],
    ["outcome", (row) => row.outcome],
    ["code", (row) => row.code],
    ["object", (row) => entryObjects(row).ids.join(" ")],
    ["changes", (row) => changesText(entryObjects(row).changes)],
    ["repeated", (row) => String(row.repeated)],
    ["address", (row) => row.address],
    ["request_id", (row) => row.request_id],
  ];
  return toCsv(columns, rows);
}
