import type { TransactionState } from "@bursar/domain";
import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import type { RecordedApproval, TransactionJudgement } from "../../app/transactions/transaction.js";
import { sql } from "../core/sql.js";
import { isDecisionAuthentic, isSigned, isSignedByKey, publicKeyOfSignature } from "./approval-integrity.js";

/** As JSON: times and MACs are strings. */
export interface JudgementRow extends Omit<TransactionJudgement, "judgedAt" | "approvals"> {
  judged_at: string;
  approvals: ApprovalRow[];
}

interface ApprovalRow extends Omit<RecordedApproval, "decidedAt"> {
  decided_at: string;
  sealed: {
    digest: string | null;
    keyId: string | null;
    mac: string | null;
    isSigned: boolean;
    publicKey: string | null;
  };
}

/** Of the row `t`. Served by primary keys. */
export const judgementColumn = sql`
  (SELECT jsonb_build_object('policyVersion', j.policy_version, 'rule', j.rule, 'reason', j.reason, 'requirement', j.requirement,
      'judged_at', j.judged_at, 'approvals', (
        SELECT coalesce(jsonb_agg(jsonb_build_object('version', a.version, 'clientId', a.client_id, 'decision', a.decision,
          'comment', a.comment, 'decided_at', a.decided_at, 'isSigned', ${isSigned},
          'sealed', jsonb_build_object('digest', encode(a.digest, 'hex'), 'keyId', a.key_id, 'mac', encode(a.mac, 'base64'),
            'isSigned', ${isSignedByKey}, 'publicKey', ${publicKeyOfSignature}))
          ORDER BY a.version), '[]')
        FROM approvals a WHERE a.tenant_id = j.tenant_id AND a.transaction_id = j.transaction_id),
      'walletNames', CASE WHEN j.requirement IS NOT NULL THEN (
        SELECT jsonb_object_agg(w.id, w.name) FROM wallets w
        WHERE w.tenant_id = t.tenant_id AND w.id IN (t.source_account_id, t.destination_account_id)) END)
    FROM judgements j WHERE j.tenant_id = t.tenant_id AND j.transaction_id = t.id) AS judgement`;

/**
 * A decision that the service has not recorded is left out: a writer to the database could otherwise make the next approver believe that a
 * colleague has approved.
 */
export function readJudgement(
  row: JudgementRow,
  { tenantId, id: transactionId }: { tenantId: string; id: string },
  state: TransactionState | undefined,
  keys: () => IntegrityKeys,
): TransactionJudgement {
  const { judged_at, approvals, ...judgement } = row;
  return {
    ...judgement,
    judgedAt: new Date(judged_at),
    approvals: approvals.flatMap(({ decided_at, sealed: { keyId, mac, ...sealed }, ...rest }) => {
      const approval = { ...rest, decidedAt: new Date(decided_at) };
      const stored = { keyId, mac: mac === null ? null : Buffer.from(mac, "base64") };
      const decision = { ...approval, ...sealed, tenantId, transactionId };
      return isDecisionAuthentic(keys(), decision, stored, state === "awaiting_approval") ? approval : [];
    }),
  };
}
