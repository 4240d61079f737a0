import { type Static, Type } from "typebox";

const Digest = Type.String({
  pattern: "^[0-9a-f]{64}$",
  description: "The SHA-256, in hex, of what is approved: where the money goes, and how much of what.",
});

/** The body of `POST /v1/transactions/{id}/approvals`. */
export const DecideApprovalBody = Type.Object(
  {
    decision: Type.Enum(["approve", "reject"]),
    digest: Digest,
    comment: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  },
  { additionalProperties: false },
);
export type DecideApprovalBody = Static<typeof DecideApprovalBody>;

/** What a transaction waits for, and what has been said so far. */
export const ApprovalStatus = Type.Object(
  {
    state: Type.Enum(["pending", "approved", "rejected", "expired"]),
    rule: Type.String(),
    required: Type.Integer(),
    approved: Type.Integer(),
    digest: Digest,
    expires_at: Type.String({ format: "date-time" }),
    decisions: Type.Array(
      Type.Object({
        client_id: Type.String(),
        decision: Type.Enum(["approve", "reject"]),
        comment: Type.Union([Type.String(), Type.Null()]),
        decided_at: Type.String({ format: "date-time" }),
      }),
    ),
  },
  { description: "What it waits for, or has waited for; null where nobody was asked." },
);
export type ApprovalStatus = Static<typeof ApprovalStatus>;
