import { type Static, type TSchema, Type } from "typebox";
import { exampleIds } from "../examples/example-ids.js";
import { Page, PageQuery } from "../pagination.js";
import { CreateDestinationBody } from "../policy/destination.js";
import { PolicyDocument } from "../policy/policy-document.js";
import { Nullable, OneOf, PathId, Timestamp } from "../values.js";
import { VisibleText } from "../visible-text.js";
import { allScopes } from "./scopes.js";

const Comment = VisibleText(256);
const Id = Type.String({ minLength: 1, maxLength: 64 });
const closed = { additionalProperties: false };

/**
 * What the service adds to a change when it is requested, because nobody can judge an id. It is approved with the rest, and no request has it.
 */
const Added = <Schema extends TSchema>(schema: Schema) =>
  Type.Optional(Type.Unsafe<Static<Schema>>({ ...schema, description: "Added by the service." }));

/** Of a key or a secret, when its removal is requested. */
const credentialFacts = {
  created_at: Added(Type.String()),
  last_used_at: Added(Nullable(Type.String())),
};

/**
 * The kinds of change, each with the schema of its `change`. To add a kind: add it here, write its executor
 * (`app/change-requests/change-executor.ts` in the server), and list that in `compose/compose-change-requests.ts`.
 */
const changes = {
  "client.change": Type.Object(
    {
      client_id: Id,
      scopes: Type.Optional(
        Type.Array(OneOf(allScopes), {
          uniqueItems: true,
          maxItems: allScopes.length,
        }),
      ),
      scopes_before: Added(Type.Array(OneOf(allScopes))),
      state: Type.Optional(OneOf(["active", "disabled"])),
      require_signature: Type.Optional(Type.Boolean()),
      role: Type.Optional(
        Type.String({
          pattern: "^[a-z][a-z0-9_-]{0,39}$",
          description:
            "The new role of a person. The change request then shows the scopes of the role in `scopes`, which only a program is given without a role.",
        }),
      ),
      cancel: Type.Optional(
        Type.Array(OneOf(["orders", "transactions"]), {
          uniqueItems: true,
          minItems: 1,
          maxItems: 2,
          description: "What to cancel of what the client has requested, if it is disabled.",
        }),
      ),
    },
    { ...closed, minProperties: 2 },
  ),
  "client.key.add": Type.Object(
    {
      client_id: Id,
      public_key: Type.String({
        pattern: "^[A-Za-z0-9_-]{43}$",
        description: "An Ed25519 public key: base64url of the raw 32 bytes.",
      }),
    },
    closed,
  ),
  "client.key.remove": Type.Object(
    { client_id: Id, key_id: Id, public_key: Added(Type.String()), ...credentialFacts },
    closed,
  ),
  "client.secret.remove": Type.Object({ client_id: Id, secret_id: Id, ...credentialFacts }, closed),
  "person.recover": Type.Object(
    { client_id: Id, name: Added(Type.String()), email: Added(Type.String()) },
    closed,
  ),
  "policy.replace": Type.Object(
    {
      expected_version: Type.Integer({
        minimum: 0,
        description: "The version of the policy that is replaced.",
      }),
      document: PolicyDocument,
    },
    closed,
  ),
  "destination.create": CreateDestinationBody,
  "destination.remove": Type.Object(
    {
      destination_id: Id,
      label: Type.Optional(
        Type.String({
          description:
            "The label of the destination. The service adds it, the network and the address when the change is requested, so that they are approved with the id.",
        }),
      ),
      network: Type.Optional(Type.String()),
      address: Type.Optional(Type.String()),
    },
    closed,
  ),
} as const;

export type ChangeKind = keyof typeof changes;
export type ChangeOf<Kind extends ChangeKind> = Static<(typeof changes)[Kind]>;

const kinds = Object.keys(changes) as ChangeKind[];

/** A client that requests a key for itself shows that it has more than an access token. */
const keyVariant = Type.Object(
  {
    kind: Type.Literal("client.key.add"),
    change: changes["client.key.add"],
    comment: Type.Optional(Comment),
    current_secret: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          "A current secret of the caller, if it requests a key for itself and does not sign the request. It is not stored.",
      }),
    ),
  },
  closed,
);

const { scopes_before: _, ...requestedOfClient } = changes["client.change"].properties;
const clientVariant = Type.Object(
  {
    kind: Type.Literal("client.change"),
    change: Type.Object(requestedOfClient, { ...closed, minProperties: 2 }),
    comment: Type.Optional(Comment),
  },
  closed,
);

const variant = <Kind extends ChangeKind>(kind: Kind) =>
  Type.Object({ kind: Type.Literal(kind), change: changes[kind], comment: Type.Optional(Comment) }, closed);

/** The ids alone: what they stand for is what the service has stored. */
const idVariant = <Kind extends ChangeKind, Ids extends Record<string, typeof Id>>(kind: Kind, ids: Ids) =>
  Type.Object(
    { kind: Type.Literal(kind), change: Type.Object(ids, closed), comment: Type.Optional(Comment) },
    closed,
  );

/** The body of `POST /v1/change-requests`. */
export const CreateChangeRequestBody = Type.Union(
  [
    clientVariant,
    keyVariant,
    idVariant("client.key.remove", { client_id: Id, key_id: Id }),
    idVariant("client.secret.remove", { client_id: Id, secret_id: Id }),
    idVariant("person.recover", { client_id: Id }),
    variant("policy.replace"),
    variant("destination.create"),
    idVariant("destination.remove", { destination_id: Id }),
  ],
  { $id: "CreateChangeRequestBody" },
);
export type CreateChangeRequestBody = Static<typeof CreateChangeRequestBody>;

export const changeRequestStates = [
  "pending",
  "scheduled",
  "applied",
  "rejected",
  "expired",
  "cancelled",
  "failed",
] as const;

const Digest = Type.String({
  pattern: "^[0-9a-f]{64}$",
  description:
    "The SHA-256, in hex, of what is approved: the change, its target and the client that requests it.",
});

/** The body of a decision on a change request. */
export const DecideChangeBody = Type.Object(
  { digest: Digest, comment: Type.Optional(Comment) },
  { $id: "DecideChangeBody", additionalProperties: false },
);
export type DecideChangeBody = Static<typeof DecideChangeBody>;

const summaryFields = {
  id: Type.String(),
  object: Type.Literal("change_request"),
  kind: OneOf(kinds),
  target: Type.String({ description: "The id of what would be changed." }),
  state: OneOf(changeRequestStates, {
    description:
      "`scheduled` means that the change is approved and takes effect at `effective_at`. `failed` means that it was approved and could not be applied; `failure_code` has the reason.",
  }),
  version: Type.Integer({ description: "Increases by one with each change." }),
  digest: Digest,
  requested_by: Type.String({ description: "The id of the client that requested the change." }),
  failure_code: Nullable(Type.String(), "The error code of a change request that has failed."),
  created_at: Timestamp(),
  expires_at: Timestamp("A change request that is not approved by then expires."),
};

/** A change request in an event: without the change itself, which can be large. */
export const ChangeRequestSummary = Type.Object(summaryFields, { $id: "ChangeRequestSummary" });
export type ChangeRequestSummary = Static<typeof ChangeRequestSummary>;

export const ChangeRequest = Type.Object(
  {
    ...summaryFields,
    change: Type.Union(
      [
        changes["client.change"],
        changes["client.key.add"],
        changes["client.key.remove"],
        changes["client.secret.remove"],
        changes["person.recover"],
        changes["policy.replace"],
        changes["destination.create"],
        changes["destination.remove"],
      ],
      { description: "The requested change." },
    ),
    comment: Nullable(Type.String()),
    required: Type.Integer({ description: "The number of approvals required." }),
    decisions: Type.Array(
      Type.Object({
        client_id: Type.String(),
        decision: OneOf(["approve", "reject"]),
        comment: Nullable(Type.String()),
        decided_at: Timestamp(),
      }),
    ),
    delay_seconds: Type.Integer({ description: "How long an approved change waits before it takes effect." }),
    effective_at: Nullable(Timestamp(), "When the approved change takes or took effect."),
    updated_at: Timestamp(),
  },
  { $id: "ChangeRequest" },
);
export type ChangeRequest = Static<typeof ChangeRequest>;

export const ChangeRequestPage = Page(ChangeRequest, "ChangeRequestPage");
export const ChangeRequestPath = Type.Object({
  id: PathId("The id of the change request.", exampleIds.changeRequest),
});
export const ChangeRequestQuery = Type.Object(
  {
    ...PageQuery("changeRequests").properties,
    state: Type.Optional(
      OneOf(changeRequestStates, {
        description: "Only change requests in this state.",
        examples: ["pending"],
      }),
    ),
  },
  { additionalProperties: false },
);
