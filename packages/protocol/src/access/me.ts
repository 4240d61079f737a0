import { type Static, Type } from "typebox";
import { OneOf, Timestamp } from "../values.js";
import { ClientQuotas } from "./quota.js";
import { allScopes } from "./scopes.js";

const Scopes = Type.Array(OneOf(allScopes));

/** The response of `GET /v1/me`. */
export const Me = Type.Object(
  {
    object: Type.Literal("me"),
    client: Type.Object({
      id: Type.String(),
      name: Type.String(),
      scopes: Scopes,
      require_signature: Type.Boolean(),
      authority_changed_at: Timestamp(
        "Approvals by this client do not count for transactions that were requested before this time.",
      ),
    }),
    tenant: Type.Object({
      id: Type.String(),
      name: Type.String(),
      single_administrator: Type.Boolean({
        description:
          "Whether the operator has turned off protected clients and the independence of approvers for this tenant.",
      }),
    }),
    token: Type.Object({
      id: Type.String(),
      scopes: Scopes,
      issued_at: Timestamp(),
      expires_at: Timestamp(),
    }),
    quotas: ClientQuotas,
  },
  { $id: "Me", description: "The client that the access token belongs to." },
);
export type Me = Static<typeof Me>;
