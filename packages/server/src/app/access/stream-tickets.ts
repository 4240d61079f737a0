import { createBoundedGate } from "../../runtime/concurrency/bounded-gate.js";
import { createRecentCache } from "../../runtime/recent-cache.js";
import type { NonceStore } from "./authenticate-client.js";
import type { Authenticated, RequestAuthenticator, TokenRefusal } from "./authenticate-request.js";
import type { TokenClaims } from "./tokens.js";

/** The claims of a ticket: the token that it represents, and its expiry. */
export interface TicketClaims {
  id: string;
  expiresAtMs: number;
  token: TokenClaims;
}

export interface TicketSigner {
  sign: (claims: TicketClaims) => string;
  /** Undefined if the signature is invalid. */
  verify: (ticket: string) => TicketClaims | undefined;
}

export type IssueTicket = (authenticated: Authenticated) => { ticket: string; expiresAtMs: number };
export type RedeemTicket = (ticket: string) => Promise<Authenticated | TokenRefusal>;

export interface StreamTicketsDeps {
  signer: TicketSigner;
  authenticator: Pick<RequestAuthenticator, "review">;
  nonces: NonceStore;
  newUuid: () => string;
  now: () => number;
}

const ticketLifetimeMs = 30_000;
/** Only authentic tickets get this far. A client delays its own alone, and one ticket none of the others. */
const usesLimits = {
  ...{ concurrentMax: 4, concurrentOfMemberMax: 1 },
  ...{ waitingMax: 2000, waitingOfKeyMax: 100, waitingOfMemberMax: 2 },
};
/** The tickets that this process knows to be used. The database knows all of them. */
const usedMax = 10_000;

/**
 * Tickets for browsers, which cannot send `Authorization` with a WebSocket. A ticket is part of a URL, which can end up in logs, so it
 * opens one stream and expires after 30 s. Tickets are signed, not stored, so that any process can accept them; only their use is stored.
 */
export function createStreamTickets({ signer, authenticator, nonces, newUuid, now }: StreamTicketsDeps) {
  const uses = createBoundedGate(usesLimits);
  const used = createRecentCache<true>(usedMax);
  const issue: IssueTicket = ({ claims }) => {
    const expiresAtMs = now() + ticketLifetimeMs;
    return { ticket: signer.sign({ id: newUuid(), expiresAtMs, token: claims }), expiresAtMs };
  };
  const redeem: RedeemTicket = async (ticket) => {
    const claims = signer.verify(ticket);
    if (claims === undefined) return { refused: "TICKET_INVALID" };
    const { id, expiresAtMs, token } = claims;
    // As with an expired token, nothing is recorded: somebody with an old log could fill that of the tenant.
    if (expiresAtMs <= now()) return { refused: "TICKET_INVALID" };
    if (used.has(id)) return { refused: "TICKET_INVALID", claims: token };
    const judgement = await authenticator.review(token);
    if ("refused" in judgement) return judgement;
    const isFirstUse = await uses.run({ key: token.clientId, member: id }, async () => {
      if (used.has(id)) return false;
      const isFirst = await nonces.useNonce(judgement.client, `ticket:${id}`, new Date(expiresAtMs));
      used.set(id, true);
      return isFirst;
    });
    if (isFirstUse === "full") return { refused: "RATE_LIMITED", retryAfterSeconds: 1 };
    return isFirstUse ? judgement : { refused: "TICKET_INVALID", claims: token };
  };
  return { issue, redeem };
}
