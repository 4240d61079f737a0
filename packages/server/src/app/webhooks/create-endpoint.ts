import { type CreateWebhookEndpointBody, showId } from "@bursar/protocol";
import { type Origin, tenantOf } from "../audit/audit-entry.js";
import { describeReviewedAct } from "../clients/review-caller.js";
import { idempotentRequest, replay } from "../requests/idempotency.js";
import type { Refused } from "../requests/refused.js";
import type { EndpointStore, WebhookEndpoint } from "./endpoint.js";
import { authorityOf, refuseKinds } from "./endpoint-authority.js";
import { type SecretBox, type ShownSecret, secretBytes, showSecret } from "./endpoint-secrets.js";
import type { UrlJudge } from "./webhook-post.js";

export interface CreateEndpointDeps {
  endpoints: Pick<EndpointStore, "createEndpoint">;
  judgeUrl: UrlJudge;
  box: Pick<SecretBox, "seal">;
  newUuid: () => string;
  randomBytes: (count: number) => Uint8Array;
  now: () => number;
}

export type CreateEndpoint = (
  origin: Origin,
  body: CreateWebhookEndpointBody,
  idempotencyKey: string | undefined,
) => Promise<
  /** The secret is null if an earlier request with the same key has created the endpoint: it is shown once. */
  { endpoint: WebhookEndpoint; secret: ShownSecret | null } | Refused
>;

/** Every event of a tenant is a delivery to each of its endpoints; this bounds what one event can cost. */
const endpointsMax = 500;

export function createEndpointCreator(deps: CreateEndpointDeps): CreateEndpoint {
  return async (origin, body, idempotencyKey) => {
    const refused = refuseUrl(deps.judgeUrl, body.url) ?? refuseKinds(origin, body.events);
    if (refused !== undefined) return refused;
    const now = new Date(deps.now());
    const tenantId = tenantOf(origin);
    const id = deps.newUuid();
    const secret = deps.randomBytes(secretBytes);
    const endpoint: WebhookEndpoint = {
      tenantId,
      id,
      url: body.url,
      events: body.events ?? ["*"],
      description: body.description ?? null,
      ...asCreated,
      authority: authorityOf(origin),
      secrets: { current: deps.box.seal({ tenantId, id }, secret), old: null },
      createdBy: origin.by === "operator" ? null : origin.principal.clientId,
      createdAt: now,
      updatedAt: now,
    };
    const request = idempotentRequest(idempotencyKey, body);
    const shownId = showId("whe", id);
    const act = describeReviewedAct(origin, "webhook_endpoint.create", shownId, now);
    const audit = { ...act, objects: [shownId, body.url] };
    const result = await deps.endpoints.createEndpoint(endpoint, request, audit, endpointsMax);
    if (result === "too_many") return { refused: "WEBHOOK_ENDPOINTS_TOO_MANY" };
    if ("created" in result) return { endpoint: result.created, secret: showSecret(secret) };
    const { earlier, requestHash } = result;
    // The original answer: as it was created, whatever has changed since.
    const { clientId, ...same } = earlier;
    const authority = clientId === null ? null : { clientId, scopes: [] };
    const original = { ...endpoint, ...same, authority, updatedAt: earlier.createdAt };
    return replay(requestHash, request?.hash, () => ({ endpoint: original, secret: null }));
  };
}

const asCreated = {
  state: "pending",
  verifiedAt: null,
  disabledReason: null,
  disabledAt: null,
  failingSince: null,
  version: 1,
} as const;

export function refuseUrl(judgeUrl: UrlJudge, url: string): Refused | undefined {
  const judged = judgeUrl(url);
  return judged.ok
    ? undefined
    : { refused: "WEBHOOK_URL_REFUSED", details: [{ path: "body.url", reason: judged.reason }] };
}
