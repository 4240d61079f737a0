import type { ErrorCode } from "@bursar/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";

/**
 * A route, as its row in the API reference: method, path, schemas, errors, and one call to a use case. Routes are values
 * in a list, so that the OpenAPI document, the 405 answers and the tests that try every route are made from them.
 */
export interface Route {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  operationId: string;
  tag: Tag;
  summary: string;
  description?: string;
  body?: TSchema;
  query?: TSchema;
  params?: TSchema;
  headers?: TSchema;
  /** The answer to a request that succeeded. */
  success: { status: number; schema: TSchema; contentType?: string };
  /** Errors that this route adds to those that every route can answer with. */
  errors: readonly ErrorCode[];
  handle: (request: FastifyRequest, reply: FastifyReply) => unknown;
}

type Tag = "Operations";

type Part<S> = S extends TSchema ? Static<S> : unknown;

type TypedRequest<R> = FastifyRequest<{
  Body: R extends { body: infer S } ? Part<S> : undefined;
  Querystring: R extends { query: infer S } ? Part<S> : unknown;
  Params: R extends { params: infer S } ? Part<S> : unknown;
  Headers: R extends { headers: infer S } ? Part<S> : unknown;
}>;

/** Checks a route and gives its handler a request of the types that its schemas describe. */
export function defineRoute<const R extends Omit<Route, "handle">>(
  route: R,
  handle: (request: TypedRequest<R>, reply: FastifyReply) => unknown,
): Route {
  return { ...route, handle: handle as Route["handle"] };
}
