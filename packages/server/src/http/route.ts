import type { Deprecation, ErrorCode, Scope } from "@bursar/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import type { ConfirmedAct } from "../app/people/step-up.js";

/** A response to a successful request. */
interface Answer {
  status: number;
  schema: TSchema;
  /** What the response means. */
  description: string;
  /** The headers that it has in addition to those of every route of its kind. */
  headers?: readonly ("Cache-Control" | "ETag" | "Location" | "Next-Cursor" | "Retry-After")[];
  /** What it is as text/csv, if a reader may ask for that by `Accept`. */
  csv?: TSchema;
  /** Which of the examples of its schema it shows, by the names of their variants; all of them if left out. */
  examples?: readonly string[];
}

/**
 * A route, like its row in the API reference: method, path, required scope, schemas, errors, and one call to a use case. Routes are
 * values in a list, from which the OpenAPI document, the 405 responses and the tests of every route are derived.
 */
export interface Route {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  /**
   * The scope that a token must have, or a list of which it must have one; an empty list admits every valid token. `open` to
   * unauthenticated callers; `oauth` for endpoints where a client authenticates.
   */
  access: Scope | readonly Scope[] | "open" | "oauth";
  operationId: string;
  tag: Tag;
  summary: string;
  /** Marks the route as deprecated, in its responses and in the OpenAPI document. */
  deprecated?: Deprecation;
  description?: string;
  body?: TSchema;
  /** Whether the body can be left out, which is the same as an empty object. */
  isBodyOptional?: true;
  query?: TSchema;
  params?: TSchema;
  /** The schema that the body is validated by, if a use case validates it more closely; `body` is the documented one. */
  checkedBody?: TSchema;
  /** The maximum size of the body, if it differs from the default. */
  bodyBytesMax?: number;
  /** Whether every request is heavy, whatever the size of its body. Only with `bodyBytesMax`. */
  isAlwaysHeavy?: true;
  /** The number of items in a valid body, for which the quota is charged. What an item costs can depend on the policy of the tenant. */
  itemsOf?: (body: unknown, tenantId: string) => number;
  /** How many rows of a page cost one more token of the quota, if its rows are more expensive than their size. */
  rowsPerToken?: number;
  /**
   * Whether its requests are served without taking turns with others of the tenant, because they need no connection to the database of
   * their own: they are served from memory, written together with others, or wait for something.
   */
  takesNoTurns?: true;
  /** Whether its requests wait for a host that a client has named: they take turns of their own. */
  callsOut?: true;
  /**
   * Whether its requests, or those with such a valid body, stop something: a payment, a wallet, a client, a credential, a change. What other
   * clients of the tenant do, and what it has used of its quota, must not keep them from being served. `perhaps` if only what is stored
   * says so: such requests take turns with all others, but need no quota of the tenant.
   */
  isStop?: true | "perhaps" | ((body: unknown) => boolean);
  /** Whether a stream ticket is accepted in place of a token. */
  takesTickets?: true;
  /** Whether the route honours `Idempotency-Key`, or requires it. */
  idempotent?: "honoured" | "required";
  /**
   * Whether a person has to confirm the request with a passkey: its operation, path and body, or what this function says. Programs are
   * not asked.
   */
  passkey?: true | ((request: FastifyRequest) => ConfirmedAct);
  /** Whether a writer must name the version that it has read. */
  ifMatch?: "required";
  /** Whether a reader may name the version that it has by `If-None-Match`, and gets 304 if it is current. */
  ifNoneMatch?: true;
  /** Whether a reader may ask by `Prefer: wait` to get the response when something has changed. */
  prefersWait?: true;
  /** The response to a successful request. */
  success: Answer;
  /** The other response to a successful request, if it can have two: a change that waits for approval. */
  orElse?: Answer;
  /** Errors in addition to those of every route of its kind. */
  errors: readonly ErrorCode[];
  handle: (request: FastifyRequest, reply: FastifyReply) => unknown;
}

/** The tags of the API reference, each with the page of the documentation that explains it. */
export const tagDescriptions = {
  Transactions: { description: "Payments, made exactly once.", page: "guides/transactions" },
  Wallets: { description: "Wallets and their balances.", page: "guides/transactions" },
  Markets: { description: "Order books, orders and trades.", page: "guides/order-book" },
  Policy: {
    description: "Which payments are allowed, and who must approve them.",
    page: "guides/policy",
  },
  Events: { description: "The event log and the live stream.", page: "guides/stream" },
  Webhooks: { description: "Notifications of events.", page: "guides/receiving-webhooks" },
  Tokens: { description: "Access tokens: OAuth 2.0 client credentials.", page: "guides/tokens" },
  Clients: { description: "The API clients of a tenant.", page: "guides/authority" },
  People: { description: "The people of a tenant, and their roles.", page: "guides/people" },
  Sessions: { description: "How people log in, and their sessions.", page: "guides/people" },
  "Change requests": {
    description: "Changes that another client must approve.",
    page: "guides/authority",
  },
  Overview: {
    description: "What there is and what has happened: search and statements.",
    page: "guides/overview",
  },
  System: { description: "How the service is doing.", page: "guides/overview" },
  Audit: { description: "The audit log.", page: "operating/audit" },
  Operations: { description: "Whether the service is alive and ready.", page: "guides/running" },
} as const;

type Tag = keyof typeof tagDescriptions;

type Part<S> = S extends TSchema ? Static<S> : unknown;

type TypedRequest<R> = FastifyRequest<{
  Body: R extends { body: infer S } ? Part<S> : undefined;
  Querystring: R extends { query: infer S } ? Part<S> : unknown;
  Params: R extends { params: infer S } ? Part<S> : unknown;
}>;

/** The body of a successful response; nothing, or the reply, if the handler has sent it. */
type TypedResponse<R> = R extends { success: { schema: infer S } }
  ? Part<S> | (R extends { orElse: { schema: infer O } } ? Part<O> : never) | FastifyReply | undefined
  : never;

/** Checks a route, and types the request and the response of its handler by its schemas. */
export function defineRoute<const R extends Omit<Route, "handle">>(
  route: R,
  handle: (request: TypedRequest<R>, reply: FastifyReply) => TypedResponse<R> | Promise<TypedResponse<R>>,
): Route {
  return { ...route, handle: handle as Route["handle"] };
}
