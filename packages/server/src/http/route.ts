import type { Deprecation, ErrorCode, Scope } from "@bursar/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";

/**
 * A route, as its row in the API reference: method, path, who may call it, schemas, errors, and one call to a use case. Routes
 * are values in a list, so that the OpenAPI document, the 405 answers and the tests that try every route are made from them.
 */
export interface Route {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  /** The scope that a caller's token must hold; `open` to everybody; `oauth` for endpoints where a client proves itself. */
  access: Scope | "open" | "oauth";
  operationId: string;
  tag: Tag;
  summary: string;
  /** Says that the route will go, and when; its answers and the OpenAPI document tell it. */
  deprecated?: Deprecation;
  description?: string;
  body?: TSchema;
  query?: TSchema;
  params?: TSchema;
  /** The body as the edge checks it, where a use case checks it closer and has more to say; `body` is what it shall be. */
  checkedBody?: TSchema;
  /** The largest body, where it is not that of every other route. */
  bodyBytesMax?: number;
  /** Whether a stream's ticket lets in, too. */
  takesTickets?: true;
  /** Whether the route honours `Idempotency-Key`, or even needs it. */
  idempotent?: "honoured" | "required";
  /** Whether a writer must say which version it has seen. */
  ifMatch?: "required";
  /** Whether a reader may say what it has by `If-None-Match`, and is then told that nothing has changed. */
  ifNoneMatch?: true;
  /** The answer to a request that succeeded. */
  success: { status: number; schema: TSchema };
  /** Errors that this route adds to those that every route of its kind can answer with. */
  errors: readonly ErrorCode[];
  handle: (request: FastifyRequest, reply: FastifyReply) => unknown;
}

export const tagDescriptions = {
  Transactions: "Money that moves, exactly once.",
  Wallets: "Where money is.",
  Markets: "Order books, orders and trades.",
  Policy: "What may be paid, and who must agree.",
  Events: "What has happened, in order.",
  Webhooks: "Being told of what has happened.",
  Tokens: "Access tokens: OAuth 2.0 client credentials.",
  Clients: "The programs that may act for a tenant.",
  Audit: "Who did what.",
  Operations: "Whether the service is alive and ready.",
} as const;

type Tag = keyof typeof tagDescriptions;

type Part<S> = S extends TSchema ? Static<S> : unknown;

type TypedRequest<R> = FastifyRequest<{
  Body: R extends { body: infer S } ? Part<S> : undefined;
  Querystring: R extends { query: infer S } ? Part<S> : unknown;
  Params: R extends { params: infer S } ? Part<S> : unknown;
}>;

/** Checks a route and gives its handler a request of the types that its schemas describe. */
export function defineRoute<const R extends Omit<Route, "handle">>(
  route: R,
  handle: (request: TypedRequest<R>, reply: FastifyReply) => unknown,
): Route {
  return { ...route, handle: handle as Route["handle"] };
}
