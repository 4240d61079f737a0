import type { CloseCode, ErrorCode, Reauthenticate } from "@bursar/protocol";
import type { Authenticated, Principal, TokenRefusal } from "../app/access/authenticate-request.js";
import { isRefused, type Refused } from "../app/requests/refused.js";
import type { StreamDeps } from "./stream-deps.js";
import type { Subscriptions } from "./subscriptions.js";

/** Who is at the other end, and for how long: a stream lives as long as its token, which can be replaced. */
export interface Session {
  principal: () => Principal;
  expiresAt: () => string;
  /** Takes a new token of the same client. */
  authenticate: (token: string) => Promise<Refused | undefined>;
  /** Judges the token anew; at once where its client is known, so that thousands can be judged every second. */
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

/** How long before its end a client is told to send a new token. */
const noticeMs = 60_000;

export function createSession(options: SessionOptions, deps: StreamDeps): Session {
  const { send, close } = options;
  const { authenticator, now } = deps;
  let { principal, claims } = options.authenticated;
  let isTold = false;

  const expiresAt = () => new Date(claims.expiresAtMs).toISOString();
  const isEnough = (candidate: Principal) =>
    candidate.scopes.has(deps.scope) && options.subscriptions.areAllowed(candidate);

  function conclude(judgement: Authenticated | TokenRefusal): undefined {
    if (isRefused(judgement)) close(4401, judgement.refused);
    else if (!isEnough(judgement.principal)) close(1008, "INSUFFICIENT_SCOPE");
    else {
      principal = judgement.principal;
      if (isTold || claims.expiresAtMs - now() > noticeMs) return;
      isTold = true;
      send({ type: "reauthenticate", expires_at: expiresAt() } satisfies Reauthenticate);
    }
  }

  function findFault(judgement: Authenticated | TokenRefusal): Refused | undefined {
    if (isRefused(judgement)) return { refused: judgement.refused };
    // Said no otherwise than of a token that is none: whose it is, and that it is one, is nothing to tell here.
    if (judgement.principal.clientId !== principal.clientId) return { refused: "TOKEN_INVALID" };
    return isEnough(judgement.principal) ? undefined : { refused: "INSUFFICIENT_SCOPE" };
  }

  return {
    principal: () => principal,
    expiresAt,
    authenticate: async (token) => {
      const judgement = await authenticator.authenticate(`Bearer ${token}`, { ip: options.address });
      const fault = findFault(judgement);
      if (fault !== undefined) recordRefusal(principal, fault.refused, options, deps);
      else if (!isRefused(judgement)) {
        ({ principal, claims } = judgement);
        isTold = false;
      }
      return fault;
    },
    review: () => {
      const reviewed = claims;
      const judgement = authenticator.review(reviewed);
      if (!(judgement instanceof Promise)) return conclude(judgement);
      // Meanwhile a new token can have come; then this judgement is about the old one.
      return judgement.then((late) => (reviewed === claims ? conclude(late) : undefined));
    },
  };
}

function recordRefusal(
  { tenantId, clientId, tokenId }: Principal,
  code: ErrorCode,
  { requestId, address }: SessionOptions,
  { audit, now }: StreamDeps,
): void {
  audit.record({
    tenantId,
    occurredAt: new Date(now()),
    actor: "client",
    clientId,
    tokenId,
    action: "authenticate on /v1/stream",
    object: null,
    outcome: "refused",
    code,
    repeated: 1,
    requestId,
    address,
  });
}
