import { approvalFaults } from "@bursar/domain";
import { type Static, Type } from "typebox";
import { Nullable, OneOf, Timestamp } from "../values.js";
import { VisibleText } from "../visible-text.js";

const Decision = OneOf(["approve", "reject"]);
const Digest = Type.String({
  pattern: "^[0-9a-f]{64}$",
  description:
    "The SHA-256, in hex, of what is approved: asset, amount, decimals, source, destination and initiator. The policy guide has the exact text.",
});

/** The body of `POST /v1/transactions/{id}/approvals`. */
export const DecideApprovalBody = Type.Object(
  {
    decision: Decision,
    digest: Digest,
    comment: Type.Optional(VisibleText(256)),
  },
  { $id: "DecideApprovalBody", additionalProperties: false },
);
export type DecideApprovalBody = Static<typeof DecideApprovalBody>;

/** The approvals that a transaction requires, and the decisions so far. */
export const ApprovalStatus = Type.Object(
  {
    state: OneOf(["pending", "approved", "rejected", "expired", "closed"], {
      description:
        "`closed` means that the transaction was cancelled, failed, expired, or was rejected by a later policy before the approvers had decided. `expired` means that they did not decide in time.",
    }),
    rule: Type.String({ description: "The policy rule that requires approval." }),
    required: Type.Integer({ description: "The number of approvals required." }),
    approved: Type.Integer({
      description:
        "The number of clients whose approval is recorded. One that was disabled or changed since, or is not independent, is among them and does not count, so a transaction can wait with as many as are required: `GET /v1/transactions/{id}/approvals/tally` counts.",
    }),
    digest: Digest,
    expires_at: Timestamp(),
    signed: Type.Boolean({
      description: "Whether an approval must be signed with an Ed25519 key or a passkey.",
    }),
    people: Type.Boolean({ description: "Whether only people can approve." }),
    wallets: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }), {
      description:
        "The wallets that `digest` covers, with their names, for approvers without `wallets:read`.",
    }),
    decisions: Type.Array(
      Type.Object({
        client_id: Type.String(),
        decision: Decision,
        comment: Nullable(Type.String()),
        decided_at: Timestamp(),
        signed: Type.Boolean({ description: "Whether a verified signature is stored with it." }),
      }),
    ),
  },
  { $id: "ApprovalStatus" },
);
export type ApprovalStatus = Static<typeof ApprovalStatus>;

/** The answer of `GET /v1/transactions/{id}/approvals/tally`. */
export const ApprovalTally = Type.Object(
  {
    object: Type.Literal("approval_tally"),
    transaction_id: Type.String(),
    state: OneOf(["pending", "approved", "rejected", "expired"], {
      description:
        "What the decisions amount to now. `rejected` also if the policy in force rejects the transaction, or if the address was removed from the allow-list since: then it is not paid, whatever is decided.",
    }),
    required: Type.Integer({
      description:
        "The number of approvals required now: of the rule that judged the transaction and the policy in force, the larger.",
    }),
    counted: Type.Integer({ description: "The number of approvals that count now." }),
    held: Type.Boolean({
      description:
        "Whether the transaction waits whatever is decided, because its client is disabled or its tenant suspended.",
    }),
    decisions: Type.Array(
      Type.Object({
        client_id: Type.String(),
        decision: Decision,
        decided_at: Timestamp(),
        counts: Type.Boolean(),
        reason: Nullable(
          OneOf([...approvalFaults], {
            description:
              "Why it does not count; null if it does. `not_an_approver`: the rule, or the policy in force, does not name the client. `not_recorded`: the service has not recorded it for this transaction. `not_a_person`: the client is a program, or a person as whom a program could act. `changed_since`: the client was changed after the transaction was requested. `initiator_reset`: the operator reset the client that requested it shortly before. `shared_key`, `shared_lineage`: the client is not independent of the one that requested it. `counted_with_another`: it is not independent of an approval that counts.",
          }),
        ),
      }),
    ),
  },
  { $id: "ApprovalTally" },
);
export type ApprovalTally = Static<typeof ApprovalTally>;

/** The signature of an approval, as evidence that can be verified later. */
const ApprovalSignature = Type.Object(
  {
    key_id: Type.String(),
    algorithm: OneOf(["ed25519", "hmac-sha256", "passkey"]),
    public_key: Nullable(
      Type.String({
        description:
          "The raw Ed25519 key, or the COSE key of a passkey, at the time of the decision, in base64url; null for a shared secret.",
      }),
    ),
    signature_input: Type.String({
      description:
        "The `Signature-Input` of the request, with its label; for a passkey, the lines that the challenge is the SHA-256 of.",
    }),
    signature: Type.String({
      description:
        "The `Signature` of the request, with its label; for a passkey, the signature of the assertion, in base64url.",
    }),
    body: Type.String({ description: "The body of the request, as it was received." }),
    base: Nullable(
      Type.String({
        description:
          "The signature base (RFC 9421, section 2.5); for a passkey, JSON with `client_data` and `authenticator_data`. It contains the access token of the request, so it is null until `base_available_at`, when the token has expired.",
      }),
    ),
    base_available_at: Timestamp(),
  },
  { $id: "ApprovalSignature" },
);

/** A decision with everything that is needed to verify it. */
export const ApprovalRecord = Type.Object(
  {
    object: Type.Literal("approval"),
    client_id: Type.String(),
    decision: Decision,
    digest: Nullable(
      Type.String({
        pattern: "^[0-9a-f]{64}$",
        description:
          "The digest that the client sent. An approval counts only for a transaction with this digest. Null for an approval from before digests were stored, which does not count.",
      }),
    ),
    comment: Nullable(Type.String()),
    decided_at: Timestamp(),
    signature: Nullable(ApprovalSignature),
  },
  { $id: "ApprovalRecord" },
);
export type ApprovalRecord = Static<typeof ApprovalRecord>;

/** The answer of `GET /v1/transactions/{id}/approvals`. */
export const ApprovalRecords = Type.Object(
  {
    digest: Digest,
    content: Type.String({ description: "The canonical JSON that `digest` is the SHA-256 of." }),
    data: Type.Array(ApprovalRecord),
  },
  { $id: "ApprovalRecords" },
);
export type ApprovalRecords = Static<typeof ApprovalRecords>;
