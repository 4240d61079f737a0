import type { ApiClient, ClientKey } from "../../../app/clients/client.js";
import { readPasskey } from "../../../app/people/passkey.js";
import type { Tx } from "../../core/database.js";
import { sql } from "../../core/sql.js";

/**
 * Whether another person of the tenant has a passkey with the credential id or the public key of this one: one touch of one device would be
 * two people. Registrations of a tenant take turns, after their clients are locked, so that the second of two sees the first. The passkeys
 * are stored as JSON, in which no name contains a bare quotation mark. Served by people_by_tenant and client_keys_by_client.
 */
export async function isPasskeyOfOther(
  tx: Tx,
  { tenantId, id }: Pick<ApiClient, "tenantId" | "id">,
  key: ClientKey,
): Promise<boolean> {
  if (key.algorithm !== "passkey") return false;
  tx.send(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`passkeys of ${tenantId}`}, 0))`);
  const { credentialId, publicKey } = readPasskey(key);
  const holds = (member: object) =>
    sql`position(${Buffer.from(JSON.stringify(member).slice(1, -1))}::bytea IN k.material) > 0`;
  const found = await tx.query(sql`
    SELECT k.id FROM clients c JOIN client_keys k ON k.client_id = c.id
    WHERE c.tenant_id = ${tenantId} AND c.email IS NOT NULL AND c.id <> ${id} AND k.algorithm = 'passkey'
      AND (${holds({ credentialId })} OR ${holds({ publicKey })})
    LIMIT 1
  `);
  return found.length > 0;
}
