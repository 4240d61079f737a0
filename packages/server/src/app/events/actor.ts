import type { Actor } from "@bursar/protocol";
import { showId } from "@bursar/protocol";
import type { AuditDraft } from "../audit/audit-entry.js";

/** The operator at the command line, where the id of a client could be. */
export const operatorActorId = "00000000-0000-0000-0000-000000000000";

/** Who acts according to the audit entry that is written together with the event. */
export function actorIdOfAct({ actor, clientId }: Pick<AuditDraft, "actor" | "clientId">): string | null {
  return actor === "operator" ? operatorActorId : clientId;
}

/** Null stands for the service itself: its engine, a market, or a rail that reports what its network did. */
export function presentActor(actorId: string | null): Actor {
  if (actorId === null) return { type: "service", client_id: null };
  if (actorId === operatorActorId) return { type: "operator", client_id: null };
  return { type: "client", client_id: showId("cli", actorId) };
}
