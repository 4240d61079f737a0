import { deprecationKeyword, type ErrorDetail } from "@bursar/protocol";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";

type HttpPart = "body" | "params" | "querystring" | "headers";

const detailsMax = 20;

/**
 * Compiles TypeBox schemas into validators. Bodies are taken as they are; the texts of a query, a path or a header become the
 * numbers and booleans that their schema asks for.
 */
export function createValidatorCompiler() {
  const strict = createAjv(false);
  const coercing = createAjv(true);
  return ({ schema, httpPart }: { schema: unknown; httpPart?: string }): ValidateFunction =>
    (httpPart === "body" ? strict : coercing).compile(schema as object);
}

function createAjv(coerceTypes: boolean): Ajv {
  const ajv = new Ajv({
    coerceTypes,
    removeAdditional: false,
    useDefaults: coerceTypes,
    allErrors: true,
    strict: true,
  });
  addFormats.default(ajv);
  ajv.addVocabulary([deprecationKeyword]);
  const { validate: hasFormOfTime } = ajv.formats["date-time"] as { validate: (text: string) => boolean };
  ajv.addFormat("date-time", (text) => hasFormOfTime(text) && isKnownTime(Date.parse(text)));
  return ajv;
}

const firstTimeMs = Date.parse("0001-01-01T00:00:00Z");
const lastTimeMs = Date.parse("9999-12-31T23:59:59.999Z");

/** A leap second has the form of a time, and is none that a clock of ours can show; and years have four digits, from 1 on. */
function isKnownTime(ms: number): boolean {
  return ms >= firstTimeMs && ms <= lastTimeMs;
}

const partNames: Record<HttpPart, string> = {
  body: "body",
  params: "path",
  querystring: "query",
  headers: "header",
};

/** The contract's `details` for what a validator found, most useful first and never endless. */
export function describeFaults(errors: readonly ErrorObject[], part: string): ErrorDetail[] {
  const base = partNames[part as HttpPart] ?? part;
  const details = new Map<string, ErrorDetail>();
  for (const error of errors) {
    const detail = describeFault(error, base);
    if (detail !== undefined && !details.has(detail.path)) details.set(detail.path, detail);
    if (details.size === detailsMax) break;
  }
  return [...details.values()];
}

const formatReasons: Readonly<Record<string, string>> = {
  "date-time": "must be a time such as 2026-01-31T12:00:00Z",
};

function describeFault(error: ErrorObject, base: string): ErrorDetail | undefined {
  const path = base + error.instancePath.replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case "required":
      return { path: `${path}.${params["missingProperty"]}`, reason: "is required" };
    case "additionalProperties":
    case "unevaluatedProperties":
      return {
        path: `${path}.${cut(String(params["additionalProperty"] ?? params["unevaluatedProperty"]))}`,
        reason: "is not a known field",
      };
    case "enum":
      return { path, reason: `must be one of ${(params["allowedValues"] as unknown[]).join(", ")}` };
    case "const":
      return { path, reason: `must be ${JSON.stringify(params["allowedValue"])}` };
    case "anyOf":
    case "oneOf":
      return { path, reason: "has none of the allowed forms" };
    case "if":
      return undefined;
    case "type":
      return params["type"] === "object"
        ? { path, reason: "must be a JSON object" }
        : { path, reason: error.message ?? "has the wrong type" };
    case "minProperties":
      return { path, reason: "must have at least one field" };
    case "maximum":
    case "minimum":
      return {
        path,
        reason: `must be ${error.keyword === "maximum" ? "at most" : "at least"} ${params["limit"]}`,
      };
    case "pattern":
      return { path, reason: `has not the form ${params["pattern"]}` };
    case "format":
      return {
        path,
        reason: formatReasons[String(params["format"])] ?? error.message ?? "has the wrong form",
      };
    default:
      return { path, reason: error.message ?? "is not allowed" };
  }
}

/** Names of unknown fields are the client's own text and can be as long as the body. */
function cut(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}…` : name;
}
