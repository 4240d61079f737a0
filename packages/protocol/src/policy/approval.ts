import { type Static, Type } from "typebox";
import { Nullable, Timestamp } from "../values.js";

const Decision = Type.Enum(["approve", "reject"]);
const Digest = Type.String({
  pattern: "^[0-9a-f]{64}$",
  description: "The SHA-256, in hex, of what is approved: asset, amount, source and destination.",
});

/** The body of `POST /v1/transactions/{id}/approvals`. */
export const DecideApprovalBody = Type.Object(
  {
    decision: Decision,
    digest: Digest,
    comment: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  },
  { $id: "DecideApprovalBody", additionalProperties: false },
);
export type DecideApprovalBody = Static<typeof DecideApprovalBody>;

/** The approvals that a transaction requires, and the decisions so far. */
export const ApprovalStatus = Type.Object(
  {
    state: Type.Enum(["pending", "approved", "rejected", "expired", "closed"], {
      description:
        "`closed` means that the transaction was cancelled or expired before the approvers had decided. `expired` means that they did not decide in time.",
    }),
    rule: Type.String({ description: "The policy rule that requires approval." }),
    required: Type.Integer({ description: "The number of approvals required." }),
    approved: Type.Integer({ description: "The number of approvals given." }),
    digest: Digest,
    expires_at: Timestamp(),
    decisions: Type.Array(
      Type.Object({
        client_id: Type.String(),
        decision: Decision,
        comment: Nullable(Type.String()),
        decided_at: Timestamp(),
      }),
    ),
  },
  { $id: "ApprovalStatus" },
);
export type ApprovalStatus = Static<typeof ApprovalStatus>;
