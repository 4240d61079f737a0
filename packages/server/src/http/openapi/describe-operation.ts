import type { Components } from "@bursar/protocol";
import type { TSchema } from "typebox";
import type { Route } from "../route.js";
import { describeResponses } from "./describe-responses.js";
import type { ExampleReferences } from "./example-references.js";
import { requestHeaders } from "./headers.js";

export interface DocumentParts {
  /** Replaces a schema that has a name by a reference to its component. */
  reference: Components["reference"];
  examples: ExampleReferences;
}

/** An operation of the OpenAPI document, from the route that serves it. Bodies and examples are references to named components. */
export function describeOperation(route: Route, parts: DocumentParts): object {
  const { operationId, tag, summary, description, deprecated, body, access } = route;
  const parameters = describeParameters(route, parts.reference);
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(deprecated === undefined ? {} : { deprecated: true }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: route.isBodyOptional !== true,
            content: {
              [contentTypeOf(route)]: { schema: parts.reference(body), ...parts.examples.ofSchema(body) },
            },
          },
        }),
    responses: describeResponses(route, parts),
    security: describeSecurity(access),
  };
}

/** A list of alternatives, each of which suffices. */
function describeSecurity(access: Route["access"]): object[] {
  if (access === "open") return [];
  if (access === "oauth") return [{ clientSecret: [] }];
  if (typeof access === "string") return [{ oauth2: [access] }];
  return access.length === 0 ? [{ oauth2: [] }] : access.map((scope) => ({ oauth2: [scope] }));
}

function contentTypeOf({ access }: Route): string {
  return access === "oauth" ? "application/x-www-form-urlencoded" : "application/json";
}

function describeParameters(route: Route, reference: Components["reference"]): object[] {
  return [
    ...fieldsOf(route.params, "path", reference),
    ...fieldsOf(route.query, "query", reference),
    ...describeHeaders(route),
  ];
}

interface Field {
  description?: string;
  deprecated?: boolean;
  examples?: readonly unknown[];
}

function fieldsOf(
  schema: TSchema | undefined,
  place: "path" | "query",
  reference: Components["reference"],
): object[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, Field>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, deprecated, examples, ...field }]) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    ...(description === undefined ? {} : { description }),
    ...(deprecated === undefined ? {} : { deprecated }),
    schema: reference(field),
    ...(examples === undefined ? {} : { example: examples[0] }),
  }));
}

function describeHeaders({ idempotent, ifMatch, ifNoneMatch, passkey, prefersWait }: Route): object[] {
  const {
    idempotencyKey,
    passkey: assertion,
    ifMatch: match,
    ifNoneMatch: noneMatch,
    prefer,
  } = requestHeaders;
  const header = (
    required: boolean,
    { name, ...rest }: (typeof requestHeaders)[keyof typeof requestHeaders],
  ) => ({
    name,
    in: "header",
    required,
    ...rest,
  });
  return [
    ...(idempotent === undefined ? [] : [header(idempotent === "required", idempotencyKey)]),
    ...(passkey === undefined ? [] : [header(false, assertion)]),
    ...(ifMatch === undefined ? [] : [header(true, match)]),
    ...(ifNoneMatch === undefined ? [] : [header(false, noneMatch)]),
    ...(prefersWait === undefined ? [] : [header(false, prefer)]),
  ];
}
