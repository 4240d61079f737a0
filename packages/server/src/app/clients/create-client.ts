import { type CreateClientBody, showId } from "@bursar/protocol";
import type { ApiClient } from "../access/client.js";
import { hashSecret, newSecretText } from "../access/client-secret.js";
import { describeAct, type Origin } from "../audit/act.js";
import type { Refused } from "../requests/refused.js";
import { hashRequest } from "../requests/request-hash.js";
import { refuseBeyondAuthority } from "./authority.js";
import type { ClientDeps } from "./client-deps.js";

export interface CreatedClient {
  client: ApiClient;
  /** Null where an earlier request with the same key has created the client: a secret is shown once. */
  secret: string | null;
}

export type CreateClient = (
  origin: Origin,
  body: CreateClientBody,
  idempotencyKey: string | undefined,
) => Promise<CreatedClient | Refused>;

export function createClientCreator({ clients, newUuid, randomBytes, now }: ClientDeps): CreateClient {
  return async (origin, body, idempotencyKey) => {
    const refused = refuseBeyondAuthority(origin, body.scopes);
    if (refused !== undefined) return refused;
    const secret = newSecretText(randomBytes);
    const createdAt = new Date(now());
    const client: ApiClient = {
      id: newUuid(),
      tenantId: origin.by === "operator" ? origin.tenantId : origin.principal.tenantId,
      name: body.name,
      scopes: body.scopes,
      state: "active",
      requireSignature: body.require_signature ?? false,
      quotas: {},
      secrets: [{ id: newUuid(), hash: hashSecret(secret), createdAt, expiresAt: null }],
      keys: [],
      createdAt,
      updatedAt: createdAt,
      disabledAt: null,
    };
    const request =
      idempotencyKey === undefined ? undefined : { key: idempotencyKey, hash: hashRequest(body) };
    const result = await clients.createClient(
      client,
      request,
      describeAct(origin, "client.create", showId("cli", client.id), createdAt),
    );
    if ("created" in result) return { client: result.created, secret };
    const isSameRequest = request !== undefined && result.requestHash === request.hash;
    return isSameRequest ? { client: result.earlier, secret: null } : { refused: "IDEMPOTENCY_KEY_REUSED" };
  };
}
