import type { ErrorCode } from "@bursar/protocol";
import type { ClientOrigin } from "../audit/audit-entry.js";
import type { AuditRecorder } from "../audit/audit-recorder.js";
import { isRecordedRefusal } from "../audit/recorded-refusals.js";

/** Records the items of a batch whose refusal would be in the audit log for a single request: the batch itself succeeds. */
export type RecordRefusedItems = (origin: ClientOrigin, action: string, codes: Iterable<ErrorCode>) => void;

export function createRefusedItemsRecorder(
  audit: Pick<AuditRecorder, "record">,
  now: () => number,
): RecordRefusedItems {
  return ({ principal, requestId, address }, action, codes) => {
    const counts = new Map<ErrorCode, number>();
    for (const code of codes) if (isRecordedRefusal(code)) counts.set(code, (counts.get(code) ?? 0) + 1);
    for (const [code, repeated] of counts) {
      audit.record({
        tenantId: principal.tenantId,
        occurredAt: new Date(now()),
        actor: "client",
        clientId: principal.clientId,
        tokenId: principal.tokenId,
        sessionId: principal.sessionId ?? null,
        action,
        object: null,
        outcome: "refused",
        code,
        repeated,
        requestId,
        address,
      });
    }
  };
}
