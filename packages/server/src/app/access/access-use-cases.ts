import type { ChainedAuditEntry } from "../audit/audit-entry.js";
import type { AddKey } from "../clients/add-key.js";
import type { ChangeClient } from "../clients/change-client.js";
import type { CreateClient } from "../clients/create-client.js";
import type { RemoveKey } from "../clients/remove-key.js";
import type { RemoveSecret } from "../clients/remove-secret.js";
import type { RotateSecret } from "../clients/rotate-secret.js";
import type { Refused } from "../requests/refused.js";
import type { ClientProof } from "./authenticate-client.js";
import type { ApiClient } from "./client.js";
import type { Issued } from "./issue-token.js";
import type { OAuthFault } from "./oauth-fault.js";
import type { TokenClaims } from "./tokens.js";

/** Where a request to an OAuth endpoint comes from. */
export interface RequestOrigin {
  requestId: string;
  address: string;
}

/** What can be asked about clients, their tokens and what they did. */
export interface AccessUseCases {
  requestToken: (
    proof: ClientProof,
    scope: string | undefined,
    origin: RequestOrigin,
  ) => Promise<Issued | OAuthFault>;
  revokeToken: (proof: ClientProof, token: string, origin: RequestOrigin) => Promise<OAuthFault | undefined>;
  introspectToken: (
    proof: ClientProof,
    token: string,
    origin: RequestOrigin,
  ) => Promise<TokenClaims | OAuthFault | undefined>;
  listTokenKeys: () => Promise<{ kid: string; x: string }[]>;
  createClient: CreateClient;
  readClient: (tenantId: string, clientId: string) => Promise<ApiClient | Refused>;
  listClients: (tenantId: string, limit: number, beforeId: string | undefined) => Promise<ApiClient[]>;
  changeClient: ChangeClient;
  rotateSecret: RotateSecret;
  removeSecret: RemoveSecret;
  addKey: AddKey;
  removeKey: RemoveKey;
  listAudit: (tenantId: string, limit: number, before: bigint | undefined) => Promise<ChainedAuditEntry[]>;
}
