import { type TSchema, Type } from "typebox";

const pageLimitMax = 200;

/** The query of every list: newest first, a page at a time. */
export const PageQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: pageLimitMax,
        default: 50,
        description: "How many items to return.",
      }),
    ),
    cursor: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: "The `next_cursor` of the page before." }),
    ),
  },
  { additionalProperties: false },
);

export function Page<Item extends TSchema>(item: Item, $id: string) {
  return Type.Object(
    {
      data: Type.Array(item),
      next_cursor: Type.Union([Type.String(), Type.Null()], {
        description: "Where the next page begins; null on the last page.",
      }),
    },
    { $id },
  );
}
