import { type ChangeWebhookEndpointBody, formatWebhookSecret, showId } from "@bursar/protocol";
import { describeAct, type Origin, tenantOf } from "../audit/audit-entry.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { refuseUrl } from "./create-endpoint.js";
import type { EndpointChange, EndpointStore, WebhookEndpoint } from "./endpoint.js";
import { type SecretBox, secretBytes } from "./endpoint-secrets.js";
import type { UrlJudge } from "./webhook-post.js";

export interface ChangeEndpointDeps {
  endpoints: Pick<EndpointStore, "changeEndpoint">;
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
  changeEndpoint: (origin: Origin, id: string, body: ChangeWebhookEndpointBody) => Changed;
  /** Enabling an enabled endpoint or disabling a disabled one changes nothing. */
  setEndpointEnabled: (origin: Origin, id: string, enabled: boolean) => Changed;
  deleteEndpoint: (origin: Origin, id: string) => Changed;
  rotateEndpointSecret: (
    origin: Origin,
    id: string,
    overlapSeconds: number | undefined,
  ) => Promise<{ endpoint: WebhookEndpoint; secret: string } | Refused>;
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
    const audit = describeAct(origin, `webhook_endpoint.${action}`, showId("whe", id), now);
    const tenantId = tenantOf(origin);
    const changed = await deps.endpoints.changeEndpoint(
      tenantId,
      id,
      (endpoint) => decide(endpoint, now),
      now,
      audit,
    );
    if (changed === undefined) return { refused: "WEBHOOK_ENDPOINT_NOT_FOUND" };
    if (!isRefused(changed)) deps.onChanged(tenantId);
    return changed;
  };

  return {
    changeEndpoint: (origin, id, body) =>
      apply(origin, id, "change", () => {
        const refused = body.url === undefined ? undefined : refuseUrl(deps.judgeUrl, body.url);
        return refused ?? (body as EndpointChange);
      }),
    setEndpointEnabled: (origin, id, enabled) =>
      apply(origin, id, enabled ? "enable" : "disable", ({ state }) => {
        if ((state === "enabled") === enabled) return {};
        return { state: enabled ? { to: "enabled" } : { to: "disabled", reason: "requested" } };
      }),
    deleteEndpoint: (origin, id) => apply(origin, id, "delete", () => ({ state: { to: "deleted" } })),
    rotateEndpointSecret: async (origin, id, overlapSeconds = overlapSecondsDefault) => {
      const secret = deps.randomBytes(secretBytes);
      const endpoint = await apply(origin, id, "rotate_secret", ({ secrets }, now) => ({
        secrets: rotate(secrets, deps.box.seal(id, secret), overlapSeconds, now),
      }));
      return isRefused(endpoint) ? endpoint : { endpoint, secret: formatWebhookSecret(secret) };
    },
  };
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
