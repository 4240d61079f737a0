import { type EventKind, eventScopes, mayReadEvents, showId } from "@bursar/protocol";
import type { TraceContext } from "../../runtime/tracing/trace-context.js";
import type { ClientAccessCache } from "../clients/client.js";
import type { AttemptDelivery, Attempted } from "./attempt-delivery.js";
import type { WebhookEndpoint } from "./endpoint.js";

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
  if (!mayReadEvents(client.scopes, kind))
    return `the client ${shown} of the endpoint lacks the scope ${eventScopes[kind]}`;
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
