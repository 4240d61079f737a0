import { type Static, Type } from "typebox";
import type { ErrorCode } from "./error-catalog.js";

const ErrorDetail = Type.Object(
  {
    path: Type.String({
      description: "The field at fault, such as `body.amount`, `query.limit` or `header.idempotency-key`.",
    }),
    reason: Type.String({ description: "What is wrong with it." }),
    rule: Type.Optional(Type.String({ description: "In a policy document: the name of the rule." })),
    min: Type.Optional(
      Type.String({ description: "The lowest allowed value, if the value is out of a range." }),
    ),
    max: Type.Optional(Type.String({ description: "The highest allowed value." })),
  },
  { $id: "ErrorDetail" },
);
export type ErrorDetail = Static<typeof ErrorDetail>;

export const ErrorBody = Type.Object(
  {
    error: Type.Object({
      code: Type.String({
        pattern: "^[A-Z][A-Z0-9_]*$",
        description: "Machine-readable. New codes may be added; handle an unknown one by its HTTP status.",
      }),
      message: Type.String({ description: "Human-readable. It may change; do not parse it." }),
      request_id: Type.String({ description: "Identifies the request in the service's log." }),
      doc_url: Type.String({
        format: "uri",
        description: "The entry of this code in the error reference, which this service serves.",
      }),
      details: Type.Optional(Type.Array(ErrorDetail, { description: "The fields at fault." })),
    }),
  },
  { $id: "Error", description: "The body of every error response." },
);
export type ErrorBody = Static<typeof ErrorBody>;

export interface ErrorFields {
  code: ErrorCode;
  message: string;
  requestId: string;
  /** The service's own address, which serves the error reference. */
  publicUrl: string;
  details?: readonly ErrorDetail[] | undefined;
}

export function errorBody({ code, message, requestId, publicUrl, details }: ErrorFields): ErrorBody {
  return {
    error: {
      code,
      message,
      request_id: requestId,
      doc_url: `${publicUrl}/docs/reference/errors#${code}`,
      ...(details === undefined ? {} : { details: [...details] }),
    },
  };
}
