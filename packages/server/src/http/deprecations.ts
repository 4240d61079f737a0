import { type Deprecation, deprecationKeyword } from "@bursar/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Refusal } from "./refusal.js";
import type { Route } from "./route.js";

/** A deprecated field and its path: `["body", "source", "wallet_id"]`. */
interface DeprecatedField {
  path: readonly string[];
  deprecation: Deprecation;
}

/** Whether a route, or a field of its requests, is deprecated. */
export function isMarkedDeprecated(route: Route): boolean {
  return route.deprecated !== undefined || findDeprecatedFields(route).length > 0;
}

/**
 * The hooks of a deprecated route, or of one with deprecated fields: responses carry `Deprecation` (RFC 9745), `Sunset` (RFC 8594)
 * and `Link`; after the sunset the response is 410.
 */
export function deprecationHooks(route: Route, now: () => number) {
  const { deprecated } = route;
  const fields = findDeprecatedFields(route);
  type Done = (error?: Error) => void;
  return {
    ...(deprecated === undefined
      ? {}
      : {
          onRequest: (_request: FastifyRequest, reply: FastifyReply, done: Done) =>
            done(markDeprecated(reply, deprecated, "This route", now())),
        }),
    ...(fields.length === 0
      ? {}
      : {
          preHandler: (request: FastifyRequest, reply: FastifyReply, done: Done) => {
            const used = fields.filter(({ path }) => isPresent(request, path));
            const refusals = used.map(({ path, deprecation }) =>
              markDeprecated(reply, deprecation, `The field ${path.join(".")}`, now()),
            );
            done(refusals.find((refusal) => refusal !== undefined));
          },
        }),
  };
}

function markDeprecated(
  reply: FastifyReply,
  deprecation: Deprecation,
  what: string,
  nowMs: number,
): Refusal | undefined {
  reply.headers(headersOf(deprecation));
  if (nowMs < Date.parse(deprecation.sunset)) return undefined;
  return new Refusal("API_VERSION_SUNSET", {
    message: `${what} was shut down on ${deprecation.sunset}. See ${deprecation.link}.`,
  });
}

function headersOf({ since, sunset, link }: Deprecation): Record<string, string> {
  return {
    deprecation: `@${Date.parse(since) / 1000}`,
    sunset: new Date(sunset).toUTCString(),
    link: `<${link}>; rel="deprecation", <${link}>; rel="sunset"`,
  };
}

function findDeprecatedFields({ body, query }: Route): DeprecatedField[] {
  return [...walk(body, ["body"]), ...walk(query, ["query"])];
}

function walk(schema: unknown, path: readonly string[]): DeprecatedField[] {
  const properties = (schema as { properties?: Record<string, object> } | undefined)?.properties ?? {};
  return Object.entries(properties).flatMap(([name, part]) => {
    const deprecation = (part as { [deprecationKeyword]?: Deprecation })[deprecationKeyword];
    const own = deprecation === undefined ? [] : [{ path: [...path, name], deprecation }];
    return [...own, ...walk(part, [...path, name])];
  });
}

function isPresent(request: FastifyRequest, [part = "", ...names]: readonly string[]): boolean {
  let value: unknown = part === "body" ? request.body : request.query;
  for (const name of names) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return false;
    value = (value as Record<string, unknown>)[name];
  }
  return true;
}
