import { typeIdFromUuid } from "@bursar/domain";
import type { ApiClient } from "../../app/clients/client.js";
import { OperatorError } from "../../operator-error.js";
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

/** No client has this id, so a client that it controls is independent of nobody. */
const unknownController = "00000000-0000-0000-0000-000000000000";

/**
 * Adds those that could act as a client to the controllers of the clients that it controls, before a reset removes them from the client
 * itself: what they did through the client stays theirs. All clients of the tenant are verified, because one whose row was changed for a
 * moment would be left out.
 */
export async function passOnControllers(tx: Tx, client: ApiClient): Promise<void> {
  const { id, tenantId, controllers, authorityChangedBy, createdBy, resetAt } = client;
  const others = await readOthers(tx, tenantId, id);
  const tampered = others.find(({ isTampered }) => isTampered === true);
  if (tampered !== undefined)
    throw new OperatorError(
      `The client ${typeIdFromUuid("cli", tampered.id)} was changed by something other than Bursar. Restore it first, with \`bursar client restore\`.`,
    );
  // An earlier reset has ended what the creator could do.
  const behind = [...controllers, authorityChangedBy, resetAt === null ? createdBy : null];
  addControllers(
    tx,
    others,
    id,
    behind.filter((one) => one !== null),
  );
}

/**
 * As `passOnControllers`, for a client whose row was tampered with: nobody knows who could act as it. Returns the other clients of the
 * tenant that were tampered with, and have to be restored with it: they would be left out.
 */
export async function passOnUnknown(tx: Tx, { id, tenantId }: ApiClient): Promise<string[]> {
  const others = await readOthers(tx, tenantId, id);
  const tampered = others.flatMap((other) => (other.isTampered === true ? [other.id] : []));
  for (const one of [id, ...tampered]) addControllers(tx, others, one, [unknownController]);
  return tampered;
}

/** Served by clients_by_tenant; a tenant has at most some thousand clients. */
async function readOthers(tx: Tx, tenantId: string, id: string): Promise<ApiClient[]> {
  const rows = await tx.query<ClientRow>(sql`
    ${selectClients} WHERE clients.tenant_id = ${tenantId} AND clients.id <> ${id}
  `);
  return rows.map((row) => readClient(tx, row));
}

/** Adds controllers to those of these clients that a client controls. A new seal would hide that a row was tampered with. */
function addControllers(tx: Tx, clients: readonly ApiClient[], id: string, behind: readonly string[]): void {
  for (const controlled of clients) {
    const { controllers, authorityChangedBy, person } = controlled;
    const isControlled = [...controllers, authorityChangedBy, person?.roleCreatedBy].includes(id);
    if (!isControlled || controlled.isTampered === true) continue;
    const added = behind.filter((one) => one !== id && one !== controlled.id);
    const next = [...new Set([...controllers, ...added])];
    if (next.length === controllers.length) continue;
    tx.send(sql`UPDATE clients SET controllers = ${next}::uuid[] WHERE id = ${controlled.id}`);
    writeSeal(tx, { ...controlled, controllers: next });
    // So that what a second client passes on to it is added to this.
    controlled.controllers = next;
  }
}
