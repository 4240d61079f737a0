// The types of @bursar/client, made from the OpenAPI document and the error catalog.

/** @typedef {{ [key: string]: any }} Schema */

const header = "// Generated from openapi.json by `npm run generate`.\n";

/** The components of the document as TypeScript types. @param {Schema} document */
export function clientSchemas(document) {
  const types = Object.entries(document["components"].schemas).map(
    ([name, schema]) => `${comment(schema, "")}${declaration(name, schema)}`,
  );
  return `${header}\n${types.join("\n\n")}\n`;
}

/** @param {string} name @param {Schema} schema */
function declaration(name, schema) {
  const type = typeOf(schema, "");
  return schema["type"] === "object" && type.startsWith("{")
    ? `export interface ${name} ${type}`
    : `export type ${name} = ${type};`;
}

/** What each operation takes and returns, by its method and path. @param {Schema} document */
export function clientOperations(document) {
  /** @type {string[]} */
  const queries = [];
  const rows = operationsOf(document).map(({ name, operation }) => {
    const query = parametersIn(operation, "query");
    if (query.length > 0) queries.push(`export interface ${queryName(operation)} ${objectOf(query, "")}`);
    return `  /** ${operation["operationId"]} */\n  "${name}": {\n    input: ${inputOf(operation)};\n    result: ${resultOf(operation)};\n  };`;
  });
  return `${header}import type * as S from "./schemas.js";

${queries.join("\n\n")}

export interface Operations {
${rows.join("\n")}
}
`;
}

/** The operations that a person confirms with a passkey. @param {Schema} document */
export function clientPasskeyOperations(document) {
  const rows = operationsOf(document)
    .filter(({ operation }) =>
      parametersIn(operation, "header").some(({ name }) => name === "Bursar-Passkey"),
    )
    .map(({ name, operation }) => `  "${name}": "${operation["operationId"]}",`);
  return `${header}
/** The operations that ask people for their passkey, by method and path, with their ids. */
export const passkeyOperations: Readonly<Record<string, string>> = {
${rows.join("\n")}
};
`;
}

/** What the scopes allow. @param {Schema} document */
export function clientScopes(document) {
  const { scopes } = document["components"].securitySchemes.oauth2.flows.clientCredentials;
  const rows = Object.entries(scopes).map(([scope, words]) => `  "${scope}": ${JSON.stringify(words)},`);
  return `${header}
/** What each scope allows, in words. */
export const scopeDescriptions: Readonly<Record<string, string>> = {
${rows.join("\n")}
};
`;
}

/** The codes of the catalog, and those after which the same request may succeed. @param {Record<string, { retry: string }>} catalog */
export function clientErrorCodes(catalog) {
  const later = Object.keys(catalog).filter((code) => catalog[code]?.retry === "later");
  const list = (/** @type {string[]} */ codes) => codes.map((code) => `  "${code}",`).join("\n");
  const union = Object.keys(catalog).map((code) => `  | "${code}"`);
  return `// Generated from packages/protocol/src/errors by \`npm run generate\`.

/** The codes that the service responds with. New ones may be added. */
export type ServiceErrorCode =
${union.join("\n")};

/** The codes after which the same request may succeed. */
export const transientCodes: readonly string[] = [
${list(later)}
];
`;
}

/** What a person does about each error. @param {Record<string, { advice: string, forPeople?: string }>} catalog */
export function consoleAdvice(catalog) {
  const rows = Object.entries(catalog).map(
    ([code, { advice, forPeople }]) => `  ${code}: ${JSON.stringify(forPeople ?? advice)},`,
  );
  return `// Generated from packages/protocol/src/errors by \`npm run generate\`.

/** What a person does about an error, by its code; the service's sentence says what happened. */
export const adviceOfService: Readonly<Record<string, string>> = {
${rows.join("\n")}
};
`;
}

/** @param {Schema} document @returns {{ name: string, operation: Schema }[]} */
export function operationsOf(document) {
  return Object.entries(document["paths"]).flatMap(([path, methods]) =>
    Object.entries(/** @type {Schema} */ (methods)).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
}

/** @param {Schema} operation @param {string} place @returns {Schema[]} */
function parametersIn(operation, place) {
  return (operation["parameters"] ?? []).filter((/** @type {Schema} */ { in: where }) => where === place);
}

/** @param {Schema} operation */
function queryName(operation) {
  const id = String(operation["operationId"]);
  return `${id[0]?.toUpperCase()}${id.slice(1)}Query`;
}

/** @param {Schema} operation */
function inputOf(operation) {
  const path = parametersIn(operation, "path");
  const query = parametersIn(operation, "query");
  const headers = parametersIn(operation, "header");
  const others = headers.filter(({ name }) => name !== "Idempotency-Key");
  const content = Object.entries(operation["requestBody"]?.content ?? {})[0];
  const parts = [
    ...(path.length > 0 ? [`path: { ${path.map(({ name }) => `${key(name)}: string`).join("; ")} }`] : []),
    ...(query.length > 0 ? [`query?: ${queryName(operation)}`] : []),
    ...(others.length > 0
      ? [
          `headers${others.some(({ required }) => required) ? "" : "?"}: { ${others.map(({ name, required }) => `${key(name)}${required ? "" : "?"}: string`).join("; ")} }`,
        ]
      : []),
    ...(content === undefined ? [] : [bodyOf(operation, content)]),
    ...(headers.length > others.length ? ["keyed: true"] : []),
    ...(needsToken(operation) ? [] : ["anonymous: true"]),
  ];
  return parts.length === 0 ? "object" : `{ ${parts.join("; ")} }`;
}

/** @param {Schema} operation */
function needsToken({ security = [] }) {
  return security.some((/** @type {Schema} */ scheme) => "oauth2" in scheme);
}

/** @param {Schema} operation @param {[string, any]} content */
function bodyOf(operation, [type, { schema }]) {
  const field = type === "application/json" ? "body" : "form";
  return `${field}${operation["requestBody"].required ? "" : "?"}: ${typeOf(schema, "    ", "S.")}`;
}

/** @param {Schema} operation */
function resultOf(operation) {
  const results = Object.entries(operation["responses"]).flatMap(([status, response]) => {
    if (!status.startsWith("2")) return [];
    const schema = /** @type {Schema} */ (response)["content"]?.["application/json"]?.schema;
    return [schema === undefined ? "undefined" : typeOf(schema, "    ", "S.")];
  });
  return [...new Set(results)].join(" | ") || "undefined";
}

/** @param {Schema[]} parameters @param {string} indent */
function objectOf(parameters, indent) {
  const fields = parameters.map(
    ({ name, required, schema, description }) =>
      `${comment({ description }, `${indent}  `)}${indent}  ${key(name)}${required ? "" : "?"}: ${typeOf(schema, `${indent}  `, "S.")};`,
  );
  return `{\n${fields.join("\n")}\n${indent}}`;
}

/** @param {Schema} schema @param {string} indent @param {string} [scope] @returns {string} */
function typeOf(schema, indent, scope = "") {
  if (schema["$ref"] !== undefined) return scope + String(schema["$ref"]).split("/").at(-1);
  if ("const" in schema) return JSON.stringify(schema["const"]);
  if (schema["enum"] !== undefined)
    return schema["enum"].map((/** @type {unknown} */ value) => JSON.stringify(value)).join(" | ");
  if (schema["anyOf"] !== undefined) {
    const members = schema["anyOf"].map((/** @type {Schema} */ member) => typeOf(member, indent, scope));
    return [...new Set(members)].join(" | ");
  }
  switch (schema["type"]) {
    case "string":
    case "boolean":
    case "null":
      return schema["type"];
    case "integer":
    case "number":
      return "number";
    case "array":
      return arrayOf(schema, indent, scope);
    case "object":
      return objectType(schema, indent, scope);
    case undefined:
      return "unknown";
    default:
      throw new Error(`a schema of the unknown type ${schema["type"]}`);
  }
}

/** @param {Schema} schema @param {string} indent @param {string} scope */
function arrayOf({ items = {}, minItems, maxItems }, indent, scope) {
  const item = typeOf(items, indent, scope);
  if (minItems === 2 && maxItems === 2 && items.type === "string") return `[${item}, ${item}]`;
  return /[|{]/.test(item) ? `(${item})[]` : `${item}[]`;
}

/** @param {Schema} schema @param {string} indent @param {string} scope */
function objectType(
  { properties = {}, required = [], additionalProperties, patternProperties },
  indent,
  scope,
) {
  const names = Object.keys(properties);
  const rest = additionalProperties || Object.values(patternProperties ?? {})[0];
  if (names.length === 0)
    return typeof rest === "object"
      ? `{ [name: string]: ${typeOf(rest, indent, scope)} }`
      : rest === true
        ? "{ [name: string]: unknown }"
        : "object";
  const inner = `${indent}  `;
  const fields = names.map(
    (name) =>
      `${comment(properties[name], inner)}${inner}${key(name)}${required.includes(name) ? "" : "?"}: ${typeOf(properties[name], inner, scope)};`,
  );
  return `{\n${fields.join("\n")}\n${indent}}`;
}

/** @param {string} name */
function key(name) {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** @param {Schema} schema @param {string} indent */
function comment({ description }, indent) {
  return description === undefined ? "" : `${indent}/** ${String(description).replaceAll("*/", "*\\/")} */\n`;
}
