import { AuditPage, AuditQuery, showId } from "@bursar/protocol";
import type { ChainedAuditEntry } from "../../../app/audit/audit-entry.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf } from "../../access/guard.js";
import { readCursor, toBoundedPage } from "../../cursor.js";
import { defineRoute } from "../../route.js";

export function listAudit({
  listAudit: list,
  findAuditRemovedTo,
}: Pick<UseCases, "listAudit" | "findAuditRemovedTo">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/audit",
      access: "audit:read",
      operationId: "listAudit",
      tag: "Audit",
      summary: "Read the audit log",
      description:
        "Newest first. Each entry's hash covers the previous entry. Entries that the service has not written are left out, so a page can have fewer items than `limit`. The operator can export old entries to files and remove them; `removed_to` is the number of the last one that was removed.",
      query: AuditQuery,
      success: { status: 200, schema: AuditPage, description: "A page of audit entries." },
      errors: [],
    },
    async (request) => {
      const { limit = 50, cursor } = request.query;
      const place = readCursor("audit", cursor);
      const { tenantId } = principalOf(request).principal;
      const { items, scannedTo } = await list(
        tenantId,
        limit + 1,
        place === undefined ? undefined : BigInt(place),
      );
      const withIds = items.map((entry) => ({ ...entry, id: String(entry.number) }));
      // Read afterwards, so that entries which are removed meanwhile are not a silent gap.
      const removedTo = await findAuditRemovedTo(tenantId);
      return {
        ...toBoundedPage("audit", { items: withIds, scannedTo }, limit, presentEntry),
        removed_to: removedTo === undefined ? null : Number(removedTo),
      };
    },
  );
}

function presentEntry(entry: ChainedAuditEntry) {
  return {
    number: Number(entry.number),
    occurred_at: entry.occurredAt.toISOString(),
    actor: entry.actor,
    client_id: entry.clientId === null ? null : showId("cli", entry.clientId),
    token_id: entry.tokenId === null ? null : showId("tok", entry.tokenId),
    action: entry.action,
    object: entry.object,
    objects: [...(entry.objects ?? (entry.object === null ? [] : [entry.object]))],
    outcome: entry.outcome,
    code: entry.code,
    repeated: entry.repeated,
    request_id: entry.requestId,
    address: entry.address,
    hash: Buffer.from(entry.hash).toString("hex"),
  };
}
