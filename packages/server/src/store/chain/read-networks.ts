import type { RecordedNetwork } from "../../app/chain/chain-status.js";
import type { Queryable } from "../core/database.js";
import { sql } from "../core/sql.js";

interface Row extends Omit<RecordedNetwork, "headNumber" | "finalNumber" | "baseFee"> {
  headNumber: string;
  finalNumber: string;
  baseFee: string | null;
}

/** Served by the primary key; the configured networks are few. */
export async function readNetworks(
  source: Queryable,
  networks: readonly string[],
): Promise<RecordedNetwork[]> {
  const rows = await source.query<Row>(sql`
    SELECT network, state, halted_reason AS "haltedReason", halted_at AS "haltedAt", head_number::text AS "headNumber",
      final_number::text AS "finalNumber", base_fee::text AS "baseFee", seen_at AS "seenAt"
    FROM networks WHERE network = ANY (${[...networks]}::text[])
  `);
  return rows.map(({ headNumber, finalNumber, baseFee, ...row }) => ({
    ...row,
    headNumber: Number(headNumber),
    finalNumber: Number(finalNumber),
    baseFee: baseFee === null ? null : BigInt(baseFee),
  }));
}
