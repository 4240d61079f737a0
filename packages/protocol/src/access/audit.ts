import { type Static, Type } from "typebox";
import { Page } from "../pagination.js";

const Nullable = Type.Union([Type.String(), Type.Null()]);

export const AuditEntry = Type.Object(
  {
    number: Type.Integer({ description: "Counts the tenant's entries, without gaps." }),
    occurred_at: Type.String({ format: "date-time" }),
    actor: Type.Enum(["client", "operator", "anonymous"]),
    client_id: Nullable,
    token_id: Nullable,
    action: Type.String({ description: "What was done or tried: `client.create`, `GET /v1/clients`." }),
    object: Type.Union([Type.String(), Type.Null()], { description: "What it was done to." }),
    outcome: Type.Enum(["succeeded", "refused"]),
    code: Type.Union([Type.String(), Type.Null()], { description: "Why it was refused." }),
    repeated: Type.Integer({ description: "How many equal attempts this entry stands for." }),
    request_id: Nullable,
    address: Nullable,
    hash: Type.String({ description: "Covers this entry and the hash of the one before; hexadecimal." }),
  },
  { $id: "AuditEntry" },
);
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditPage = Page(AuditEntry, "AuditPage");
