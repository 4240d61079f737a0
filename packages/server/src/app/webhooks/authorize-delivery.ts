import { type EventKind, eventScopes, mayReadEvents, showId } from "@bursar/protocol";
import type { TraceContext } from "../../runtime/tracing/trace-context.js";
import type { Origin } from "../audit/audit-entry.js";
import type { ClientAccessCache } from "../clients/client.js";
import type { Refused } from "../requests/refused.js";
import type { AttemptDelivery, Attempted } from "./attempt-delivery.js";
import type { EndpointAuthority, WebhookEndpoint } from "./endpoint.js";

/**
 * An endpoint receives only the kinds of events that the client it acts for may read. This is decided for every attempt, with the client as
 * it is then, so that it also holds for resends and replays, and within seconds of a change.
 */

/** Sends the delivery of an event once, or withholds it. */
export type AttemptEvent = (
  endpoint: WebhookEndpoint,
  deliveryId: string,
  number: number,
  body: string,
  event: { kind: EventKind; trace?: TraceContext | undefined },
) => Promise<Attempted>;

export interface AuthorizedAttemptDeps {
  attempt: AttemptDelivery;
  clients: Pick<ClientAccessCache, "peek" | "load">;
  now: () => number;
}

export function createAuthorizedAttempter({ attempt, clients, now }: AuthorizedAttemptDeps): AttemptEvent {
  return async (endpoint, deliveryId, number, body, { kind, trace }) => {
    const reason = await whyWithheld(endpoint, kind, clients);
    return reason === undefined
      ? attempt(endpoint, deliveryId, number, body, trace)
      : withhold(reason, now());
  };
}

async function whyWithheld(
  { authority }: WebhookEndpoint,
  kind: EventKind,
  clients: AuthorizedAttemptDeps["clients"],
): Promise<string | undefined> {
  if (authority === null) return undefined;
  const { clientId, scopes } = authority;
  const { client } = clients.peek(clientId) ?? (await clients.load(clientId));
  const shown = showId("cli", clientId);
  if (client?.state !== "active") return `the client ${shown} of the endpoint is not active`;
  const granted = scopes.filter((scope) => (client.scopes as readonly string[]).includes(scope));
  return mayReadEvents(granted, kind)
    ? undefined
    : `the client ${shown} of the endpoint lacks the scope ${eventScopes[kind]}`;
}

/** It is final, like a delivery that has failed for the last time, and can be sent again once the client has the scope. */
function withhold(reason: string, nowMs: number): Attempted {
  const at = new Date(nowMs);
  return {
    attempt: {
      at: at.toISOString(),
      latencyMs: 0,
      status: null,
      error: `withheld: ${reason}`,
      excerpt: null,
    },
    verdict: "withheld",
    next: { state: "exhausted", at },
  };
}

export function authorityOf(origin: Origin): EndpointAuthority | null {
  if (origin.by === "operator") return null;
  const { clientId, scopes } = origin.principal;
  return { clientId, scopes: [...scopes] };
}

/** A caller can name only kinds that it may read itself; `*` stands for all of those. */
export function refuseKinds(origin: Origin, kinds: readonly string[] | undefined): Refused | undefined {
  const authority = authorityOf(origin);
  if (authority === null) return undefined;
  const missing = (kinds ?? []).find(
    (kind) => kind !== "*" && !mayReadEvents(authority.scopes, kind as EventKind),
  );
  if (missing === undefined) return undefined;
  const scope = eventScopes[missing as EventKind];
  return {
    refused: "INSUFFICIENT_SCOPE",
    message: `Events of the kind ${missing} require the scope ${scope}.`,
  };
}

/**
 * A caller gets the secret of an endpoint only if it may read every event that the endpoint receives: with the secret it could sign events
 * that the receiver takes for the service's own.
 */
export function refuseSecret(origin: Origin, { events, authority }: WebhookEndpoint): Refused | undefined {
  const received = (Object.keys(eventScopes) as EventKind[]).filter(
    (kind) =>
      (events.includes("*") || events.includes(kind)) &&
      (authority === null || mayReadEvents(authority.scopes, kind)),
  );
  return refuseKinds(origin, received);
}
