import { type TSchema, Type } from "typebox";
import { Nullable } from "./values.js";

const pageLimitMax = 200;

/** A cursor of each list, as an example; the service decides what is inside. */
export const exampleCursors = {
  entries: "ZW50cmllczo0NzExLjM",
  audit: "YXVkaXQ6MTA0MQ",
  changeRequests: "Y2hhbmdlLXJlcXVlc3RzOjAxOWQwZjYxLTJhYzAtN2U4Ni05YWE0LWMzYzNlY2FiOGVhMQ",
  clients: "Y2xpZW50czowMTlkMGY2MS0yYWMwLTdlODYtOWFhNC1jM2MzZWNhYjhlYTE",
  deliveries: "d2ViaG9vay1kZWxpdmVyaWVzOjAxOWQwZjYxLTJhYzAtN2U4Ni05YWE0LWMzYzNlY2FiOGVhMQ",
  destinations: "ZGVzdGluYXRpb25zOjAxOWQwZjYxLTJhYzAtN2U4Ni05YWE0LWMzYzNlY2FiOGVhMQ",
  endpoints: "d2ViaG9vay1lbmRwb2ludHM6MDE5ZDBmNjEtMmFjMC03ZTg2LTlhYTQtYzNjM2VjYWI4ZWEx",
  orders: "b3JkZXJzOjAxOWQwZjYxLTJhYzAtN2U4Ni05YWE0LWMzYzNlY2FiOGVhMQ",
  people: "cGVvcGxlOjAxOWQwZjYxLTJhYzAtN2U4Ni05YWE0LWMzYzNlY2FiOGVhMQ",
  policyVersions: "cG9saWN5X3ZlcnNpb25zOjM",
  trades: "dHJhZGVzOjQ3MTE",
  transactions: "dHJhbnNhY3Rpb25zOjAxOWQwZjYxLTJhYzAtN2U4Ni05YWE0LWMzYzNlY2FiOGVhMQ",
  wallets: "d2FsbGV0czowMTlkMGY2MS0yYWMwLTdlODYtOWFhNC1jM2MzZWNhYjhlYTE",
} as const;

const limit = Type.Integer({
  minimum: 1,
  maximum: pageLimitMax,
  default: 50,
  description: "The maximum number of items to return.",
  examples: [20],
});

/** The query of every list: newest first, one page at a time. */
export function PageQuery(list: keyof typeof exampleCursors) {
  return Type.Object(
    {
      limit: Type.Optional(limit),
      cursor: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description: "The `next_cursor` of the previous page.",
          examples: [exampleCursors[list]],
        }),
      ),
    },
    { additionalProperties: false },
  );
}

export function Page<Item extends TSchema>(item: Item, $id: string) {
  return Type.Object(
    {
      data: Type.Array(item),
      next_cursor: Nullable(
        Type.String(),
        "The `cursor` of the next page; null on the last page. A page can have fewer items than `limit`, or none, and not be the last: a page reads a bounded number of rows, and a filter can match few of them.",
      ),
    },
    { $id },
  );
}
