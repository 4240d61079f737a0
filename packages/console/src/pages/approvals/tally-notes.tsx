import type { ApprovalTally } from "@bursar/client";
import { ClientId } from "../../ui/values/client-id";
import { reasonWords } from "./approval-progress";

/** Why a payment waits although there are approvals. */
export function TallyNotes({ tally }: { tally: ApprovalTally }) {
  const { decisions, held, state } = tally;
  return (
    <>
      {decisions.map(
        ({ client_id, decision, decided_at, reason }) =>
          reason !== null && (
            <p key={`${client_id} ${decided_at}`} className="notice" data-tone="wait" role="status">
              The {decision === "approve" ? "approval" : "rejection"} of <ClientId id={client_id} /> does not
              count: {reasonWords(reason)}.
            </p>
          ),
      )}
      {held && state === "approved" && (
        <p className="notice" data-tone="wait" role="status">
          Enough approvals count. The payment is held, because the client that requested it is disabled or the
          tenant is suspended.
        </p>
      )}
    </>
  );
}
