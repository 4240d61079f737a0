import { showId } from "@bursar/protocol";
import { describeAct, type Origin, tenantOf } from "../audit/audit-entry.js";
import type { AuditRecorder } from "../audit/audit-recorder.js";
import { describeReviewedAct } from "../clients/review-caller.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { AttemptDelivery, Attempted } from "./attempt-delivery.js";
import type { EndpointStore, WebhookEndpoint } from "./endpoint.js";

export interface VerifyEndpointDeps {
  endpoints: Pick<EndpointStore, "readEndpoint" | "changeEndpoint">;
  attempt: AttemptDelivery;
  audit: Pick<AuditRecorder, "record">;
  /** Notifies the senders, so that pending deliveries are sent at once. */
  onChanged: (tenantId: string) => void;
  newUuid: () => string;
  randomBytes: (count: number) => Uint8Array;
  now: () => number;
}

interface Verification {
  endpoint: WebhookEndpoint;
  status: number | null;
  /** Why the endpoint is not verified; null if it is. */
  error: string | null;
}

export type VerifyEndpoint = (origin: Origin, id: string) => Promise<Verification | Refused>;

const action = "webhook_endpoint.verify";
const challengeBytes = 32;

/**
 * Sends an `endpoint.challenge`, signed like any delivery. A receiver that returns its challenge wants deliveries and knows what they look
 * like; without this, a tenant could send its events to a service that never asked for them.
 */
export function createEndpointVerifier(deps: VerifyEndpointDeps): VerifyEndpoint {
  const { endpoints, audit, now } = deps;
  return async (origin, id) => {
    const tenantId = tenantOf(origin);
    const endpoint = await endpoints.readEndpoint(tenantId, id);
    if (endpoint === undefined) return { refused: "WEBHOOK_ENDPOINT_NOT_FOUND" };
    if (endpoint.isTampered === true) return { refused: "WEBHOOK_ENDPOINT_TAMPERED" };
    if (endpoint.verifiedAt !== null) return { endpoint, status: null, error: null };
    const { attempt, error } = await sendChallenge(deps, endpoint);
    if (error !== null) {
      // A request was sent to a host that the caller has chosen, whatever has answered.
      audit.record({
        ...describeAct(origin, action, showId("whe", id), new Date(now())),
        outcome: "refused",
        code: "WEBHOOK_ENDPOINT_UNVERIFIED",
      });
      return { endpoint, status: attempt.status, error };
    }
    const at = new Date(now());
    const verified = await endpoints.changeEndpoint(
      tenantId,
      id,
      ({ url, state, verifiedAt }) => {
        // The receiver that has answered may not be that of the endpoint any more.
        if (url !== endpoint.url || verifiedAt !== null) return {};
        return { verifiedAt: at, ...(state === "pending" ? { state: { to: "enabled" } } : {}) };
      },
      at,
      describeReviewedAct(origin, action, showId("whe", id), at),
    );
    if (verified === undefined) return { refused: "WEBHOOK_ENDPOINT_NOT_FOUND" };
    if (isRefused(verified)) return verified;
    deps.onChanged(tenantId);
    const isVerified = verified.verifiedAt !== null;
    return {
      endpoint: verified,
      status: attempt.status,
      error: isVerified ? null : "the URL was changed meanwhile",
    };
  };
}

async function sendChallenge(
  { attempt, newUuid, randomBytes, now }: VerifyEndpointDeps,
  endpoint: WebhookEndpoint,
): Promise<{ attempt: Attempted["attempt"]; error: string | null }> {
  const challenge = Buffer.from(randomBytes(challengeBytes)).toString("base64url");
  const deliveryId = newUuid();
  const body = JSON.stringify({
    event: "endpoint.challenge",
    delivery_id: showId("dlv", deliveryId),
    sequence: null,
    occurred_at: new Date(now()).toISOString(),
    data: { challenge },
  });
  const made = await attempt(endpoint, deliveryId, 1, body);
  return { attempt: made.attempt, error: whyNotAnswered(made, challenge) };
}

function whyNotAnswered({ attempt, verdict }: Attempted, challenge: string): string | null {
  if (verdict === "delivered")
    return returnsChallenge(attempt.excerpt ?? "", challenge)
      ? null
      : "the response does not contain the challenge";
  return attempt.error ?? `the receiver answered with the status ${attempt.status}`;
}

/** The response is the challenge itself, or a JSON object with it. A copy of the whole request is neither. */
function returnsChallenge(answer: string, challenge: string): boolean {
  if (answer.trim() === challenge) return true;
  try {
    const parsed: unknown = JSON.parse(answer);
    return (parsed as { challenge?: unknown } | null)?.challenge === challenge;
  } catch {
    return false;
  }
}
