import { AuditPage, AuditQuery, readId, showId } from "@bursar/protocol";
import type { Static } from "typebox";
import type { AuditFilter, ChainedAuditEntry } from "../../../app/audit/audit-entry.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf } from "../../access/guard.js";
import { readCursor, toBoundedPage } from "../../cursor.js";
import { readQueryId } from "../../resource-path.js";
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
        "Newest first. Filters are combined with AND. Each entry's hash covers the previous entry. Entries that the service has not written are left out, so a page can have fewer items than `limit`. The operator can export old entries to files and remove them; `removed_to` is the number of the last one that was removed.",
      query: AuditQuery,
      success: { status: 200, schema: AuditPage, description: "A page of audit entries." },
      errors: [],
    },
    async (request) => {
      const { limit = 50, cursor } = request.query;
      const place = readCursor("audit", cursor);
      const { tenantId } = principalOf(request).principal;
      const { items, scannedTo } = await list({
        tenantId,
        filter: toFilter(request.query),
        limit: limit + 1,
        before: place === undefined ? undefined : BigInt(place),
      });
      const withIds = items.map((entry) => ({ ...entry, id: String(entry.number) }));
      // Read afterwards, so that entries which are removed meanwhile are not a silent gap.
      const removedTo = await findAuditRemovedTo(tenantId);
      return {
        ...toBoundedPage(request, "audit", { items: withIds, scannedTo }, limit, presentEntry),
        removed_to: removedTo === undefined ? null : Number(removedTo),
      };
    },
  );
}

function toFilter(query: Static<typeof AuditQuery>): AuditFilter {
  const { actor, client_id, action, object, outcome, request_id, occurred_after, occurred_before } = query;
  const createdAt = object === undefined ? undefined : timeOf(object);
  return {
    ...(actor === undefined ? {} : { actor }),
    ...(client_id === undefined ? {} : { clientId: readQueryId("cli", "client_id", client_id) }),
    ...(action === undefined ? {} : { actions: readActions(action) }),
    ...(object === undefined ? {} : { object }),
    ...(createdAt === undefined ? {} : { objectCreatedAt: createdAt }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(request_id === undefined ? {} : { requestId: request_id }),
    ...(occurred_after === undefined ? {} : { occurredAfter: new Date(occurred_after) }),
    ...(occurred_before === undefined ? {} : { occurredBefore: new Date(occurred_before) }),
  };
}

/** No action contains a comma or `*`. */
function readActions(action: string): NonNullable<AuditFilter["actions"]> {
  const all = [...new Set(action.split(","))];
  return {
    exact: all.filter((one) => !one.endsWith("*")),
    prefixes: all.filter((one) => one.endsWith("*")).map((one) => one.slice(0, -1)),
  };
}

/** The time in the id of what is created so often that its entries are merged. */
function timeOf(object: string): Date | undefined {
  const id = readId("tx", object) ?? readId("ord", object);
  return id === undefined ? undefined : new Date(Number.parseInt(id.replace("-", "").slice(0, 12), 16));
}

function presentEntry(entry: ChainedAuditEntry) {
  return {
    number: Number(entry.number),
    occurred_at: entry.occurredAt.toISOString(),
    actor: entry.actor,
    client_id: entry.clientId === null ? null : showId("cli", entry.clientId),
    token_id: entry.tokenId === null ? null : showId("tok", entry.tokenId),
    session_id: entry.sessionId == null ? null : showId("ses", entry.sessionId),
    action: entry.action,
    object: entry.object,
    objects: [...(entry.objects ?? (entry.object === null ? [] : [entry.object]))],
    outcome: entry.outcome,
    code: entry.code,
    reason: entry.reason ?? null,
    repeated: entry.repeated,
    request_id: entry.requestId,
    address: entry.address,
    hash: Buffer.from(entry.hash).toString("hex"),
  };
}
