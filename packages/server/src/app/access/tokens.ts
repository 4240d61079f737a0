import type { Scope } from "@bursar/protocol";
import type { AuditDraft } from "../audit/audit-entry.js";
import type { ApiClient } from "../clients/client.js";

/** An access token is valid for 15 minutes. There are no refresh tokens: a client requests a new token. */
export const tokenLifetimeSeconds = 900;

/** The claims of a verified token. */
export interface TokenClaims {
  tenantId: string;
  clientId: string;
  tokenId: string;
  /** The secret or key that it was issued for. The token ends with it. Undefined for tokens of earlier versions. */
  credentialId?: string | undefined;
  /** The session of the console that it was issued to. The token ends with it. */
  sessionId?: string | undefined;
  scopes: readonly Scope[];
  issuedAtMs: number;
  expiresAtMs: number;
  /** The key that has signed it; set when it was verified. */
  keyId?: string | undefined;
}

export type TokenFault = "invalid" | "expired";

export interface TokenSigner {
  sign: (claims: TokenClaims) => Promise<string>;
  verify: (token: string) => Promise<TokenClaims | TokenFault>;
  /** Whether the key that signed a token was there a few seconds ago; if not, the token has to be verified again. */
  isKeyRecent: (keyId: string | undefined) => boolean;
  /** Whether the key that signed a token still verifies. */
  hasKey: (keyId: string) => Promise<boolean>;
}

export interface RevocationStore {
  /** False if it was revoked before. */
  revokeToken: (
    client: Pick<ApiClient, "tenantId" | "id">,
    tokenId: string,
    expiresAt: Date,
  ) => Promise<boolean>;
  /** The ids of a client's revoked tokens that have not expired yet. */
  listRevokedTokens: (client: Pick<ApiClient, "tenantId" | "id">) => Promise<string[]>;
}

/** A key that signs tokens, as it is stored. */
export interface StoredTokenKey {
  id: string;
  publicKey: Uint8Array;
  /** PKCS#8, sealed. */
  privateKey: Uint8Array;
  activeFrom: Date;
}

export interface TokenKeyStore {
  listTokenKeys: () => Promise<StoredTokenKey[]>;
  /** Which of these keys were revoked, by the audit log or the recorded stops. Rows can be put back; what is recorded cannot be removed. */
  listRevoked: (ids: readonly string[]) => Promise<string[]>;
  /** Adds the key only if there is none, even if several processes try at once. */
  addFirstTokenKey: (key: StoredTokenKey) => Promise<void>;
  /** With its audit entry, if there is one, and a record for each key that is removed: one whose row is put back is not valid again. */
  changeTokenKeys: (
    change: { added: StoredTokenKey | undefined; removed: readonly string[] },
    audit: AuditDraft | undefined,
  ) => Promise<void>;
}
