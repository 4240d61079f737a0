import type {
  CreateClientBody,
  ListAuditQuery,
  ListClientsQuery,
  ListDestinationsQuery,
} from "@bursar/client";
import type { Command } from "./command.js";
import { idempotencyKey, keyOf, listCommand, oneCommand } from "./lists.js";

/** Who may do what, where money may go, and what was done. */
export const accessCommands: readonly Command[] = [
  {
    path: "me",
    summary: "show the client, the tenant, the scopes and the quotas of the credentials",
    operations: ["GET /v1/me"],
    run: async ({ bursar, output }) => {
      output.one(await (await bursar()).me.get());
      return undefined;
    },
  },
  listCommand<ListDestinationsQuery>({
    path: "destinations list",
    summary: "list the addresses that policy knows",
    operation: "GET /v1/destinations",
    options: [
      { name: "network", value: "network", about: "only of this network" },
      { name: "address", value: "address", about: "only this address of the network" },
      { name: "state", value: "state", about: "only in this state", choices: ["waiting", "active"] },
    ],
    columns: ["id", "state", "label", "network", "address", "effective_at"],
    read: (bursar, query) => bursar.destinations.list(query),
  }),
  oneCommand({
    path: "destinations get",
    summary: "show a destination",
    operation: "GET /v1/destinations/{id}",
    id: "destination",
    send: (bursar, id) => bursar.destinations.get(id),
  }),
  {
    path: "destinations add",
    summary: "list an address; it can have to be approved first",
    arguments: [
      { name: "network", about: "such as eip155:1" },
      { name: "address", about: "the address" },
    ],
    options: [
      { name: "label", value: "text", about: "its name", required: true },
      { name: "note", value: "text", about: "a note" },
      idempotencyKey,
    ],
    operations: ["POST /v1/destinations"],
    movesMoney: true,
    run: async ({ bursar, output, confirm }, given) => {
      const [network, address] = [given.argument("network"), given.argument("address")];
      const noted = given.text("note");
      await confirm(`Allow payments to ${address} on ${network}, as the policy says?`);
      const body = {
        network,
        address,
        label: given.required("label"),
        ...(noted === undefined ? {} : { note: noted }),
      };
      output.one(await (await bursar()).destinations.create(body, keyOf(given)));
      return undefined;
    },
  },
  oneCommand({
    path: "destinations remove",
    summary: "remove a destination; it can have to be approved first",
    operation: "DELETE /v1/destinations/{id}",
    id: "destination",
    changes: true,
    send: (bursar, id) => bursar.destinations.remove(id),
  }),
  listCommand<ListClientsQuery>({
    path: "clients list",
    summary: "list the clients of the tenant",
    operation: "GET /v1/clients",
    columns: ["id", "name", "state", "scopes", "created_at"],
    read: (bursar, query) => bursar.clients.list(query),
  }),
  oneCommand({
    path: "clients get",
    summary: "show a client with its keys and secrets",
    operation: "GET /v1/clients/{client_id}",
    id: "client",
    send: (bursar, id) => bursar.clients.get(id),
  }),
  {
    path: "clients create",
    summary: "create a client; its secret is shown once",
    arguments: [{ name: "name", about: "its name" }],
    options: [
      { name: "scope", value: "scope", about: "what it may do", many: true, required: true },
      { name: "require-signature", about: "its requests must be signed" },
      idempotencyKey,
    ],
    operations: ["POST /v1/clients"],
    changes: true,
    run: async ({ bursar, output }, given) => {
      const body = {
        name: given.argument("name"),
        scopes: given.list("scope") as CreateClientBody["scopes"],
        ...(given.flag("require-signature") ? { require_signature: true } : {}),
      };
      output.one(await (await bursar()).clients.create(body, keyOf(given)));
      return undefined;
    },
  },
  oneCommand({
    path: "clients disable",
    summary: "disable a client and cancel its open orders",
    operation: "PATCH /v1/clients/{client_id}",
    id: "client",
    changes: true,
    send: (bursar, id) => bursar.clients.change(id, { state: "disabled" }),
  }),
  oneCommand({
    path: "clients enable",
    summary: "enable a client again",
    operation: "PATCH /v1/clients/{client_id}",
    id: "client",
    changes: true,
    send: (bursar, id) => bursar.clients.change(id, { state: "active" }),
  }),
  oneCommand({
    path: "clients rotate-secret",
    summary: "give a client a new secret, which is shown once; the old one works for a day",
    operation: "POST /v1/clients/{client_id}/secrets",
    id: "client",
    options: [idempotencyKey],
    changes: true,
    send: (bursar, id, given) => bursar.clients.rotateSecret(id, undefined, keyOf(given)),
  }),
  listCommand<ListAuditQuery & { by?: string }>({
    path: "audit",
    summary: "list the audit log, newest first",
    operation: "GET /v1/audit",
    options: [
      {
        name: "actor",
        value: "kind",
        about: "only what this kind of actor did",
        choices: ["client", "operator", "anonymous", "service"],
      },
      { name: "by", value: "client", about: "only what this client did" },
      { name: "action", value: "action", about: "only this action, such as client.create" },
      { name: "object", value: "id", about: "only entries about this object" },
      {
        name: "outcome",
        value: "outcome",
        about: "only entries with this outcome",
        choices: ["succeeded", "refused"],
      },
      { name: "request-id", value: "id", about: "only entries of this request" },
      { name: "occurred-after", value: "time", about: "at this time or later, such as 2026-11-01T00:00:00Z" },
      { name: "occurred-before", value: "time", about: "before this time" },
    ],
    columns: ["number", "occurred_at", "actor", "client_id", "action", "object", "outcome", "code"],
    // `--client-id` is the client that asks.
    read: (bursar, { by, ...query }) =>
      bursar.audit.list({ ...query, ...(by === undefined ? {} : { client_id: by }) }),
  }),
];
