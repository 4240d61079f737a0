import { readId } from "@bursar/protocol";
import {
  type ChangeRow,
  readRequest,
  selectRequests,
} from "../../../src/store/access/change-requests/change-request-rows.js";
import { macOfRow } from "../../../src/store/access/row-integrity.js";
import { openDatabase } from "../../../src/store/core/database.js";
import { type Statement, sql } from "../../../src/store/core/sql.js";
import type { InspectableService } from "../service/test-service.js";

/** Changes an open change request as time would, and authenticates it again, as the service does. */
export async function alterChangeRequest(
  { database, keys }: Pick<InspectableService, "database" | "keys">,
  tenantId: string,
  id: string,
  change: Statement,
): Promise<void> {
  const [tenant, request] = [readId("tnt", tenantId) ?? "", readId("chr", id) ?? ""];
  const where = sql`WHERE tenant_id = ${tenant} AND id = ${request}`;
  const pool = openDatabase({ url: database.url, connectionsMax: 1 });
  try {
    // In one SQL transaction, or the service would see it between the two.
    await pool.transaction(async (tx) => {
      await tx.query(sql`UPDATE change_requests SET ${change} ${where}`);
      const [row] = await tx.query<ChangeRow>(sql`${selectRequests} ${where}`);
      if (row === undefined) throw new Error(`the change request ${id} does not exist`);
      const { keyId, mac } = macOfRow(keys, "change request", readRequest(row));
      await tx.query(sql`UPDATE change_requests SET key_id = ${keyId}, mac = ${mac} ${where}`);
    });
  } finally {
    await pool.close();
  }
}
