import { findIndependenceFault, recordedApprovalsMax } from "@bursar/domain";
import type { ApprovalEvidence, EvidenceStore } from "../../app/transactions/approvals/approval-evidence.js";
import type { ApprovalStore } from "../../app/transactions/approvals/decide-approval.js";
import type { RecordedApproval } from "../../app/transactions/transaction.js";
import { appendAudit } from "../access/audit.js";
import { readStandings, standingOf } from "../access/lineage/lineage.js";
import type { RowMac } from "../access/row-integrity.js";
import { hasEnded } from "../access/stops/stop-records.js";
import { type Database, type KeyedQueryable, type Queryable, requireKeys } from "../core/database.js";
import { sql } from "../core/sql.js";
import type { EventLog } from "../events/events.js";
import {
  isApprovalAuthentic,
  isDecisionAuthentic,
  isSignedByKey,
  macOfApproval,
  publicKeyOfSignature,
  type SealedApproval,
} from "./approval-integrity.js";
import { isTransactionAuthentic, type SealedTransaction, sealedColumns } from "./transaction-integrity.js";

/** A decision is due at once, whatever the clocks of the processes that look at it say. */
export function createApprovalStore(database: Database, log: EventLog): ApprovalStore & EvidenceStore {
  return {
    findApproverFault: async ({ initiatorId, requestedAt, people }, approverId, onClientsRead) => {
      const standings = await readStandings(database, [initiatorId, approverId], onClientsRead);
      const requestedAtMs = requestedAt.getTime();
      const initiator = { ...standingOf(standings, initiatorId), initiatorId, requestedAtMs };
      const approver = standingOf(standings, approverId);
      if (people && !approver.isPerson) return "not_a_person";
      return findIndependenceFault({ ...initiator, askedAtMs: requestedAtMs }, approver);
    },
    recordApproval: (tenantId, transactionId, { evidence, ...approval }, audit) =>
      database.transaction(async (tx) => {
        const { clientId, decision, digest, comment, decidedAt } = approval;
        // The engine holds this row while it decides; the second of two finds it as the first has left it. Served by primary keys.
        const [open] = await tx.query<
          SealedTransaction & RowMac & { version: number; hasEnded: boolean | null }
        >(sql`
          SELECT o.version, o.needs_judgement AS "needsJudgement", w.network, ${sealedColumns}, ${hasEnded(sql`t`)} AS "hasEnded"
          FROM open_transactions o JOIN transactions t ON t.tenant_id = o.tenant_id AND t.id = o.id
          JOIN wallets w ON w.tenant_id = t.tenant_id AND w.id = t.source_account_id
          WHERE o.tenant_id = ${tenantId} AND o.id = ${transactionId} AND o.state = 'awaiting_approval' FOR UPDATE OF o
        `);
        if (open === undefined) return "closed";
        // A rejection stops it in any case.
        const isSound = open.hasEnded !== true && isTransactionAuthentic(requireKeys(tx), open);
        if (decision === "approve" && !isSound) return "tampered";
        const version = open.version + 1;
        const isSigned = evidence?.algorithm === "ed25519" || evidence?.algorithm === "passkey";
        const earlier = await listRecorded(tx, tenantId, transactionId);
        const repeats = (one: RecordedRow) =>
          one.clientId === clientId &&
          one.decision === decision &&
          one.digest === digest &&
          // One with a signature can count where the earlier one does not.
          (one.isSigned || !isSigned) &&
          isAuthentic(tx, one);
        // What is repeated changes nothing: the decision has been due since it was recorded.
        if (earlier.some(repeats)) return "repeated";
        const approvalCount = earlier.filter((one) => one.decision === "approve").length;
        if (decision === "approve" && approvalCount >= recordedApprovalsMax) return "full";
        const publicKey = toHex(evidence?.publicKey);
        const recorded = { tenantId, transactionId, version, isSigned, publicKey, ...approval };
        const { keyId, mac } = macOfApproval(requireKeys(tx), recorded);
        // What has this version already was not written by the service: it must not keep an approver from rejecting.
        for (const table of [sql`approval_signatures`, sql`approvals`])
          tx.send(sql`
            DELETE FROM ${table}
            WHERE tenant_id = ${tenantId} AND transaction_id = ${transactionId} AND version = ${version}
          `);
        tx.send(sql`
          INSERT INTO approvals (tenant_id, transaction_id, version, client_id, decision, digest, comment, decided_at, key_id, mac)
          VALUES (${tenantId}, ${transactionId}, ${version}, ${clientId}, ${decision}, decode(${digest}, 'hex'), ${comment},
            ${decidedAt}, ${keyId}, ${mac})
        `);
        tx.send(sql`
          UPDATE open_transactions SET version = ${version}, due_at = '-infinity'
          WHERE tenant_id = ${tenantId} AND id = ${transactionId}
        `);
        if (evidence !== null) await insertEvidence(tx, { tenantId, transactionId, version }, evidence);
        await appendAudit(tx, [audit]);
        await log.append(tx, [
          {
            tenantId,
            event: "transaction.updated",
            subjectId: transactionId,
            version,
            state: "awaiting_approval",
            previousState: "awaiting_approval",
            failureCode: null,
            occurredAt: decidedAt,
            actorId: clientId,
          },
        ]);
        return "recorded";
      }),
    // Served by the primary keys. At most as many as a tenant has clients, twice.
    listEvidence: async (tenantId, transactionId, isWaiting) => {
      const rows = await database.query<EvidenceRow & MacColumns>(sql`
        SELECT a.version, a.client_id AS "clientId", a.decision, encode(a.digest, 'hex') AS digest, a.comment,
          a.decided_at AS "decidedAt", a.key_id AS "macKeyId", a.mac, ${isSignedByKey} AS "isSigned", s.key_id AS "keyId", s.algorithm, s.public_key AS "publicKey", s.params, s.signature, s.base, s.body,
          s.base_available_at AS "baseAvailableAt"
        FROM approvals a LEFT JOIN approval_signatures s
          ON s.tenant_id = a.tenant_id AND s.transaction_id = a.transaction_id AND s.version = a.version
        WHERE a.tenant_id = ${tenantId} AND a.transaction_id = ${transactionId}
        ORDER BY a.version LIMIT ${evidenceMax}
      `);
      return rows.map(({ macKeyId, mac, isSigned, ...row }) => {
        const sealed = { ...row, tenantId, transactionId, isSigned, publicKey: toHex(row.publicKey) };
        const stored = { keyId: macKeyId, mac };
        const isAuthentic = isDecisionAuthentic(requireKeys(database), sealed, stored, isWaiting);
        return { ...readEvidence(row), isAuthentic };
      });
    },
  };
}

const evidenceMax = 2000;

function toHex(bytes: Uint8Array | null | undefined): string | null {
  return bytes == null ? null : Buffer.from(bytes).toString("hex");
}

type RecordedRow = SealedApproval & RowMac;

/** Served by the primary keys. At most `recordedApprovalsMax` approvals, and one rejection, which is final. */
async function listRecorded(tx: Queryable, tenantId: string, transactionId: string): Promise<RecordedRow[]> {
  return await tx.query<RecordedRow>(sql`
    SELECT a.tenant_id AS "tenantId", a.transaction_id AS "transactionId", a.version, a.client_id AS "clientId", a.decision,
      encode(a.digest, 'hex') AS digest, a.comment, a.decided_at AS "decidedAt", a.key_id AS "keyId", a.mac, ${isSignedByKey} AS "isSigned",
      ${publicKeyOfSignature} AS "publicKey"
    FROM approvals a WHERE a.tenant_id = ${tenantId} AND a.transaction_id = ${transactionId}
    ORDER BY a.version LIMIT ${evidenceMax}
  `);
}

function isAuthentic(tx: KeyedQueryable, { keyId, mac, ...approval }: RecordedRow): boolean {
  return isApprovalAuthentic(requireKeys(tx), approval, { keyId, mac });
}

type EvidenceRow = Omit<RecordedApproval, "isSigned"> & { digest: string | null } & (
    | ApprovalEvidence
    | { [Name in keyof ApprovalEvidence]: null }
  );

/** The other `keyId` is that of the signature. */
interface MacColumns {
  macKeyId: RowMac["keyId"];
  mac: RowMac["mac"];
  isSigned: boolean;
}

function readEvidence({ version, clientId, decision, digest, comment, decidedAt, ...evidence }: EvidenceRow) {
  const approval = { version, clientId, decision, digest, comment, decidedAt };
  return evidence.keyId === null
    ? { ...approval, isSigned: false, evidence: null }
    : { ...approval, isSigned: true, evidence };
}

async function insertEvidence(
  tx: Queryable,
  { tenantId, transactionId, version }: { tenantId: string; transactionId: string; version: number },
  evidence: ApprovalEvidence,
): Promise<void> {
  await tx.query(sql`
    INSERT INTO approval_signatures (tenant_id, transaction_id, version, key_id, algorithm, public_key, params, signature,
      base, body, base_available_at)
    VALUES (${tenantId}, ${transactionId}, ${version}, ${evidence.keyId}, ${evidence.algorithm}, ${evidence.publicKey},
      ${evidence.params}, ${evidence.signature}, ${evidence.base}, ${evidence.body}, ${evidence.baseAvailableAt})
  `);
}
