import { setTimeout as sleep } from "node:timers/promises";
import { addressBlock } from "@bursar/domain";
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
  useNonce: (client: Pick<ApiClient, "tenantId" | "id">, nonce: string, expiresAt: Date) => Promise<boolean>;
}

export interface AuthenticateClientDeps {
  clients: ClientStore;
  assertions: AssertionVerifier;
  nonces: NonceStore;
  brake: FailureBrake;
  now: () => number;
}

/**
 * No refusal leaves sooner than this after its request came in. Looking up a client that exists takes 0.1 ms longer than one that
 * does not, which would tell them apart; now both take the same.
 */
const failureFloorMs = 5;

/** A refusal, and whose client it was tried for where that one exists: for the audit log, not for the caller. */
export type ClientRefusal = OAuthFault & { claimed?: ApiClient };

/** The client behind a proof, or one fault for every way to be wrong: which part was wrong is nobody's business. */
export function createClientAuthenticator(deps: AuthenticateClientDeps) {
  const trusted = createTrustedPairs();
  return async (proof: ClientProof, address: string): Promise<ApiClient | ClientRefusal> => {
    const clientId =
      proof.clientId ??
      (proof.method === "assertion" ? deps.assertions.readSubject(proof.assertion) : undefined);
    const block = addressBlock(address);
    const pair = `client ${clientId ?? "unknown"} ${block}`;
    const keys = brakeKeys(pair, block, trusted.has(pair));
    const waitSeconds = deps.brake.attempt(keys);
    if (waitSeconds > 0) {
      return { fault: "slow_down", description: "Too many failed attempts.", retryAfterSeconds: waitSeconds };
    }
    const floor = sleep(failureFloorMs);
    const result = await prove(proof, deps).catch((error: unknown) => {
      deps.brake.withdrawn(keys);
      throw error;
    });
    if (isOAuthFault(result)) {
      await floor;
      return result;
    }
    deps.brake.succeeded(keys);
    trusted.add(pair);
    return result;
  };
}

/**
 * An attacker must not be able to lock out a client from elsewhere, so the client counts together with the address. The
 * address alone counts too, with more patience, against trying many clients; but not for a client that has been let in from
 * there before, so that a bad neighbour behind the same address does not keep it out.
 */
function brakeKeys(pair: string, address: string, isTrusted: boolean): BrakeKey[] {
  const own = { name: pair, freeFailures: 5 };
  return isTrusted ? [own] : [own, { name: `address ${address}`, freeFailures: 20 }];
}

const trustedPairsMax = 10_000;

function createTrustedPairs() {
  const pairs = new Set<string>();
  return {
    has: (pair: string) => pairs.has(pair),
    add: (pair: string) => {
      pairs.delete(pair);
      pairs.add(pair);
      if (pairs.size > trustedPairsMax) pairs.delete(pairs.values().next().value as string);
    },
  };
}

const invalidClient: OAuthFault = {
  fault: "invalid_client",
  description: "The client could not be authenticated.",
};

function prove(proof: ClientProof, deps: AuthenticateClientDeps): Promise<ApiClient | ClientRefusal> {
  return proof.method === "secret" ? bySecret(proof, deps) : byAssertion(proof, deps);
}

async function bySecret(
  { clientId, secret }: Extract<ClientProof, { method: "secret" }>,
  { clients, now }: AuthenticateClientDeps,
): Promise<ApiClient | ClientRefusal> {
  // An unknown client costs the same query and the same comparison as a known one.
  const client = await clients.findClient(clientId);
  const matches = matchesSecret(client?.secrets ?? [], secret, now());
  if (client === undefined) return invalidClient;
  return matches && client.state === "active" ? client : { ...invalidClient, claimed: client };
}

async function byAssertion(
  { clientId, assertion }: Extract<ClientProof, { method: "assertion" }>,
  { clients, assertions, nonces }: AuthenticateClientDeps,
): Promise<ApiClient | ClientRefusal> {
  const subject = assertions.readSubject(assertion);
  if (subject === undefined || (clientId !== undefined && clientId !== subject)) return invalidClient;
  const client = await clients.findClient(subject);
  if (client === undefined) return invalidClient;
  const refusal = { ...invalidClient, claimed: client };
  const verified = client.state === "active" ? await assertions.verify(assertion, client) : undefined;
  if (verified === undefined) return refusal;
  const isFirstUse = await nonces.useNonce(client, `assertion:${verified.id}`, verified.expiresAt);
  return isFirstUse ? client : refusal;
}
