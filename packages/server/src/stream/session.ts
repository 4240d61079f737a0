import type { CloseCode, ErrorCode, Reauthenticate } from "@bursar/protocol";
import type { Authenticated, Principal, TokenRefusal } from "../app/access/authenticate-request.js";
import type { ApiClient } from "../app/clients/client.js";
import { isRefused, type Refused } from "../app/requests/refused.js";
import type { StreamDeps } from "./stream-deps.js";
import type { Subscriptions } from "./subscriptions.js";

/** The client of a stream and its token. A stream lasts as long as its token, which can be replaced. */
export interface Session {
  principal: () => Principal;
  client: () => ApiClient;
  expiresAt: () => string;
  /** Accepts a new token of the same client. */
  authenticate: (token: string) => Promise<Refused | undefined>;
  /** Records that the client was refused something on its stream. */
  recordRefusal: (action: string, object: string | null, code: ErrorCode) => void;
  /** Checks the token again; synchronously if its client is cached, so that thousands can be checked every second. */
  review: () => Promise<void> | undefined;
}

export interface SessionOptions {
  authenticated: Authenticated;
  requestId: string;
  address: string;
  send: (message: object) => void;
  close: (code: CloseCode, reason: string) => void;
  subscriptions: Pick<Subscriptions, "areAllowed">;
}

/** How long before a token expires its client is asked for a new one. */
const noticeMs = 60_000;

export function createSession(options: SessionOptions, deps: StreamDeps): Session {
  const { send, close } = options;
  const { authenticator, now } = deps;
  let { principal, client, claims } = options.authenticated;
  let isNotified = false;

  const expiresAt = () => new Date(claims.expiresAtMs).toISOString();
  const isEnough = (candidate: Principal) =>
    candidate.scopes.has(deps.scope) && options.subscriptions.areAllowed(candidate);

  function conclude(judgement: Authenticated | TokenRefusal): Promise<void> | undefined {
    if (isRefused(judgement)) return refuse(judgement);
    if (!isEnough(judgement.principal)) close(1008, "INSUFFICIENT_SCOPE");
    else {
      ({ principal, client } = judgement);
      if (isNotified || claims.expiresAtMs - now() > noticeMs) return undefined;
      isNotified = true;
      send({ type: "reauthenticate", expires_at: expiresAt() } satisfies Reauthenticate);
    }
    return undefined;
  }

  /** The first code that a stream is closed with counts. */
  async function refuse({ refused }: TokenRefusal): Promise<void> {
    if (refused !== "TOKEN_EXPIRED") await deps.checkEpoch().catch(() => undefined);
    close(4401, refused);
  }

  function findFault(judgement: Authenticated | TokenRefusal): Refused | undefined {
    if (isRefused(judgement)) return { refused: judgement.refused };
    // The same error as for an invalid token: that the token is valid, and whose it is, must not be revealed here.
    if (judgement.principal.clientId !== principal.clientId) return { refused: "TOKEN_INVALID" };
    return isEnough(judgement.principal) ? undefined : { refused: "INSUFFICIENT_SCOPE" };
  }

  return {
    principal: () => principal,
    client: () => client,
    expiresAt,
    recordRefusal: (action, object, code) =>
      recordRefusal(principal, { action, object, code }, options, deps),
    authenticate: async (token) => {
      const judgement = await authenticator.authenticate(`Bearer ${token}`, { ip: options.address });
      const fault = findFault(judgement);
      if (fault !== undefined)
        recordRefusal(
          principal,
          { action: "authenticate", object: null, code: fault.refused },
          options,
          deps,
        );
      else if (!isRefused(judgement)) {
        ({ principal, client, claims } = judgement);
        isNotified = false;
      }
      return fault;
    },
    review: () => {
      const reviewed = claims;
      const judgement = authenticator.review(reviewed);
      if (!(judgement instanceof Promise)) return conclude(judgement);
      // If a new token has arrived in the meantime, this result is about the old one.
      return judgement.then((late) => (reviewed === claims ? conclude(late) : undefined));
    },
  };
}

function recordRefusal(
  { tenantId, clientId, tokenId }: Principal,
  { action, object, code }: { action: string; object: string | null; code: ErrorCode },
  { requestId, address }: SessionOptions,
  { audit, now }: StreamDeps,
): void {
  audit.record({
    tenantId,
    occurredAt: new Date(now()),
    actor: "client",
    clientId,
    tokenId,
    action: `${action} on /v1/stream`,
    object,
    outcome: "refused",
    code,
    repeated: 1,
    requestId,
    address,
  });
}
