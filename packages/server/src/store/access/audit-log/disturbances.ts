import {
  type AuditDraft,
  describeAct,
  entriesLostAction,
  headChangedAction,
} from "../../../app/audit/audit-entry.js";
import type { ChainPosition } from "../../../app/audit/chain-hash.js";

/** The head does not have the right MAC, or was put back, or the next numbers are taken. */
export function headChanged(
  position: ChainPosition,
  drafts: readonly AuditDraft[],
  code: string,
): AuditDraft {
  const entry = describeDisturbance(position, headChangedAction, position.number, drafts);
  return { ...entry, outcome: "refused", code };
}

/** A restore or a failover has lost the entries up to this one. */
export function entriesLost(
  position: ChainPosition,
  lostTo: bigint,
  drafts: readonly AuditDraft[],
): AuditDraft {
  return describeDisturbance(position, entriesLostAction, lostTo, drafts);
}

/** With the time of the entries that found it. */
function describeDisturbance(
  { tenantId }: ChainPosition,
  action: string,
  number: bigint,
  [first]: readonly AuditDraft[],
): AuditDraft {
  const origin = { by: "operator", tenantId } as const;
  const entry = describeAct(origin, action, `entry ${number}`, first?.occurredAt ?? new Date(0));
  return { ...entry, actor: "anonymous" };
}
