import { type Static, Type } from "typebox";
import { Page } from "../pagination.js";
import { Nullable, Timestamp } from "../values.js";

export const AuditEntry = Type.Object(
  {
    number: Type.Integer({ description: "Numbers the tenant's entries, without gaps." }),
    occurred_at: Timestamp(),
    actor: Type.Enum(["client", "operator", "anonymous"]),
    client_id: Nullable(Type.String()),
    token_id: Nullable(Type.String()),
    action: Type.String({ description: "What was done or attempted: `client.create`, `GET /v1/clients`." }),
    object: Nullable(Type.String(), "The id of the object acted upon."),
    outcome: Type.Enum(["succeeded", "refused"]),
    code: Nullable(Type.String(), "The error code of a refusal."),
    repeated: Type.Integer({ description: "The number of identical attempts that this entry represents." }),
    request_id: Nullable(Type.String()),
    address: Nullable(Type.String()),
    hash: Type.String({ description: "Covers this entry and the previous entry's hash, in hex." }),
  },
  { $id: "AuditEntry" },
);
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditPage = Page(AuditEntry, "AuditPage");
