import { type ChangeWebhookEndpointBody, showId } from "@bursar/protocol";
import { type Origin, tenantOf } from "../audit/audit-entry.js";
import { describeReviewedAct } from "../clients/review-caller.js";
import { idempotentRequest, replay } from "../requests/idempotency.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { refuseUrl } from "./create-endpoint.js";
import type { EndpointChange, EndpointStore, WebhookEndpoint } from "./endpoint.js";
import {
  authorityOf,
  isSameAuthority,
  refuseEvents,
  refuseKinds,
  refuseSecret,
  sharedAuthority,
} from "./endpoint-authority.js";
import { type SecretBox, type ShownSecret, secretBytes, showSecret } from "./endpoint-secrets.js";
import type { UrlJudge } from "./webhook-post.js";

export interface ChangeEndpointDeps {
  endpoints: Pick<EndpointStore, "changeEndpoint" | "changeEndpointOnce">;
  judgeUrl: UrlJudge;
  box: Pick<SecretBox, "seal">;
  /** Notifies the senders, so that a change takes effect at once. */
  onChanged: (tenantId: string) => void;
  randomBytes: (count: number) => Uint8Array;
  now: () => number;
}

type Changed = Promise<WebhookEndpoint | Refused>;

/** Changes of an existing endpoint. */
export interface EndpointChanges {
  /**
   * A new URL has a new secret, and must answer a challenge. The URL that it has, named by another client or with other scopes, has a new
   * secret too: the one who knew the old one must not be able to sign what only the caller may read. Otherwise the secret is null.
   */
  changeEndpoint: (
    origin: Origin,
    id: string,
    body: ChangeWebhookEndpointBody,
  ) => Promise<{ endpoint: WebhookEndpoint; secret: ShownSecret | null } | Refused>;
  /**
   * Enabling an enabled endpoint ends the pause after its failures; otherwise it changes nothing, and neither does disabling a disabled one.
   * An endpoint that was not verified becomes pending.
   */
  setEndpointEnabled: (origin: Origin, id: string, enabled: boolean) => Changed;
  deleteEndpoint: (origin: Origin, id: string) => Changed;
  /** The secret is null if an earlier request with the same key has made it: it is shown once. */
  rotateEndpointSecret: (
    origin: Origin,
    id: string,
    body: { overlap_seconds?: number },
    idempotencyKey: string | undefined,
  ) => Promise<{ endpoint: WebhookEndpoint; secret: ShownSecret | null } | Refused>;
}

const overlapSecondsDefault = 86_400;

export function createEndpointChanges(deps: ChangeEndpointDeps): EndpointChanges {
  const apply = async (
    origin: Origin,
    id: string,
    action: string,
    decide: (endpoint: WebhookEndpoint, now: Date) => EndpointChange | Refused,
  ): Changed => {
    const now = new Date(deps.now());
    const shownId = showId("whe", id);
    const audit = describeReviewedAct(origin, `webhook_endpoint.${action}`, shownId, now);
    const tenantId = tenantOf(origin);
    const changed = await deps.endpoints.changeEndpoint(
      tenantId,
      id,
      (endpoint) => {
        const change = decide(endpoint, now);
        if (!isRefused(change))
          audit.objects = [shownId, ...urlsOf(endpoint, change), ...eventsOf(endpoint, change)];
        return change;
      },
      now,
      audit,
    );
    if (changed === undefined) return { refused: "WEBHOOK_ENDPOINT_NOT_FOUND" };
    if (!isRefused(changed)) deps.onChanged(tenantId);
    return changed;
  };

  return {
    changeEndpoint: async (origin, id, body) => {
      const secret = deps.randomBytes(secretBytes);
      const authority = authorityOf(origin);
      let isTaken = false;
      const endpoint = await apply(origin, id, "change", (before) => {
        const { url } = body;
        isTaken = url !== undefined && (url !== before.url || !isSameAuthority(before.authority, authority));
        const refused =
          (url === undefined ? undefined : refuseUrl(deps.judgeUrl, url)) ??
          (isTaken ? refuseKinds(origin, body.events) : refuseChoice(origin, before, body.events));
        if (refused !== undefined) return refused;
        return {
          ...(body as EndpointChange),
          ...(isTaken ? { authority, secrets: { current: deps.box.seal(before, secret), old: null } } : {}),
          ...(url !== undefined && url !== before.url ? moved(before) : {}),
        };
      });
      if (isRefused(endpoint)) return endpoint;
      return { endpoint, secret: isTaken ? showSecret(secret) : null };
    },
    setEndpointEnabled: (origin, id, enabled) =>
      apply(origin, id, enabled ? "enable" : "disable", ({ state, verifiedAt, failingSince }) => {
        if (enabled && state === "enabled" && failingSince !== null) return { state: { to: "enabled" } };
        if ((state !== "disabled") === enabled) return {};
        if (!enabled) return { state: { to: "disabled", reason: "requested" } };
        return { state: { to: verifiedAt === null ? "pending" : "enabled" } };
      }),
    deleteEndpoint: (origin, id) => apply(origin, id, "delete", () => ({ state: { to: "deleted" } })),
    rotateEndpointSecret: (origin, id, body, idempotencyKey) =>
      rotateSecret(deps, origin, id, body, idempotencyKey),
  };
}

/**
 * The URL before a change, and the one after it if that differs. The audit entry names them: afterwards nothing else says where events
 * were sent, because the row of the endpoint is overwritten or removed.
 */
function urlsOf({ url }: WebhookEndpoint, change: EndpointChange): string[] {
  return change.url === undefined || change.url === url ? [url] : [url, change.url];
}

/** The kinds that the endpoint gets from now on, and those that it no longer gets. */
function eventsOf({ events: before }: WebhookEndpoint, { events: after = before }: EndpointChange): string[] {
  return [
    ...after.filter((kind) => !before.includes(kind)).map((kind) => `event_added:${kind}`),
    ...before.filter((kind) => !after.includes(kind)).map((kind) => `event_removed:${kind}`),
  ];
}

async function rotateSecret(
  deps: ChangeEndpointDeps,
  origin: Origin,
  id: string,
  body: { overlap_seconds?: number },
  idempotencyKey: string | undefined,
): Promise<{ endpoint: WebhookEndpoint; secret: ShownSecret | null } | Refused> {
  const { overlap_seconds: overlapSeconds = overlapSecondsDefault } = body;
  const tenantId = tenantOf(origin);
  const now = new Date(deps.now());
  const secret = deps.randomBytes(secretBytes);
  const audit = describeReviewedAct(origin, "webhook_endpoint.rotate_secret", showId("whe", id), now);
  const request = idempotentRequest(idempotencyKey, { ...body, id });
  const decide = (before: WebhookEndpoint) =>
    refuseSecret(origin, before) ?? {
      secrets: rotate(before.secrets, deps.box.seal(before, secret), overlapSeconds, now),
      authority: sharedAuthority(before.authority, origin),
    };
  const result = await deps.endpoints.changeEndpointOnce(tenantId, id, decide, request, audit);
  if (result === undefined) return { refused: "WEBHOOK_ENDPOINT_NOT_FOUND" };
  if (isRefused(result)) return result;
  if ("changed" in result) {
    deps.onChanged(tenantId);
    return { endpoint: result.changed, secret: showSecret(secret) };
  }
  const { earlier, requestHash } = result;
  return replay(requestHash, request?.hash, () => ({ endpoint: earlier, secret: null }));
}

/** The receiver at a new URL has not asked for anything yet. */
function moved({ state }: WebhookEndpoint): EndpointChange {
  return { verifiedAt: null, ...(state === "enabled" ? { state: { to: "pending" } } : {}) };
}

/** The kinds that it has already can be sent along with another change. */
function refuseChoice(
  origin: Origin,
  before: WebhookEndpoint,
  events: readonly string[] | undefined,
): Refused | undefined {
  const isSame =
    events?.length === before.events.length && events.every((kind) => before.events.includes(kind));
  return events === undefined || isSame ? undefined : refuseEvents(origin, before, events);
}

/**
 * At most two secrets are live. If two are already, receivers have the old one: the newer may be from a rotation
 * whose answer was lost, and a retry must not end the secret that receivers still use. It is not given more time than it had.
 */
function rotate(
  { current, old }: WebhookEndpoint["secrets"],
  sealed: Uint8Array,
  overlapSeconds: number,
  now: Date,
): WebhookEndpoint["secrets"] {
  const until = new Date(now.getTime() + overlapSeconds * 1000);
  if (overlapSeconds === 0) return { current: sealed, old: null };
  if (old === null || old.until <= now) return { current: sealed, old: { sealed: current, until } };
  return { current: sealed, old: old.until < until ? old : { ...old, until } };
}
