import { type Static, Type } from "typebox";
import { Nullable, OneOf } from "../values.js";

export const SearchQuery = Type.Object(
  {
    q: Type.String({
      minLength: 1,
      maxLength: 255,
      description: "An id, an idempotency key, a request id, an address, or the beginning of a reference.",
      examples: ["invoice-20"],
    }),
  },
  { additionalProperties: false },
);

const SearchHit = Type.Object(
  {
    object: OneOf(
      [
        "transaction",
        "wallet",
        "order",
        "client",
        "change_request",
        "destination",
        "webhook_endpoint",
        "webhook_delivery",
        "audit_entry",
      ],
      { description: "What it is." },
    ),
    id: Type.String({
      description:
        "Its id; the number of an audit entry, which is found here before its place in the chain is verified.",
    }),
    match: OneOf(["id", "idempotency_key", "request_id", "address", "hash", "reference"], {
      description: "What the string was found in.",
    }),
    label: Nullable(
      Type.String(),
      "What it is called: a reference, name, label, URL, address, kind or action. Null if it has none.",
    ),
  },
  { $id: "SearchHit" },
);

export const SearchResult = Type.Object(
  { data: Type.Array(SearchHit, { maxItems: 20 }) },
  { $id: "SearchResult" },
);
export type SearchResult = Static<typeof SearchResult>;
