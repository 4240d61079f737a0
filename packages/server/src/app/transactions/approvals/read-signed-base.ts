import { readId } from "@bursar/protocol";
import { tokenLifetimeSeconds } from "../../access/tokens.js";

/** A signature base that was opened, and when the access tokens in it have expired; null if it contains none. */
export interface SignedBase {
  text: string;
  tokenExpiresAt: Date | null;
}

/**
 * Takes the time from which a signature base can be shown from the access token in it. The base is encrypted and authenticated, unlike the
 * columns beside it: a writer to the database cannot have a token shown that is still valid. Undefined if the base belongs to another tenant.
 *
 * Only the token of the `authorization` line was verified when the request was accepted. The signer chooses the other lines freely: they
 * can contain another token that is valid, and also anything else. A token that existed at that time has expired when the verified one has
 * expired and the lifetime of a token has passed, so the other lines delay the base no longer than that.
 */
export function readSignedBase(tenantId: string, base: Uint8Array): SignedBase | undefined {
  const text = Buffer.from(base).toString("utf8");
  const credential = /^"authorization":.*$/m.exec(text)?.[0];
  if (credential === undefined) return { text, tokenExpiresAt: null };
  const [verified] = readTokens(credential);
  if (verified === undefined || readId("tnt", verified.tenantId ?? "") !== tenantId) return undefined;
  const latestSeconds = Math.max(...readTokens(text).map(({ exp }) => exp));
  const expiresAtSeconds = Math.min(latestSeconds, verified.exp + tokenLifetimeSeconds);
  return { text, tokenExpiresAt: new Date(expiresAtSeconds * 1000) };
}

interface ReadToken {
  exp: number;
  tenantId: string | undefined;
}

function readTokens(text: string): ReadToken[] {
  return [...text.matchAll(tokenPattern)].flatMap(([, payload = ""]) => readClaims(payload) ?? []);
}

/** The bound of the header of a JWT bounds the search. */
const tokenPattern = /\beyJ[\w-]{1,500}\.([\w-]+)\.[\w-]+/g;

/** Undefined for a JWT that does not expire, which is no access token of this service. */
function readClaims(payload: string): ReadToken | undefined {
  let claims: { exp?: unknown; tenant_id?: unknown } | null;
  try {
    claims = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
  const { exp, tenant_id: tenantId } = claims ?? {};
  if (typeof exp !== "number") return undefined;
  return { exp, tenantId: typeof tenantId === "string" ? tenantId : undefined };
}
