import { readId, showId } from "@bursar/protocol";
import { decodeJwt, decodeProtectedHeader, errors, jwtVerify } from "jose";
import type { AssertionVerifier, VerifiedAssertion } from "../app/access/authenticate-client.js";
import { ed25519PublicKey } from "../app/access/verify-request-signature.js";
import { type ApiClient, isLive } from "../app/clients/client.js";

type AssertionClient = Pick<ApiClient, "id" | "keys">;

export interface ClientAssertionOptions {
  /**
   * The only audience: the issuer. An assertion for an endpoint would be ambiguous if two servers share one, or if a client is led to a
   * server that copies the endpoint of another (draft-ietf-oauth-rfc7523bis).
   */
  audience: string;
  now: () => number;
}

/** The id of an assertion is stored until it expires, so the lifetime is bounded. */
const lifetimeSecondsMax = 300;
const clockToleranceSeconds = 30;
const idPattern = /^[\x21-\x7e]{1,128}$/;

/** Verifies client assertions: JWTs that a client signs with its private key (RFC 7523, `private_key_jwt`). */
export function createAssertionVerifier({ audience, now }: ClientAssertionOptions): AssertionVerifier {
  function readSubject(assertion: string): string | undefined {
    try {
      return readId("cli", decodeJwt(assertion).sub ?? "");
    } catch {
      return undefined;
    }
  }

  async function verify(assertion: string, client: AssertionClient): Promise<VerifiedAssertion | undefined> {
    for (const key of candidateKeys(assertion, client)) {
      if (!isLive(key, now())) continue;
      const payload = await verifyWith(assertion, client, ed25519PublicKey(key.material));
      if (payload !== undefined) return { ...payload, keyId: key.id };
    }
    return undefined;
  }

  async function verifyWith(
    assertion: string,
    client: AssertionClient,
    key: ReturnType<typeof ed25519PublicKey>,
  ) {
    try {
      const subject = showId("cli", client.id);
      const { payload } = await jwtVerify(assertion, key, {
        algorithms: ["EdDSA", "Ed25519"],
        issuer: subject,
        subject,
        audience,
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(now()),
        requiredClaims: ["exp", "jti"],
      });
      // A list could name other servers too, which could then use the assertion here.
      if (payload.aud !== audience) return undefined;
      const { jti = "", exp = 0 } = payload;
      const isShortLived = exp * 1000 <= now() + (lifetimeSecondsMax + clockToleranceSeconds) * 1000;
      if (!isShortLived || !idPattern.test(jti)) return undefined;
      // Stored until the tolerance has passed too.
      return { id: jti, expiresAt: new Date((exp + clockToleranceSeconds) * 1000) };
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  return { readSubject, verify };
}

/** The key that the assertion names, or every key of the client if it names none. */
function candidateKeys(assertion: string, client: AssertionClient) {
  const kid = readKeyId(assertion);
  const signing = client.keys.filter((key) => key.algorithm === "ed25519");
  return kid === undefined ? signing : signing.filter((key) => showId("key", key.id) === kid);
}

function readKeyId(assertion: string): string | undefined {
  try {
    return decodeProtectedHeader(assertion).kid;
  } catch {
    return undefined;
  }
}
