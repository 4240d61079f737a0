import { readId } from "@bursar/protocol";

/** A signature base that was opened, and when the access token in it expires; null if it contains none. */
export interface SignedBase {
  text: string;
  tokenExpiresAt: Date | null;
}

/**
 * Takes the time from which a signature base can be shown from the access tokens in it. The base is encrypted and authenticated, unlike the
 * columns beside it: a writer to the database cannot have a token shown that is still valid. Undefined if the base belongs to another tenant.
 */
export function readSignedBase(tenantId: string, base: Uint8Array): SignedBase | undefined {
  const text = Buffer.from(base).toString("utf8");
  const tokens = [...text.matchAll(tokenPattern)].flatMap(([, payload = ""]) => readClaims(payload) ?? []);
  const isForeign = tokens.some((token) => readId("tnt", token.tenantId) !== tenantId);
  if (isForeign || (tokens.length === 0 && /^"authorization"/m.test(text))) return undefined;
  const expiresAtMs = Math.max(...tokens.map(({ exp }) => exp * 1000));
  return { text, tokenExpiresAt: tokens.length === 0 ? null : new Date(expiresAtMs) };
}

/** A JWT in any line: a client can have signed another header that contains its token. The bound of its header bounds the search. */
const tokenPattern = /\beyJ[\w-]{1,500}\.([\w-]+)\.[\w-]+/g;

/** Undefined for a JWT that is no access token of this service. */
function readClaims(payload: string): { exp: number; tenantId: string } | undefined {
  let claims: { exp?: unknown; tenant_id?: unknown } | null;
  try {
    claims = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
  const { exp, tenant_id: tenantId } = claims ?? {};
  return typeof exp === "number" && typeof tenantId === "string" ? { exp, tenantId } : undefined;
}
