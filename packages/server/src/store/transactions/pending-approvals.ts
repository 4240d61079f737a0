import { type Approval, type ApprovalRequirement, type AssetRegistry, accountOfParty } from "@bursar/domain";
import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import { publicKeyIdentity } from "../../app/people/passkeys/cose-key.js";
import { digestOfPayment, shownPaymentId } from "../../app/transactions/approvals/present-approval.js";
import type { ClaimedPayment, PendingApproval } from "../../app/transactions/settlement.js";
import type { RecordedApproval } from "../../app/transactions/transaction.js";
import {
  type ClientStanding,
  createStandingReader,
  findPaymentFault,
  type OnClientsRead,
  standingOf,
} from "../access/lineage/lineage.js";
import { type KeyedQueryable, requireKeys } from "../core/database.js";
import { sql } from "../core/sql.js";
import { isApprovalAuthentic, isSignedByKey, publicKeyOfSignature } from "./approval-integrity.js";
import { findSealedRequirement, unknownJudgedBy } from "./transaction-integrity.js";

type ClaimedRow = Pick<
  ClaimedPayment,
  | "tenantId"
  | "id"
  | "kind"
  | "clientId"
  | "state"
  | "network"
  | "asset"
  | "sourceAccountId"
  | "destinationAccountId"
  | "expiresAt"
  | "destination"
> & { amount: string; destinationAddress: string | null };

interface WaitingRow {
  id: string;
  tenantId: string;
  requirement: ApprovalRequirement;
  rule: string;
  policyVersion: number;
  askedAt: Date;
  keyId: string | null;
  mac: Uint8Array | null;
  clientId: string;
  approvals: ApprovalRow[];
  isRejected: boolean;
  isDelisted: boolean;
}

/** As JSON: the time and the MAC are strings. */
interface ApprovalRow extends Omit<RecordedApproval, "decidedAt"> {
  decidedAt: string;
  digest: string | null;
  keyId: string | null;
  mac: string | null;
  /** Of the signature. The keys that the approver has now count as well. */
  publicKey: string | null;
}

/**
 * What transactions wait for; whether a client may still approve, and whom it depends on, is what it is now. In statements of their own,
 * which see all that was committed before the rows were locked: a statement that waited for a lock has those rows as they are then, but
 * everything else as it was when the waiting began. What would need more clients than one batch reads stays due, for `later`. Served by
 * primary keys, audit_entries_rejections, destinations_removed and destinations_listed.
 */
export async function readPendingApprovals(
  tx: KeyedQueryable,
  assets: AssetRegistry,
  claimed: readonly ClaimedRow[],
  onRead?: OnClientsRead,
): Promise<Map<string, PendingApproval | "later" | "tampered">> {
  const waiting = claimed.filter(({ state }) => state === "awaiting_approval");
  if (waiting.length === 0) return new Map();
  const rows = await tx.query<WaitingRow>(sql`
    SELECT j.tenant_id AS "tenantId", j.transaction_id AS id, j.requirement, j.rule, j.policy_version AS "policyVersion",
      j.judged_at AS "askedAt", j.key_id AS "keyId", j.mac,
      w.client_id AS "clientId", (
      SELECT coalesce(jsonb_agg(jsonb_build_object('version', a.version, 'clientId', a.client_id, 'decision', a.decision,
          'digest', encode(a.digest, 'hex'), 'comment', a.comment, 'decidedAt', a.decided_at, 'keyId', a.key_id, 'mac', encode(a.mac, 'base64'),
          'isSigned', ${isSignedByKey}, 'publicKey', ${publicKeyOfSignature})
        ORDER BY a.version), '[]')
      FROM approvals a WHERE a.tenant_id = j.tenant_id AND a.transaction_id = j.transaction_id) AS approvals,
      ${wasRejected} AS "isRejected",
      CASE WHEN w.network IS NULL THEN false ELSE ${wasRemovedSince} END AS "isDelisted"
    FROM unnest(${waiting.map((w) => w.tenantId)}::uuid[], ${waiting.map((w) => w.id)}::uuid[],
      ${waiting.map((w) => shownPaymentId(w.id))}::text[],
      ${waiting.map((w) => w.clientId)}::uuid[],
      ${waiting.map((w) => (w.destination === "own_wallet" ? null : w.network))}::text[]) AS w (tenant_id, id, shown_id, client_id, network)
    CROSS JOIN LATERAL (
      SELECT * FROM judgements j WHERE j.tenant_id = w.tenant_id AND j.transaction_id = w.id LIMIT 1) AS j
  `);
  const reader = createStandingReader(tx, { onRead });
  const turns = inTurns(waiting, rows);
  const clientsOf = (row: WaitingRow) => [row.clientId, ...row.approvals.map(({ clientId }) => clientId)];
  const readCount = await reader.readAhead(turns.map(clientsOf));
  const digests = new Map(waiting.map((payment) => [payment.id, digestToPay(payment, assets)]));
  const keys = requireKeys(tx);
  // One without a requirement that the service has written stays tampered.
  const pending = new Map<string, PendingApproval | "later" | "tampered">(
    waiting.map(({ id }) => [id, "tampered"]),
  );
  for (const [index, row] of turns.entries()) {
    const { tenantId, id, requirement, askedAt: judgedAt, rule, policyVersion } = row;
    const judgedBy = { rule, policyVersion };
    const sealed = findSealedRequirement(keys, { tenantId, id, requirement, judgedAt, judgedBy }, row);
    if (sealed === undefined) continue;
    if (index < readCount) {
      const standings = await reader.read(clientsOf(row));
      pending.set(
        row.id,
        toPending({ ...row, ...(sealed.judgedBy ?? unknownJudgedBy) }, digests.get(row.id), standings, keys),
      );
    } else pending.set(row.id, "later");
  }
  return pending;
}

/**
 * The digest of what the rows say now, which a writer to the database may have changed since it was approved; undefined if an address would
 * be paid from an account that is not the network's, or the asset is none of the installation.
 */
function digestToPay(
  { destinationAccountId, destinationAddress, ...row }: ClaimedRow,
  assets: AssetRegistry,
): string | undefined {
  const { tenantId, id, kind, asset, network, amount, sourceAccountId, expiresAt, clientId } = row;
  const destination =
    destinationAddress === null ? { walletId: destinationAccountId } : { address: destinationAddress };
  const decimals = assets.find(asset)?.decimals;
  if (clientId === null || decimals === undefined) return undefined;
  if (accountOfParty(destination, network) !== destinationAccountId) return undefined;
  const payment = { tenantId, id, kind, asset, decimals, network, destination, expiresAt, clientId };
  return digestOfPayment({ ...payment, amount: BigInt(amount), sourceWalletId: sourceAccountId });
}

/** By the audit log, from which the role of the service cannot remove anything: a rejection is final also if its row was deleted. */
const wasRejected = sql`EXISTS (
  SELECT FROM audit_entries e
  WHERE e.tenant_id = w.tenant_id AND e.object = w.shown_id AND e.action = 'transaction.reject' AND e.outcome = 'succeeded')`;

/** Of a payment to an address: whether that was on the allow-list when the payment was judged, and no longer is. */
const wasRemovedSince = sql`EXISTS (
  SELECT FROM transactions t JOIN destinations d
    ON d.tenant_id = t.tenant_id AND d.network = w.network AND d.address = t.destination_address
  WHERE t.tenant_id = w.tenant_id AND t.id = w.id AND d.removed_at >= j.judged_at AND d.effective_at <= t.created_at
    AND NOT EXISTS (
      SELECT FROM destinations l
      WHERE l.tenant_id = t.tenant_id AND l.network = w.network AND l.address = t.destination_address
        AND l.removed_at IS NULL AND l.effective_at <= t.created_at))`;

/** The first of each tenant, then the second of each: a tenant with long lineages does not delay the others. */
function inTurns(claimed: readonly ClaimedRow[], rows: readonly WaitingRow[]): WaitingRow[] {
  const turns = new Map<string, number>();
  const counts = new Map<string, number>();
  for (const { id, tenantId } of claimed) {
    const turn = counts.get(tenantId) ?? 0;
    turns.set(id, turn);
    counts.set(tenantId, turn + 1);
  }
  return rows.toSorted((one, other) => (turns.get(one.id) ?? 0) - (turns.get(other.id) ?? 0));
}

function toPending(
  {
    requirement,
    rule,
    policyVersion,
    askedAt,
    clientId,
    approvals,
    isRejected,
    isDelisted,
    tenantId,
    id: transactionId,
  }: WaitingRow,
  digest: string | undefined,
  standings: ReadonlyMap<string, ClientStanding>,
  keys: IntegrityKeys,
): PendingApproval {
  return {
    requirement,
    rule,
    policyVersion,
    askedAt,
    initiator: standingOf(standings, clientId),
    approvals: approvals.map(({ keyId, mac, ...row }) => {
      const approval = { ...row, tenantId, transactionId, decidedAt: new Date(row.decidedAt) };
      const stored = { keyId, mac: mac === null ? null : Buffer.from(mac, "base64") };
      const isAuthentic = row.digest === digest && isApprovalAuthentic(keys, approval, stored);
      const standing = standingOf(standings, row.clientId);
      const { publicKey } = row;
      const signers =
        publicKey === null ? [] : [{ key: publicKeyIdentity(Buffer.from(publicKey, "hex")), untilMs: null }];
      const publicKeys = [...standing.publicKeys, ...signers];
      return { ...readApproval(approval, isAuthentic, standing), publicKeys };
    }),
    isRejected,
    isDelisted,
  };
}

/** What the service has not recorded, or for another payment, does not approve anything. It can reject, because stopping is always safe. */
function readApproval(
  { clientId, decision, decidedAt, isSigned }: RecordedApproval,
  isAuthentic: boolean,
  standing: ClientStanding,
): Approval {
  const { isPerson, lineage, lineageKeys, authorityChangedAtMs } = standing;
  return {
    clientId,
    decision,
    atMs: decidedAt.getTime(),
    standingFault: isAuthentic ? findPaymentFault(standing) : "not_recorded",
    lineage,
    lineageKeys,
    authorityChangedAtMs,
    isSigned,
    isPerson,
  };
}
