import type { EndpointSecrets, WebhookEndpoint } from "../../app/webhooks/endpoint.js";
import { requireKeys, type Tx } from "../core/database.js";
import { sql } from "../core/sql.js";
import { macOfEndpoint } from "./endpoint-integrity.js";
import { type EndpointRow, endpointColumns, toEndpoint } from "./webhook-endpoints.js";

/** Encrypts a secret of an endpoint again with the current master key; undefined if it is already. */
type ResealSecret = (endpoint: WebhookEndpoint, sealed: Uint8Array) => Uint8Array | undefined;

/**
 * Encrypts the secrets of one batch of endpoints again, and writes their MACs with the current key. One that was tampered with stays as it
 * is: a new MAC would hide that. Read in the order of the ids: a scan of the table for each batch, which is rare and small.
 */
export async function resealEndpoints(
  tx: Tx,
  afterId: string,
  batchMax: number,
  reseal: ResealSecret,
): Promise<{ written: number; lastId: string | undefined }> {
  const keys = requireKeys(tx);
  const rows = await tx.query<EndpointRow>(sql`
    SELECT ${endpointColumns} FROM webhook_endpoints e
    WHERE id > ${afterId} AND state <> 'deleted' ORDER BY id LIMIT ${batchMax} FOR UPDATE
  `);
  let written = 0;
  for (const row of rows) {
    const endpoint = toEndpoint(keys, row);
    if (endpoint.isTampered === true) continue;
    const secrets = resealBoth(endpoint, reseal);
    if (secrets === undefined && row.keyId === keys.currentId) continue;
    const { current, old } = secrets ?? endpoint.secrets;
    const { keyId, mac } = macOfEndpoint(keys, { ...endpoint, secrets: { current, old } });
    tx.send(sql`
      UPDATE webhook_endpoints SET secret = ${Buffer.from(current)}, old_secret = ${old === null ? null : Buffer.from(old.sealed)},
        key_id = ${keyId}, mac = ${mac}
      WHERE tenant_id = ${endpoint.tenantId} AND id = ${endpoint.id}
    `);
    written += 1;
  }
  return { written, lastId: rows.at(-1)?.id };
}

function resealBoth(endpoint: WebhookEndpoint, reseal: ResealSecret): EndpointSecrets | undefined {
  const { current, old } = endpoint.secrets;
  const [again, oldAgain] = [
    reseal(endpoint, current),
    old === null ? undefined : reseal(endpoint, old.sealed),
  ];
  if (again === undefined && oldAgain === undefined) return undefined;
  return { current: again ?? current, old: old === null ? null : { ...old, sealed: oldAgain ?? old.sealed } };
}
