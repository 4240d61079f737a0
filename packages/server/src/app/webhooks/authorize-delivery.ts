import { type EventKind, eventScopes, mayReadEvents, showId } from "@bursar/protocol";
import type { TraceContext } from "../../runtime/tracing/trace-context.js";
import type { ClientAccessCache } from "../clients/client.js";
import type { AttemptDelivery, Attempted } from "./attempt-delivery.js";
import type { EndpointAuthority, WebhookEndpoint } from "./endpoint.js";

/**
 * An endpoint receives only the kinds of events that the client it acts for may read. This is decided for every attempt, with the client as
 * it is then, so that it also holds for resends and replays, and within seconds of a change.
 */

/** Sends the delivery of an event once, or withholds it. `stopped`: the client is disabled, so the delivery waits as it is. */
export type AttemptEvent = (
  endpoint: WebhookEndpoint,
  deliveryId: string,
  number: number,
  body: string,
  event: { kind: EventKind; trace?: TraceContext | undefined },
) => Promise<Attempted | "stopped">;

export interface AuthorizedAttemptDeps {
  attempt: AttemptDelivery;
  clients: Pick<ClientAccessCache, "peek" | "load">;
  now: () => number;
}

export function createAuthorizedAttempter({ attempt, clients, now }: AuthorizedAttemptDeps): AttemptEvent {
  return async (endpoint, deliveryId, number, body, { kind, trace }) => {
    const { authority } = endpoint;
    if (authority !== null) {
      const { clientId } = authority;
      const { client } = clients.peek(clientId) ?? (await clients.load(clientId));
      if (client?.state !== "active") return "stopped";
      const reason = whyWithheld(authority, client.scopes, kind);
      if (reason !== undefined) return withhold(reason, now());
    }
    return await attempt(endpoint, deliveryId, number, body, trace);
  };
}

function whyWithheld(
  { clientId, scopes }: EndpointAuthority,
  scopesNow: readonly string[],
  kind: EventKind,
): string | undefined {
  if (!mayReadEvents(scopesNow, kind))
    return `the client ${showId("cli", clientId)} of the endpoint lacks the scope ${eventScopes[kind]}`;
  return mayReadEvents(scopes, kind)
    ? undefined
    : `the URL or the secret of the endpoint was set without the scope ${eventScopes[kind]}`;
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
