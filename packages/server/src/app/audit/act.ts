import type { Principal } from "../access/principal.js";
import type { AuditDraft } from "./audit-entry.js";

/** Where an act comes from: a client's request, or a person at the command line. */
export type Origin = ClientOrigin | { by: "operator"; tenantId: string };

export interface ClientOrigin {
  by: "client";
  principal: Principal;
  requestId: string;
  address: string;
}

/** Whose act it is. */
export function tenantOf(origin: Origin): string {
  return origin.by === "operator" ? origin.tenantId : origin.principal.tenantId;
}

/** The audit entry of an act that is about to succeed; it is written in the same SQL transaction as the act. */
export function describeAct(origin: Origin, action: string, object: string, occurredAt: Date): AuditDraft {
  const what = { occurredAt, action, object, outcome: "succeeded", code: null, repeated: 1 } as const;
  if (origin.by === "operator") {
    return {
      ...what,
      tenantId: origin.tenantId,
      actor: "operator",
      clientId: null,
      tokenId: null,
      requestId: null,
      address: null,
    };
  }
  const { principal, requestId, address } = origin;
  return {
    ...what,
    tenantId: principal.tenantId,
    actor: "client",
    clientId: principal.clientId,
    tokenId: principal.tokenId,
    requestId,
    address,
  };
}
