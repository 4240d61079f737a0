import { Type } from "typebox";

/** Lets a browser, which cannot send `Authorization`, open one stream. */
export const StreamTicket = Type.Object(
  {
    object: Type.Literal("stream_ticket"),
    ticket: Type.String({ description: "Opens one stream: `GET /v1/stream?ticket=…`." }),
    expires_at: Type.String({ format: "date-time", description: "30 seconds after its creation." }),
  },
  { $id: "StreamTicket" },
);

export const StreamQuery = Type.Object(
  {
    ticket: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description: "A ticket of `POST /v1/stream/tickets`, for clients that cannot send `Authorization`.",
        examples: ["Jp2v0sX4Qk8mTz6bWc1yRn3dLh7fGa5eUo9iPq0xVtM"],
      }),
    ),
  },
  { additionalProperties: false },
);
