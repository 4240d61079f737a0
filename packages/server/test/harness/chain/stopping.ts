import { randomUUID } from "node:crypto";
import { showId } from "@bursar/protocol";
import { type AuditDraft, describeAct } from "../../../src/app/audit/audit-entry.js";
import { createTenantSuspensionStore } from "../../../src/store/access/tenant-suspension.js";
import { sql } from "../../../src/store/core/sql.js";
import { createEventLog } from "../../../src/store/events/events.js";
import { createWalletStore } from "../../../src/store/wallets/wallets.js";
import { sealOpenTransactions } from "../database/seal-rows.js";
import { eventually } from "../eventually.js";
import type { ChainWallet } from "./chain-service.js";
import { type DrivenChain, outside } from "./driven-chain.js";
import { modelNetwork } from "./model-network.js";

/** The ways to stop a payment on a driven chain, as clients and the operator have them, and what came of it. */
export function stoppingOf(driven: DrivenChain) {
  const { database, keyed, tenantId } = driven;
  const wallets = createWalletStore(keyed, createEventLog({ publish: () => undefined }));
  const suspensions = createTenantSuspensionStore(keyed);
  const operator = (action: string): AuditDraft =>
    describeAct({ by: "operator", tenantId }, action, showId("tnt", tenantId), new Date());
  const setFrozen = (wallet: ChainWallet, frozen: boolean, clientId: string) =>
    wallets.setFrozen(tenantId, wallet.walletId, frozen, {
      ...operator(frozen ? "wallet.freeze" : "wallet.unfreeze"),
      ...{ actor: "client", clientId },
    });
  const setDisabled = async (id: string, isDisabled: boolean): Promise<string> => {
    const [row] = await database.query<{ clientId: string }>(sql`
      SELECT c.id AS "clientId" FROM clients c JOIN transactions t ON t.client_id = c.id WHERE t.id = ${id}
    `);
    const clientId = row?.clientId ?? randomUUID();
    const state = isDisabled ? "disabled" : "active";
    await database.query(sql`
      INSERT INTO clients (id, tenant_id, name, scopes, state, require_signature, created_at, updated_at, authority_changed_at)
      VALUES (${clientId}, ${tenantId}, 'stolen', '{}', ${state}, false, now(), now(), now())
      ON CONFLICT (id) DO UPDATE SET state = excluded.state
    `);
    if (row !== undefined) return clientId;
    await database.query(sql`UPDATE transactions SET client_id = ${clientId} WHERE id = ${id}`);
    await sealOpenTransactions(database, driven.keys, sql`o.id = ${id}`);
    return clientId;
  };
  return {
    /** Returns the client that has done it. */
    freeze: async (wallet: ChainWallet) => {
      const clientId = randomUUID();
      await setFrozen(wallet, true, clientId);
      driven.wake();
      return clientId;
    },
    unfreeze: (wallet: ChainWallet) => setFrozen(wallet, false, randomUUID()),
    suspend: async () => {
      await suspensions.setSuspended(tenantId, true, operator("tenant.suspend"));
      driven.wake();
    },
    resume: () => suspensions.setSuspended(tenantId, false, operator("tenant.resume")),
    disable: (id: string) => setDisabled(id, true),
    enable: (id: string) => setDisabled(id, false),
    expire: async (id: string) => {
      await database.query(
        sql`UPDATE transactions SET expires_at = created_at + interval '1 ms' WHERE id = ${id}`,
      );
      await sealOpenTransactions(database, driven.keys, sql`o.id = ${id}`);
    },
    list: () =>
      database.query(sql`
        INSERT INTO destinations (tenant_id, id, label, network, address, client_id, created_at, effective_at)
        VALUES (${tenantId}, gen_random_uuid(), 'supplier', ${modelNetwork}, ${outside}, ${tenantId}, now(), '2020-01-01')
      `),
    delist: () => database.query(sql`UPDATE destinations SET removed_at = now() WHERE removed_at IS NULL`),
    assigned: (id: string) =>
      eventually(
        () => driven.nonceOf(id),
        (nonce) => nonce !== null,
      ),
    /** Until it is decided that an empty transaction uses its nonce. */
    stopped: (id: string) =>
      eventually(
        async () =>
          (
            await database.query<{ purpose: string }>(
              sql`SELECT purpose FROM chain_payments WHERE transaction_id = ${id}`,
            )
          )[0]?.purpose,
        (purpose) => purpose === "cancellation",
      ),
    /** What was signed and stored, in order. */
    attempts: async (id: string) =>
      (
        await database.query<{ purpose: string }>(
          sql`SELECT purpose FROM chain_attempts WHERE transaction_id = ${id} ORDER BY number`,
        )
      ).map(({ purpose }) => purpose),
    /** Who has caused its last change. */
    actorOf: async (id: string) =>
      (
        await database.query<{ actorId: string | null }>(
          sql`SELECT actor_id AS "actorId" FROM events WHERE subject_id = ${id} ORDER BY version DESC LIMIT 1`,
        )
      )[0]?.actorId,
    feeOf: async (id: string) =>
      BigInt(
        (
          await database.query<{ fee: string | null }>(
            sql`SELECT fee FROM chain_payments WHERE transaction_id = ${id}`,
          )
        )[0]?.fee ?? -1,
      ),
    /** What the audit log says about stops of this payment. */
    stopsOf: (id: string) =>
      database.query<{ actor: string; clientId: string | null; code: string }>(sql`
        SELECT actor, client_id AS "clientId", code FROM audit_entries
        WHERE action = 'transaction.stop' AND object = ${showId("tx", id)}
      `),
  };
}
