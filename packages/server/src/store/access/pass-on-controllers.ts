import type { ApiClient } from "../../app/clients/client.js";
import type { Tx } from "../core/database.js";
import { sql } from "../core/sql.js";
import { writeSeal } from "./client-integrity.js";
import { type ClientRow, readClient, selectClients } from "./read-client.js";

/**
 * Locks all clients of a tenant, in the order of their ids, and prevents new ones: a reset also changes the clients that the client
 * controls. The lock of the tenant comes first, as when a client is created. Served by the primary key of tenants and clients_by_tenant.
 */
export function lockAllClients(tx: Tx, tenantId: string): void {
  tx.send(sql`SELECT FROM tenants WHERE id = ${tenantId} FOR NO KEY UPDATE`);
  // Not FOR UPDATE: payments refer to clients, and need not wait.
  tx.send(sql`SELECT FROM clients WHERE tenant_id = ${tenantId} ORDER BY id FOR NO KEY UPDATE`);
}

/**
 * Adds those that could act as a client to the controllers of the clients that it controls, before a reset removes them from the client
 * itself: what they did through the client stays theirs. Served by clients_by_tenant; a tenant has at most some thousand clients.
 */
export async function passOnControllers(tx: Tx, client: ApiClient): Promise<void> {
  const { id, tenantId, controllers, authorityChangedBy, createdBy, resetAt } = client;
  // An earlier reset has ended what the creator could do.
  const behind = [...controllers, authorityChangedBy, resetAt === null ? createdBy : null];
  const rows = await tx.query<ClientRow>(sql`
    ${selectClients} WHERE clients.tenant_id = ${tenantId} AND clients.id <> ${id}
      AND (authority_changed_by = ${id} OR ${id}::uuid = ANY (controllers))
  `);
  for (const row of rows) {
    const controlled = readClient(tx, row);
    // A new seal would hide that its row was tampered with.
    if (controlled.isTampered === true) continue;
    const added = behind.filter((one) => one !== null && one !== id && one !== controlled.id);
    const next = [...new Set([...controlled.controllers, ...added])] as string[];
    if (next.length === controlled.controllers.length) continue;
    tx.send(sql`UPDATE clients SET controllers = ${next}::uuid[] WHERE id = ${controlled.id}`);
    writeSeal(tx, { ...controlled, controllers: next });
  }
}
