import { type TSchema, Type } from "typebox";
import { Nullable } from "./values.js";

const pageLimitMax = 200;

/** The query of every list: newest first, one page at a time. */
export const PageQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: pageLimitMax,
        default: 50,
        description: "The maximum number of items to return.",
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: "The `next_cursor` of the previous page.",
      }),
    ),
  },
  { additionalProperties: false },
);

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
