import type { ApiClient, ClientStore } from "./client.js";
import { matchesSecret } from "./client-secret.js";
import type { BrakeKey, FailureBrake } from "./failure-brake.js";
import { isOAuthFault, type OAuthFault } from "./oauth-fault.js";

/** How a client proves itself to the OAuth endpoints: by its secret, or by an assertion that its key has signed. */
export type ClientProof =
  | { method: "secret"; clientId: string; secret: string }
  | { method: "assertion"; clientId: string | undefined; assertion: string };

export interface AssertionVerifier {
  /** The client that an assertion speaks for, by its unverified content; undefined where it is malformed. */
  readSubject: (assertion: string) => string | undefined;
  /** Its id and expiry, where one of the client's keys has signed it and it was made for this service. */
  verify: (assertion: string, client: ApiClient) => Promise<{ id: string; expiresAt: Date } | undefined>;
}

export interface NonceStore {
  /** True for the first use of a nonce by a client, false for every other. */
  useNonce: (clientId: string, nonce: string, expiresAt: Date) => Promise<boolean>;
}

export interface AuthenticateClientDeps {
  clients: ClientStore;
  assertions: AssertionVerifier;
  nonces: NonceStore;
  brake: FailureBrake;
  nowMs: () => number;
}

/** The client behind a proof, or one fault for every way to be wrong: which part was wrong is nobody's business. */
export function createClientAuthenticator(deps: AuthenticateClientDeps) {
  return async (proof: ClientProof, address: string): Promise<ApiClient | OAuthFault> => {
    const clientId =
      proof.clientId ??
      (proof.method === "assertion" ? deps.assertions.readSubject(proof.assertion) : undefined);
    const keys = brakeKeys(clientId, address);
    const waitSeconds = deps.brake.secondsToWait(keys);
    if (waitSeconds > 0) {
      return { fault: "slow_down", description: "Too many failed attempts.", retryAfterSeconds: waitSeconds };
    }
    const result = proof.method === "secret" ? await bySecret(proof, deps) : await byAssertion(proof, deps);
    if (isOAuthFault(result)) deps.brake.failed(keys);
    // The address is not forgiven: one good client must not let its neighbours try all others.
    else deps.brake.succeeded(keys.slice(0, 1));
    return result;
  };
}

/**
 * An attacker must not be able to lock out a client from elsewhere, so the client counts together with the address. The
 * address alone counts too, with more patience, against trying many clients.
 */
function brakeKeys(clientId: string | undefined, address: string): BrakeKey[] {
  return [
    { name: `client ${clientId ?? "unknown"} ${address}`, freeFailures: 5 },
    { name: `address ${address}`, freeFailures: 20 },
  ];
}

const invalidClient: OAuthFault = {
  fault: "invalid_client",
  description: "The client could not be authenticated.",
};

async function bySecret(
  { clientId, secret }: Extract<ClientProof, { method: "secret" }>,
  { clients, nowMs }: AuthenticateClientDeps,
): Promise<ApiClient | OAuthFault> {
  // An unknown client costs the same query and the same comparison as a known one.
  const client = await clients.findClient(clientId);
  const matches = matchesSecret(client?.secrets ?? [], secret, nowMs());
  return client !== undefined && matches && client.state === "active" ? client : invalidClient;
}

async function byAssertion(
  { clientId, assertion }: Extract<ClientProof, { method: "assertion" }>,
  { clients, assertions, nonces }: AuthenticateClientDeps,
): Promise<ApiClient | OAuthFault> {
  const subject = assertions.readSubject(assertion);
  if (subject === undefined || (clientId !== undefined && clientId !== subject)) return invalidClient;
  const client = await clients.findClient(subject);
  if (client === undefined || client.state !== "active") return invalidClient;
  const verified = await assertions.verify(assertion, client);
  if (verified === undefined) return invalidClient;
  const isFirstUse = await nonces.useNonce(client.id, `assertion:${verified.id}`, verified.expiresAt);
  return isFirstUse ? client : invalidClient;
}
