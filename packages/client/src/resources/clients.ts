import type { ListClientsQuery, ShowClientUsageQuery } from "../generated/operations.js";
import type {
  AddKeyBody,
  ChangeClientBody,
  CreateClientBody,
  RotateOwnSecretBody,
  RotateSecretBody,
} from "../generated/schemas.js";
import { createCursorList } from "../lists/list.js";
import type { CallOptions, CreateOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";

export function createClients(transport: Transport) {
  return {
    /** The response has the secret, which is shown once. */
    create: (body: CreateClientBody, options?: CreateOptions) =>
      transport.call("POST /v1/clients", { body, keyed: true }, options),
    get: (clientId: string, options?: CallOptions) =>
      transport.call("GET /v1/clients/{client_id}", { path: { client_id: clientId } }, options),
    list: (query?: ListClientsQuery, options?: CallOptions) =>
      createCursorList((position) =>
        transport.call("GET /v1/clients", { query: { ...query, ...position } }, options),
      ),
    /** For those who see an id and may not read clients. A name need not be unique. */
    name: (clientId: string, options?: CallOptions) =>
      transport.call("GET /v1/clients/{client_id}/name", { path: { client_id: clientId } }, options),
    /** Its requests by hour or day, and what is left of its quotas. */
    usage: (clientId: string, query?: ShowClientUsageQuery, options?: CallOptions) =>
      transport.call(
        "GET /v1/clients/{client_id}/usage",
        { path: { client_id: clientId }, query: { ...query } },
        options,
      ),
    change: (clientId: string, body: ChangeClientBody, options?: CallOptions) =>
      transport.call("PATCH /v1/clients/{client_id}", { path: { client_id: clientId }, body }, options),
    rotateSecret: (clientId: string, body?: RotateSecretBody, options?: CreateOptions) =>
      transport.call(
        "POST /v1/clients/{client_id}/secrets",
        { path: { client_id: clientId }, ...(body === undefined ? {} : { body }), keyed: true },
        options,
      ),
    removeSecret: (clientId: string, secretId: string, options?: CallOptions) =>
      transport.call(
        "DELETE /v1/clients/{client_id}/secrets/{secret_id}",
        { path: { client_id: clientId, secret_id: secretId } },
        options,
      ),
    addKey: (clientId: string, body: AddKeyBody, options?: CreateOptions) =>
      transport.call(
        "POST /v1/clients/{client_id}/keys",
        { path: { client_id: clientId }, body, keyed: true },
        options,
      ),
    removeKey: (clientId: string, keyId: string, options?: CallOptions) =>
      transport.call(
        "DELETE /v1/clients/{client_id}/keys/{key_id}",
        { path: { client_id: clientId, key_id: keyId } },
        options,
      ),
  };
}

/** The client that the credentials belong to. */
export function createMe(transport: Transport) {
  return {
    get: (options?: CallOptions) => transport.call("GET /v1/me", {}, options),
    rotateSecret: (body: RotateOwnSecretBody, options?: CreateOptions) =>
      transport.call("POST /v1/me/secrets", { body, keyed: true }, options),
  };
}
