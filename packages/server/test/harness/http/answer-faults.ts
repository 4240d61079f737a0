import { errorCatalog, visibleTextFormats } from "@bursar/protocol";
import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { type ApiDocument, type JsonSchema, listOperations, type Operation } from "./api-document.js";

interface Answer {
  method: string;
  /** Without the query. */
  path: string;
  status: number;
  headers: Headers;
  body: string;
}

/** Says what about an answer is not as the document promises; nothing where all is well. */
export type AnswerFaults = (answer: Answer) => string[];

export function createAnswerFaults(document: ApiDocument): AnswerFaults {
  const operations = listOperations(document).map((operation) => ({
    operation,
    pattern: new RegExp(`^${operation.path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
  }));
  const validatorOf = createValidators(document);
  const isError = validatorOf({ $ref: "#/components/schemas/Error" });

  return (answer) => {
    const { method, path, status, body } = answer;
    const faults = always.filter((name) => !answer.headers.has(name)).map((name) => `has no ${name}`);
    const found = operations.find(
      ({ operation, pattern }) => operation.method === method && pattern.test(path),
    );
    if (found === undefined)
      return status < 400 ? faults : [...faults, ...describe(isError, body), ...wrongStatus(status, body)];
    const { operation } = found;
    const documented = operation.responses[status];
    if (documented === undefined) return [...faults, `has an undocumented status: ${body.slice(0, 500)}`];
    faults.push(...headerFaults(document, answer, documented.headers ?? {}));
    const isCsv = answer.headers.get("content-type")?.startsWith("text/csv") === true;
    if (isCsv && documented.content?.["text/csv"] !== undefined) return faults;
    const schema = documented.content?.["application/json"]?.schema;
    if (schema === undefined || Object.keys(schema).length === 0)
      return body === "" ? faults : [...faults, "has a body where none is documented"];
    return [
      ...faults,
      ...describe(validatorOf(schema), body),
      ...(status >= 400 && !isOAuth(operation) ? undocumentedCode(status, body, documented.description) : []),
    ];
  };
}

const always = ["x-request-id", "bursar-version"];

/** A header that some response documents must be documented wherever it is sent, and sent wherever it is required. */
function headerFaults(document: ApiDocument, { headers }: Answer, documented: object): string[] {
  const names = new Set(Object.keys(documented));
  return Object.entries(document.components.headers).flatMap(([name, { required }]) => {
    // Most responses must not be cached; only the others say for how long they may be.
    if (name === "Cache-Control" || always.includes(name.toLowerCase())) return [];
    if (headers.has(name)) return names.has(name) ? [] : [`has the undocumented header ${name}`];
    return required === true && names.has(name) ? [`lacks the header ${name}`] : [];
  });
}

function isOAuth({ path }: Operation): boolean {
  return path.startsWith("/oauth/");
}

export function createValidators(document: ApiDocument): (schema: JsonSchema) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  for (const [name, { test }] of Object.entries(visibleTextFormats)) ajv.addFormat(name, test);
  ajv.addSchema({ $id: "document", components: closed(document.components) });
  const compiled = new Map<string, ValidateFunction>();
  return (schema) => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
    const known = compiled.get(text);
    if (known !== undefined) return known;
    const validate = ajv.compile(JSON.parse(text));
    compiled.set(text, validate);
    return validate;
  };
}

/** A copy in which objects have only the fields that are documented: clients may not see what nobody wrote down. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== "object" || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, closed(value)]));
  return "properties" in node && !("additionalProperties" in node)
    ? { ...copy, additionalProperties: false }
    : copy;
}

function describe(validate: ValidateFunction, body: string): string[] {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return [`has a body that is not JSON: ${body.slice(0, 200)}`];
  }
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${instancePath} ${message}: ${body.slice(0, 500)}`,
  );
}

function codeOf(body: string): string {
  const { error } = JSON.parse(body) as { error?: { code?: string } };
  return error?.code ?? "";
}

function wrongStatus(status: number, body: string): string[] {
  const code = codeOf(body);
  const entry = Object.hasOwn(errorCatalog, code)
    ? errorCatalog[code as keyof typeof errorCatalog]
    : undefined;
  return entry?.status === status ? [] : [`has the code ${code}, which is not one of ${status}`];
}

/** The document lists a route's codes in the descriptions of its answers. */
function undocumentedCode(status: number, body: string, description: string): string[] {
  const code = codeOf(body);
  const faults = wrongStatus(status, body);
  return description.includes(`\`${code}\``) ? faults : [...faults, `has the undocumented code ${code}`];
}
