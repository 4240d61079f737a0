import type { ListPeopleQuery } from "../generated/operations.js";
import type { ChangePersonBody, CreateRoleBody, InvitePersonBody } from "../generated/schemas.js";
import { createCursorList } from "../lists/list.js";
import type { CallOptions, CreateOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";

export function createPeople(transport: Transport) {
  return {
    /** The response has the link of the invitation, which is shown once. */
    invite: (body: InvitePersonBody, options?: CreateOptions) =>
      transport.call("POST /v1/people", { body, keyed: true }, options),
    get: (id: string, options?: CallOptions) =>
      transport.call("GET /v1/people/{id}", { path: { id } }, options),
    list: (query?: ListPeopleQuery, options?: CallOptions) =>
      createCursorList((position) =>
        transport.call("GET /v1/people", { query: { ...query, ...position } }, options),
      ),
    change: (id: string, body: ChangePersonBody, options?: CallOptions) =>
      transport.call("PATCH /v1/people/{id}", { path: { id }, body }, options),
    /** Removes all passkeys of the person. The response has the link of a new invitation. */
    recover: (id: string, options?: CallOptions) =>
      transport.call("POST /v1/people/{id}/invitation", { path: { id } }, options),
  };
}

export function createRoles(transport: Transport) {
  return {
    list: (options?: CallOptions) => transport.call("GET /v1/roles", {}, options),
    create: (body: CreateRoleBody, options?: CallOptions) =>
      transport.call("POST /v1/roles", { body }, options),
    delete: (name: string, options?: CallOptions) =>
      transport.call("DELETE /v1/roles/{name}", { path: { name } }, options),
  };
}
