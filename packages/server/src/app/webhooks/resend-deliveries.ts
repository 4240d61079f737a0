import { countResends, type ReplayBody, type ResendFailedBody, readId, showId } from "@bursar/protocol";
import { type Origin, tenantOf } from "../audit/audit-entry.js";
import { describeReviewedAct } from "../clients/review-caller.js";
import { readSequence } from "../events/event.js";
import { idempotentRequest, replay } from "../requests/idempotency.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { Delivery, DeliveryStore, ResendRequest, ResendStore, Resent } from "./delivery.js";
import type { EndpointStore } from "./endpoint.js";

export interface ResendDeps {
  resends: ResendStore;
  deliveries: Pick<DeliveryStore, "readDelivery" | "countPending">;
  endpoints: Pick<EndpointStore, "readEndpoint">;
  /** Notifies the senders that there is something to send. */
  onResent: (tenantId: string) => void;
  now: () => number;
}

type Once<Answer> = Promise<(Answer & { replayed: boolean }) | Refused>;

/** Sending again what was sent or given up, under new delivery ids. */
export interface Resends {
  resendDelivery: (origin: Origin, id: string, key: string | undefined) => Once<{ delivery: Delivery }>;
  resendFailed: (
    origin: Origin,
    body: ResendFailedBody,
    key: string | undefined,
  ) => Once<{ resent: number; has_more: boolean }>;
  replayEvents: (
    origin: Origin,
    body: ReplayBody,
    key: string | undefined,
  ) => Once<{ resent: number; next_sequence: number | null }>;
}

/** While this many wait, no more are added: a client that repeats them faster than they are sent would fill the database. */
const waitingMax = 10_000;

export function createResends(deps: ResendDeps): Resends {
  const describe = (
    origin: Origin,
    action: string,
    object: string,
    key: string | undefined,
    body: unknown,
  ): ResendRequest => ({
    tenantId: tenantOf(origin),
    action,
    request: idempotentRequest(key, body),
    audit: describeReviewedAct(origin, `webhook_delivery.${action}`, object, new Date(deps.now())),
  });
  const conclude = <Answer>(
    { tenantId, request }: ResendRequest,
    result: Resent<Answer>,
  ): (Answer & { replayed: boolean }) | Refused => {
    if ("earlier" in result)
      return replay(result.requestHash, request?.hash, () => ({ ...result.earlier, replayed: true }));
    deps.onResent(tenantId);
    return { ...result.answer, replayed: false };
  };

  return {
    resendDelivery: async (origin, id, key) => {
      const shown = showId("dlv", id);
      const request = describe(origin, "resend", shown, key, { id: shown });
      const resent = await deps.resends.resendOne(request, id);
      if (resent === undefined) return { refused: "WEBHOOK_DELIVERY_NOT_FOUND" };
      const answer = conclude(request, resent);
      if (isRefused(answer)) return answer;
      const delivery = await deps.deliveries.readDelivery(tenantOf(origin), answer.delivery_id);
      return delivery === undefined
        ? { refused: "WEBHOOK_DELIVERY_NOT_FOUND" }
        : { delivery, replayed: answer.replayed };
    },
    resendFailed: async (origin, body, key) => {
      const { endpoint_id, created_after, created_before } = body;
      const endpointId = await findEndpoint(deps, origin, endpoint_id);
      if (isRefused(endpointId)) return endpointId;
      if (await isFull(deps, origin, endpointId)) return { refused: "WEBHOOK_BACKLOG_FULL" };
      const limit = countResends(body);
      const request = describe(origin, "resend_failed", endpoint_id ?? "all", key, body);
      const filter = {
        ...(endpointId === undefined ? {} : { endpointId }),
        ...(created_after === undefined ? {} : { createdAfter: new Date(created_after) }),
        ...(created_before === undefined ? {} : { createdBefore: new Date(created_before) }),
      };
      const answer = conclude(request, await deps.resends.resendFailed(request, filter, limit));
      return isRefused(answer) ? answer : { ...answer, has_more: answer.resent === limit };
    },
    replayEvents: async (origin, body, key) => {
      const endpointId = await findEndpoint(deps, origin, body.endpoint_id);
      if (isRefused(endpointId)) return endpointId;
      if (await isFull(deps, origin, endpointId)) return { refused: "WEBHOOK_BACKLOG_FULL" };
      const request = describe(origin, "replay", body.endpoint_id, key, body);
      const from = readSequence(body.from_sequence);
      const limit = countResends(body);
      return conclude(request, await deps.resends.replayEvents(request, endpointId ?? "", from, limit));
    },
  };
}

/** Of one endpoint, or of all. A request that is repeated with its key while it is full is refused too, and succeeds later. */
async function isFull(
  { deliveries }: Pick<ResendDeps, "deliveries">,
  origin: Origin,
  endpointId: string | undefined,
): Promise<boolean> {
  return (await deliveries.countPending(tenantOf(origin), endpointId, waitingMax)) === waitingMax;
}

async function findEndpoint(
  { endpoints }: ResendDeps,
  origin: Origin,
  shownId: string | undefined,
): Promise<string | undefined | Refused> {
  if (shownId === undefined) return undefined;
  const id = readId("whe", shownId);
  const endpoint = id === undefined ? undefined : await endpoints.readEndpoint(tenantOf(origin), id);
  return endpoint?.id ?? { refused: "WEBHOOK_ENDPOINT_NOT_FOUND" };
}
