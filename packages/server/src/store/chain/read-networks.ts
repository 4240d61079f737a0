import type { RecordedNetwork } from "../../app/chain/chain-status.js";
import type { Queryable } from "../core/database.js";
import { sql } from "../core/sql.js";
import { unownedRows } from "./unowned-rows.js";

interface Row extends Omit<RecordedNetwork, "headNumber" | "finalNumber" | "settledNumber" | "baseFee"> {
  headNumber: string;
  finalNumber: string;
  settledNumber: string;
  baseFee: string | null;
}

const shownState = sql`
  CASE WHEN state = 'halted' THEN state WHEN expires_at <= now() THEN 'waiting'
    WHEN unreachable_since IS NOT NULL THEN 'unreachable'
    WHEN stalled_since IS NOT NULL THEN 'stalled' ELSE state END`;

const isFollowed = sql`state <> 'halted' AND expires_at > now()`;

const haltedMax = 1000;

/** Served by primary keys, chain_wallets_halted, chain_payments_included and chain_deposits_seen; the configured networks and all doubts are few. */
export async function readNetworks(
  source: Queryable,
  networks: readonly string[],
): Promise<RecordedNetwork[]> {
  const rows = await source.query<Row>(sql`
    SELECT network, ${shownState} AS state,
      CASE WHEN ${shownState} = 'unreachable' THEN unreachable_since END AS "unreachableSince", 
      CASE WHEN ${isFollowed} THEN stalled_since END AS "stalledSince", CASE WHEN ${isFollowed} THEN stalled_reason END AS "stalledReason",
      halted_reason AS "haltedReason", halted_at AS "haltedAt", head_number::text AS "headNumber",
      final_number::text AS "finalNumber", settled_number::text AS "settledNumber", base_fee::text AS "baseFee", seen_at AS "seenAt", (
        SELECT count(*)::integer FROM (
          SELECT 1 FROM chain_wallets w WHERE w.network = networks.network AND w.halted_reason IS NOT NULL
          LIMIT ${haltedMax}) AS halted) AS "haltedWallets",
      (SELECT count(*)::integer FROM wallet_doubts d WHERE d.network = networks.network) AS doubts,
      (SELECT count(*)::integer FROM (${unownedRows}) AS unowned) AS "unownedRows"
    FROM networks WHERE network = ANY (${[...networks]}::text[])
  `);
  return rows.map(({ headNumber, finalNumber, settledNumber, baseFee, ...row }) => ({
    ...row,
    headNumber: Number(headNumber),
    finalNumber: Number(finalNumber),
    settledNumber: Number(settledNumber),
    baseFee: baseFee === null ? null : BigInt(baseFee),
  }));
}
