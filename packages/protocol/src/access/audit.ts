import { type Static, Type } from "typebox";
import { Page, PageQuery } from "../pagination.js";
import { Nullable, OneOf, Timestamp } from "../values.js";

export const AuditEntry = Type.Object(
  {
    number: Type.Integer({ description: "Numbers the tenant's entries, without gaps." }),
    occurred_at: Timestamp(),
    actor: OneOf(["client", "operator", "anonymous", "service"], {
      description: "`service`: Bursar itself, such as for `audit.dropped`.",
    }),
    client_id: Nullable(Type.String()),
    token_id: Nullable(Type.String()),
    action: Type.String({ description: "What was done or attempted: `client.create`, `GET /v1/clients`." }),
    object: Nullable(Type.String(), "The id of the object acted upon; null if there are several, or none."),
    objects: Type.Array(Type.String(), {
      description:
        "The ids of all objects. Entries about a webhook endpoint also have its URL, and after that the new one if it was changed. One entry can stand for many transactions or orders that a client created or cancelled with one token within half a second; `request_id` and `occurred_at` are those of the first.",
    }),
    outcome: OneOf(["succeeded", "refused"]),
    code: Nullable(Type.String(), "The error code of a refusal."),
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

export const AuditQuery = PageQuery("audit");

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
