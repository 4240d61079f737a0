import { type Static, Type } from "typebox";
import { Page, PageQuery } from "../pagination.js";
import { Nullable, OneOf, TimeFilter, Timestamp } from "../values.js";

const actors = ["client", "operator", "anonymous", "service"] as const;
const outcomes = ["succeeded", "refused"] as const;

export const AuditEntry = Type.Object(
  {
    number: Type.Integer({ description: "Numbers the tenant's entries, without gaps." }),
    occurred_at: Timestamp(),
    actor: OneOf(actors, {
      description: "`service`: Bursar itself, such as for `audit.dropped`.",
    }),
    client_id: Nullable(Type.String()),
    token_id: Nullable(Type.String()),
    session_id: Nullable(Type.String(), "The session of the person who acted; null for other clients."),
    action: Type.String({ description: "What was done or attempted: `client.create`, `GET /v1/clients`." }),
    object: Nullable(Type.String(), "The id of the object acted upon; null if there are several, or none."),
    objects: Type.Array(Type.String(), {
      description:
        "The ids of all objects. Entries about a webhook endpoint also have its URL, and after that the new one if it was changed. Those about a destination also have its network and address, as `eip155:1/0x…`. Entries about a client or a person also name what was set: `name:`, `role:`, `state:`, `require_signature:` and `quotas:`, each with its value before as `name_before:`, and `scope_added:` and `scope_removed:`, those about an endpoint `event_added:` and `event_removed:`; `%` and spaces are percent-encoded. One entry can stand for many transactions or orders that a client created or cancelled with one token within half a second; `request_id` and `occurred_at` are those of the first.",
    }),
    outcome: OneOf(outcomes),
    code: Nullable(Type.String(), "The error code of a refusal."),
    reason: Nullable(Type.String(), "The reason that the actor gave, as for `wallet.freeze`."),
    repeated: Type.Integer({
      description:
        "The number of identical attempts, or of objects, that this entry represents. In an entry `audit.dropped`, the number of entries that were not recorded because there were too many at once.",
    }),
    request_id: Nullable(Type.String()),
    address: Nullable(Type.String()),
    hash: Type.String({ description: "Covers this entry and the previous entry's hash, in hex." }),
  },
  { $id: "AuditEntry" },
);
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditPage = Type.Object(
  {
    ...Page(AuditEntry, "").properties,
    removed_to: Nullable(
      Type.Integer(),
      "The number of the last entry that was exported to a file and removed; the list ends after it. Null if there is none.",
    ),
  },
  { $id: "AuditPage" },
);

export const AuditQuery = Type.Object(
  {
    ...PageQuery("audit").properties,
    actor: Type.Optional(
      OneOf(actors, { description: "Only what this kind of actor did.", examples: ["operator"] }),
    ),
    client_id: Type.Optional(
      Type.String({
        maxLength: 64,
        description: "Only what this client did.",
        examples: ["cli_01h455vb4pex5vsknk084sn02q"],
      }),
    ),
    action: Type.Optional(
      Type.String({
        pattern: "^[^,]{1,200}(,[^,]{1,200}){0,31}$",
        description:
          "Only this action: `client.create`, `GET /v1/clients`. With `*` at its end, actions that begin so: `policy.*`. Up to 32, separated by commas, select any of them. A refused request is recorded with its method and path: `policy.replace,PUT /v1/policy` selects both.",
        examples: ["client.create"],
      }),
    ),
    object: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          "Only entries about this object. The cancellation of a transaction or order that was merged with others into one entry is found by client and time only.",
        examples: ["wlt_01h455vb4pex5vsknk084sn02q"],
      }),
    ),
    outcome: Type.Optional(
      OneOf(outcomes, { description: "Only entries with this outcome.", examples: ["refused"] }),
    ),
    request_id: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9._-]{1,128}$",
        description:
          "Only entries of the request with this `X-Request-Id`. An entry that stands for several has the id of the first.",
        examples: ["req_01h455vb4pex5vsknk084sn02q"],
      }),
    ),
    occurred_after: Type.Optional(TimeFilter("Occurred at this time or later.", "2026-11-01T00:00:00Z")),
    occurred_before: Type.Optional(TimeFilter("Occurred before this time.", "2026-12-01T00:00:00Z")),
  },
  { additionalProperties: false },
);

/** A signed statement about a position in the audit log. */
export const AuditCheckpoint = Type.Object(
  {
    tenant_id: Nullable(Type.String(), "Null for the log of requests that belong to no tenant."),
    number: Type.Integer({ description: "The number of the last entry." }),
    hash: Type.String({ description: "The hash of that entry, in hexadecimal." }),
    time: Timestamp(),
    key_id: Type.String({ description: "The master key of the signature." }),
    signature: Type.String({ description: "Ed25519, in base64url." }),
  },
  {
    $id: "AuditCheckpoint",
    description: "Proves later that the audit log was neither cut nor written again.",
  },
);
