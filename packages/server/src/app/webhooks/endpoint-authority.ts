import { type EventKind, eventScopes, mayReadEvents, showId } from "@bursar/protocol";
import type { Origin } from "../audit/audit-entry.js";
import type { Refused } from "../requests/refused.js";
import type { EndpointAuthority, WebhookEndpoint } from "./endpoint.js";

/**
 * An endpoint acts for the client that named its URL last and got the secret for it. Its events are only a choice among the kinds that this
 * client may read: if choosing them changed the client, a receiver that one client has named would get what only the other may read.
 */
export function authorityOf(origin: Origin): EndpointAuthority | null {
  if (origin.by === "operator") return null;
  const { clientId, scopes } = origin.principal;
  return { clientId, scopes: [...scopes] };
}

/** Whether both are the same client, with scopes that let it read the same events. */
export function isSameAuthority(one: EndpointAuthority | null, other: EndpointAuthority | null): boolean {
  if (one === null || other === null) return one === other;
  return one.clientId === other.clientId && isCovered(one, other) && isCovered(other, one);
}

/**
 * The authority of an endpoint whose secret is shown to somebody else too: with the secret they can sign, so it must not be good for kinds
 * that they may not read, also not when the events are chosen again.
 */
export function sharedAuthority(
  authority: EndpointAuthority | null,
  origin: Origin,
): EndpointAuthority | null {
  const own = authorityOf(origin);
  if (authority === null || own === null) return authority ?? own;
  if (isCovered(authority, own)) return authority;
  const kinds = kindsOf(authority).filter((kind) => mayReadEvents(own.scopes, kind));
  return { ...authority, scopes: kinds.map((kind) => eventScopes[kind]) };
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
  const received = kindsOf(authority).filter((kind) => events.includes("*") || events.includes(kind));
  return refuseKinds(origin, received);
}

/** Events are chosen for an endpoint that stays that of its client: both that client and the caller must be able to read them. */
export function refuseEvents(
  origin: Origin,
  { authority, ...endpoint }: WebhookEndpoint,
  events: readonly string[],
): Refused | undefined {
  const unread = events.find((kind) => kind !== "*" && !kindsOf(authority).includes(kind as EventKind));
  const refused = refuseKinds(origin, events) ?? refuseSecret(origin, { ...endpoint, authority, events });
  if (refused !== undefined || unread === undefined || authority === null) return refused;
  return {
    refused: "INSUFFICIENT_SCOPE",
    message: `The endpoint acts for ${showId("cli", authority.clientId)}, without the scope ${eventScopes[unread as EventKind]} for events of the kind ${unread}. If its URL is your receiver, name \`url\` in the request too: then it acts for you, with a new secret.`,
  };
}

function kindsOf(authority: EndpointAuthority | null): EventKind[] {
  const kinds = Object.keys(eventScopes) as EventKind[];
  return authority === null ? kinds : kinds.filter((kind) => mayReadEvents(authority.scopes, kind));
}

/** Whether the other may read whatever the one may, also kinds of events that do not exist yet. */
function isCovered(one: EndpointAuthority, other: EndpointAuthority): boolean {
  if (one.scopes.includes("events:read")) return other.scopes.includes("events:read");
  return kindsOf(one).every((kind) => mayReadEvents(other.scopes, kind));
}
