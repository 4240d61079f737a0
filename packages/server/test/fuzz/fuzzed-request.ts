import type { JsonSchema, Operation, Parameter } from "../harness/http/api-document.js";
import type { Random } from "../simulation/world/random.js";
import { type ValueOptions, valueOfSchema } from "./value-of-schema.js";

export interface FuzzedRequest {
  method: string;
  /** The path, including the query. */
  target: string;
  headers: Record<string, string>;
  body?: string;
}

export interface FuzzWorld extends Pick<ValueOptions, "resolve" | "known"> {
  operations: readonly Operation[];
  /** Values of `Authorization`; the first is a token with every scope. */
  authorizations: readonly string[];
  /** Ids by the collection in their path. */
  ids: Readonly<Record<string, readonly string[]>>;
}

/** Generates the request of a seed: for one of the routes, valid by its schemas or nearly so. */
export function fuzzedRequest(random: Random, world: FuzzWorld): FuzzedRequest {
  const operation = random.pick(world.operations);
  // Half of the requests are entirely valid by the schema.
  const options = { ...world, random, faultRate: random.chance(0.5) ? 0 : 0.08 };
  const parameters = operation.parameters ?? [];
  const content = Object.entries(operation.requestBody?.content ?? {})[0];
  return {
    method: operation.method,
    target: fillPath(operation.path, world, random) + makeQuery(parameters, options),
    headers: {
      ...makeHeaders(parameters, options),
      ...(content === undefined ? {} : { "content-type": random.chance(0.97) ? content[0] : "text/plain" }),
      ...(operation.security?.length === 0 ? {} : { authorization: authorization(operation, world, random) }),
    },
    ...(content === undefined ? {} : { body: makeBody(content[0], content[1].schema, options) }),
  };
}

function authorization({ path }: Operation, { authorizations }: FuzzWorld, random: Random): string {
  const [full = ""] = authorizations;
  const isOAuth = path.startsWith("/oauth/");
  return random.chance(isOAuth ? 0.5 : 0.9) ? full : random.pick(authorizations);
}

function fillPath(path: string, { ids }: FuzzWorld, random: Random): string {
  return path.replace(/([\w-]+)\/\{\w+\}/g, (_, collection: string) => {
    const known = ids[collection] ?? [];
    const odd = ["x", "..", "%00", "é", "a".repeat(150), "a".repeat(250), "tx_", " "];
    const id = known.length > 0 && random.chance(0.85) ? random.pick(known) : random.pick(odd);
    return `${collection}/${encodeURIComponent(id)}`;
  });
}

function makeQuery(parameters: readonly Parameter[], options: ValueOptions): string {
  const { random, faultRate } = options;
  const query = new URLSearchParams();
  for (const { name, schema, required } of parameters.filter((parameter) => parameter.in === "query")) {
    if (required !== true && !random.chance(0.4)) continue;
    query.append(name, asText(valueOfSchema(schema, options, name)));
    if (random.chance(faultRate)) query.append(name, "again");
  }
  if (random.chance(faultRate)) query.append("unknown", "1");
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

function makeHeaders(
  parameters: readonly Parameter[],
  { random, faultRate }: ValueOptions,
): Record<string, string> {
  const values: Record<string, readonly string[]> = {
    "idempotency-key": [
      "a-key",
      "another-key",
      `"quoted-${random.between(1, 500)}"`,
      `key-${random.between(1, 1e9)}`,
    ],
    "if-match": ['"1"', '"2"', 'W/"1"', "*", "none"],
    prefer: ["wait=0", "wait=x", "respond-async"],
    "if-none-match": ['W/"x"', "*"],
    "x-request-id": ["fuzz", "not safe"],
    "content-encoding": ["identity", "gzip"],
  };
  const needed = new Set(
    parameters.filter((parameter) => parameter.in === "header").map(({ name }) => name.toLowerCase()),
  );
  const headers: Record<string, string> = {};
  for (const [name, choices] of Object.entries(values)) {
    const isThere = needed.has(name) ? !random.chance(faultRate) : random.chance(0.05);
    if (isThere)
      headers[name] = random.chance(faultRate)
        ? random.pick(["", "a b", "a".repeat(300)])
        : random.pick(choices);
  }
  return headers;
}

function makeBody(type: string, schema: JsonSchema, options: ValueOptions): string {
  const { random, faultRate } = options;
  const value = valueOfSchema(schema, options);
  const text = type === "application/json" ? JSON.stringify(value) : formOf(value);
  if (!random.chance(faultRate)) return text;
  const at = random.between(0, text.length);
  return text.slice(0, at) + random.pick(["", "{", '"', ",", "\0", "\ud800", "1"]) + text.slice(at + 1);
}

function formOf(value: unknown): string {
  const fields = Object.entries((value ?? {}) as object).map(([name, part]): [string, string] => [
    name,
    asText(part),
  ]);
  return new URLSearchParams(fields).toString();
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
