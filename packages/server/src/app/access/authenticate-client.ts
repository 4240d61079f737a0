import { generateKeyPairSync } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { addressBlock } from "../../runtime/address-block.js";
import type { BoundedGate, GateKey } from "../../runtime/concurrency/bounded-gate.js";
import type { ApiClient, ClientStore } from "../clients/client.js";
import { matchSecret } from "../clients/client-secret.js";
import type { CredentialUses } from "../clients/credential-uses.js";
import type { FailureThrottle, ThrottleKey } from "./failure-throttle.js";
import type { IntegrityKeys } from "./integrity-keys.js";
import { createRecentRecords } from "./recent-records.js";
import { createTrustedPairs } from "./trusted-pairs.js";

/** How a client authenticates to the OAuth endpoints: with its secret, or with an assertion signed by its key. */
export type ClientProof =
  | { method: "secret"; clientId: string; secret: string }
  | { method: "assertion"; clientId: string | undefined; assertion: string };

export interface AssertionVerifier {
  /** The client id in an assertion, before it is verified; undefined if the assertion is malformed. */
  readSubject: (assertion: string) => string | undefined;
  /** The assertion's id and expiry, if one of the client's keys signed it and this service is its audience. */
  verify: (
    assertion: string,
    client: Pick<ApiClient, "id" | "keys">,
  ) => Promise<VerifiedAssertion | undefined>;
}

export interface VerifiedAssertion {
  id: string;
  expiresAt: Date;
  /** The key that signed it. */
  keyId: string;
}

/** A client, and the secret or key that it has proven to have. */
export type ProvenClient = ApiClient & { credentialId: string };

export interface NonceStore {
  /** True for the first use of a nonce by a client, false for every other. */
  useNonce: (client: Pick<ApiClient, "tenantId" | "id">, nonce: string, expiresAt: Date) => Promise<boolean>;
}

/** A refusal of an OAuth endpoint, with the error codes of RFC 6749, section 5.2. */
export interface OAuthFault {
  fault:
    | "invalid_request"
    | "invalid_client"
    | "invalid_scope"
    | "unauthorized_client"
    | "unsupported_grant_type"
    | "slow_down";
  description: string;
  retryAfterSeconds?: number;
}

export function isOAuthFault(value: unknown): value is OAuthFault {
  return typeof value === "object" && value !== null && "fault" in value;
}

export interface AuthenticateClientDeps {
  clients: Pick<ClientStore, "findClient">;
  keys: IntegrityKeys;
  uses: Pick<CredentialUses, "record">;
  assertions: AssertionVerifier;
  nonces: NonceStore;
  throttle: FailureThrottle;
  /** Bounds how many proofs are checked at once: each takes a query, and an assertion a signature as well. Address blocks take turns. */
  checks: BoundedGate;
  /** The same for proofs that match what was last read of their client: wrong ones, of any client, cannot fill it. */
  knownChecks: BoundedGate;
  /** Bounds the signatures that are verified to find out whether an assertion matches. */
  signatureChecks: BoundedGate;
  now: () => number;
}

/**
 * The shortest time in which a refusal is answered. Looking up a client that exists takes 0.1 ms longer than looking up one that does
 * not, so without this floor a caller could tell which client ids exist.
 */
const failureFloorMs = 5;

/** A refusal, with the client that was claimed if it exists: for the audit log, not for the caller. */
export type ClientRefusal = OAuthFault & { claimed?: ApiClient };

/**
 * Authenticates a client. Every failure has the same fault, so that a caller does not learn which part was wrong. The proof is checked first,
 * and only failures are throttled: a secret has 256 bits, so checking every guess gives nothing away, whereas refusing before the check
 * would let anyone behind the same address keep a client from its tokens. What checking costs is bounded by a gate. The proof chooses the queue,
 * not the client id that it claims: anybody can claim an id.
 */
export function createClientAuthenticator(given: AuthenticateClientDeps) {
  const trusted = createTrustedPairs();
  const recent = createRecentRecords<ApiClient>();
  const nobody = createNobody();
  const deps = { ...given, nobody, clients: { findClient: recent.watch(given.clients.findClient) } };
  return async (proof: ClientProof, address: string): Promise<ProvenClient | ClientRefusal> => {
    const clientId =
      proof.clientId ??
      (proof.method === "assertion" ? deps.assertions.readSubject(proof.assertion) : undefined);
    const block = addressBlock(address);
    const pair = `client ${clientId ?? "unknown"} ${block}`;
    const floor = sleep(failureFloorMs);
    const isTrusted = trusted.has(pair);
    const result = await ((await isLikely(
      proof,
      recent.get(clientId),
      { key: block, member: clientId ?? "" },
      deps,
    ))
      ? deps.knownChecks.run(pair, () => prove(proof, deps))
      : deps.checks.run({ key: block, member: clientId ?? "" }, () => prove(proof, deps)));
    if (result === "full") return busy;
    if (!isOAuthFault(result)) {
      deps.throttle.succeeded(pair);
      trusted.add(pair);
      return result;
    }
    const waitSeconds = deps.throttle.failed(throttleKeys(pair, block, isTrusted));
    await floor;
    if (waitSeconds === 0) return result;
    const description = "Too many failed attempts.";
    return { ...result, fault: "slow_down", description, retryAfterSeconds: waitSeconds };
  };
}

/**
 * Failures are counted per client and address. They are also counted per address, with a higher limit, against attempts on many clients;
 * but not for a client that has authenticated from that address before.
 */
function throttleKeys(pair: string, address: string, isTrusted: boolean): ThrottleKey[] {
  const own = { name: pair, freeFailures: 5 };
  return isTrusted ? [own] : [own, { name: `address ${address}`, freeFailures: 20 }];
}

const busy: OAuthFault = {
  fault: "slow_down",
  description: "Too many token requests are waiting.",
  retryAfterSeconds: 1,
};

const invalidClient: OAuthFault = {
  fault: "invalid_client",
  description: "Client authentication failed.",
};

/**
 * The assertion of an unknown client waits and is verified as that of a known one, so the time tells nothing. What it is verified with does
 * not matter: an unknown client is refused in any case.
 */
function createNobody(): Pick<ApiClient, "id" | "keys"> {
  const id = "00000000-0000-0000-0000-000000000000";
  // Its private key is dropped, so nobody has it.
  const { x = "" } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  const material = Buffer.from(x, "base64url");
  const times = { expiresAt: null, lastUsedAt: null, createdAt: new Date(0) };
  return { id, keys: [{ id, algorithm: "ed25519", addedBy: null, material, ...times }] };
}

/** Whether a proof matches the client as it was last read. */
async function isLikely(
  proof: ClientProof,
  client: ApiClient | undefined,
  line: GateKey,
  {
    keys,
    assertions,
    signatureChecks,
    nobody,
    now,
  }: AuthenticateClientDeps & { nobody: Pick<ApiClient, "id" | "keys"> },
): Promise<boolean> {
  if (proof.method === "secret")
    return matchSecret(keys, client?.secrets ?? [], proof.secret, now()) !== undefined;
  const verified = await signatureChecks.run(line, () =>
    assertions.verify(proof.assertion, client ?? nobody),
  );
  return client !== undefined && verified !== "full" && verified !== undefined;
}

function prove(proof: ClientProof, deps: AuthenticateClientDeps): Promise<ProvenClient | ClientRefusal> {
  return proof.method === "secret" ? bySecret(proof, deps) : byAssertion(proof, deps);
}

async function bySecret(
  { clientId, secret }: Extract<ClientProof, { method: "secret" }>,
  { clients, keys, uses, now }: AuthenticateClientDeps,
): Promise<ProvenClient | ClientRefusal> {
  // An unknown client takes the same query and the same comparison as a known one.
  const client = await clients.findClient(clientId);
  const credentialId = matchSecret(keys, client?.secrets ?? [], secret, now());
  if (client === undefined) return invalidClient;
  // The secret of a person is an invitation, which gives a passkey and no token.
  const isRefused = credentialId === undefined || client.state !== "active" || client.person !== null;
  if (isRefused) return { ...invalidClient, claimed: client };
  uses.record("secret", credentialId);
  return { ...client, credentialId };
}

async function byAssertion(
  { clientId, assertion }: Extract<ClientProof, { method: "assertion" }>,
  { clients, assertions, nonces, uses }: AuthenticateClientDeps,
): Promise<ProvenClient | ClientRefusal> {
  const subject = assertions.readSubject(assertion);
  if (subject === undefined || (clientId !== undefined && clientId !== subject)) return invalidClient;
  const client = await clients.findClient(subject);
  if (client === undefined) return invalidClient;
  const refusal = { ...invalidClient, claimed: client };
  const verified = client.state === "active" ? await assertions.verify(assertion, client) : undefined;
  if (verified === undefined) return refusal;
  const isFirstUse = await nonces.useNonce(client, `assertion:${verified.id}`, verified.expiresAt);
  if (!isFirstUse) return refusal;
  uses.record("key", verified.keyId);
  return { ...client, credentialId: verified.keyId };
}
