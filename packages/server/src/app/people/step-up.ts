import { createHash } from "node:crypto";
import { showId } from "@bursar/protocol";
import type { BoundedGate } from "../../runtime/concurrency/bounded-gate.js";
import type { NonceStore } from "../access/authenticate-client.js";
import type { VerifiedSignature } from "../access/verify-request-signature.js";
import type { ApiClient } from "../clients/client.js";
import type { ClientDeps } from "../clients/client-service.js";
import type { CredentialUses } from "../clients/credential-uses.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { recordCounter } from "./log-in.js";
import { type Assertion, findPasskey, type PasskeyVerifier } from "./passkey.js";

/** What a person confirms with a passkey: what is done to what, with which content. No part has a line break. */
export interface ConfirmedAct {
  act: string;
  target: string;
  /** In hex. */
  digest: string;
}

/** Verifies that a person has confirmed this very request with a passkey. */
export type VerifyPasskey = (
  header: string | undefined,
  act: ConfirmedAct,
  client: ApiClient,
  from: { requestId: string; address: string },
) => Promise<VerifiedSignature | Refused>;

export interface StepUpDeps extends ClientDeps {
  passkeys: PasskeyVerifier;
  nonces: NonceStore;
  uses: Pick<CredentialUses, "recordPasskey">;
  /** Verifying takes a thread of the few that also verify everybody's tokens. The people of a tenant take turns, and so do tenants. */
  checks: BoundedGate;
}

const ageMaxMs = 5 * 60_000;

/**
 * What the challenge is the SHA-256 of. It names the person, so that an assertion is worth nothing for anybody else, whatever passkeys they
 * have. Decisions of version 1, which did not, keep the lines that they were made with.
 */
export function contentOfChallenge(
  { tenantId, id }: Pick<ApiClient, "tenantId" | "id">,
  { act, target, digest }: ConfirmedAct,
  at: string,
): string {
  return ["bursar-passkey-v2", showId("tnt", tenantId), showId("cli", id), act, target, digest, at].join(
    "\n",
  );
}

export function challengeOf(content: string): string {
  return createHash("sha256").update(content).digest("base64url");
}

export function createStepUp(deps: StepUpDeps): VerifyPasskey {
  return async (header, act, client, from) => {
    if (header === undefined) return { refused: "PASSKEY_REQUIRED" };
    const given = readHeader(header);
    if (given === undefined) return invalid;
    const atMs = Date.parse(given.at);
    if (!timePattern.test(given.at) || !(Math.abs(deps.now() - atMs) <= ageMaxMs)) return invalid;
    const found = findPasskey(client.keys, given.id);
    if (found === undefined) return invalid;
    const content = contentOfChallenge(client, act, given.at);
    const challenge = challengeOf(content);
    const verified = await deps.checks.run({ key: client.tenantId, member: client.id }, () =>
      deps.passkeys.verifyAssertion(given, (one) => one === challenge, found.passkey),
    );
    if (verified === "full") return { refused: "RATE_LIMITED", retryAfterSeconds: 1 };
    if (verified === undefined) return invalid;
    // What was signed, not how it is encoded: an ECDSA signature has a second form.
    const used = createHash("sha256")
      .update(given.client_data)
      .update(given.authenticator_data)
      .digest("hex");
    const expiresAt = new Date(atMs + 2 * ageMaxMs);
    if (!(await deps.nonces.useNonce(client, `assertion:${used}`, expiresAt))) return invalid;
    const counted = await recordCounter(deps, client, found.key.id, given.id, verified.counter, from);
    if (isRefused(counted)) return counted;
    deps.uses.recordPasskey(found.key.id);
    const { client_data, authenticator_data, signature } = given;
    return {
      key: found.key,
      params: content,
      signature: Buffer.from(signature, "base64url"),
      base: JSON.stringify({ client_data, authenticator_data }),
      body: new Uint8Array(),
    };
  };
}

const invalid: Refused = { refused: "PASSKEY_INVALID" };
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const bytesPattern = /^[A-Za-z0-9_-]+$/;
const headerLengthMax = 8192;

/** A decoder ignores unused bits and a single last character: the same bytes in another form would count as another assertion. */
function isCanonical(value: unknown): boolean {
  return (
    typeof value === "string" &&
    bytesPattern.test(value) &&
    Buffer.from(value, "base64url").toString("base64url") === value
  );
}

/** Base64url of a JSON object with the assertion and `at`. */
function readHeader(header: string): (Assertion & { at: string }) | undefined {
  if (header.length > headerLengthMax || !bytesPattern.test(header)) return undefined;
  try {
    const read = JSON.parse(Buffer.from(header, "base64url").toString("utf8")) as Record<
      string,
      unknown
    > | null;
    const { id, at, client_data, authenticator_data, signature } = read ?? {};
    const bytes = [id, client_data, authenticator_data, signature];
    if (typeof at !== "string" || !bytes.every(isCanonical)) return undefined;
    return { id, at, client_data, authenticator_data, signature } as Assertion & { at: string };
  } catch {
    return undefined;
  }
}
