import { deprecationKeyword, type ErrorDetail, visibleTextFormats } from "@bursar/protocol";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";

type HttpPart = "body" | "params" | "querystring" | "headers";

const detailsMax = 20;

/** A process that runs several services, as tests do, compiles each schema once. */
const compileBody = createCompiler(false);
const compileRest = createCompiler("array");

/**
 * Compiles a TypeBox schema into a validator. Bodies are validated as they are; the strings of a query, a path or a header are converted
 * to the numbers and booleans of their schema, and a single value to the list of one that its schema asks for.
 */
export function compileValidator(part: { schema: unknown; httpPart?: string }): ValidateFunction {
  return (part.httpPart === "body" ? compileBody : compileRest)(part.schema as object);
}

/** Routes that share a schema share its validator. */
function createCompiler(coerceTypes: false | "array"): (schema: object) => ValidateFunction {
  let ajv: Ajv | undefined;
  const compiled = new WeakMap<object, ValidateFunction>();
  return (schema) => {
    const known = compiled.get(schema);
    if (known !== undefined) return known;
    const validate = compileWhenUsed(() => {
      ajv ??= createAjv(coerceTypes);
      return ajv.compile(withoutNames(schema));
    });
    compiled.set(schema, validate);
    return validate;
  };
}

/** Compiling the schemas of all routes took 0.7 s of CPU, a fifth of a start, and most routes are not called for a while. */
function compileWhenUsed(compile: () => ValidateFunction): ValidateFunction {
  let compiled: ValidateFunction | undefined;
  const validate = (data: unknown) => {
    compiled ??= compile();
    const isValid = compiled(data) as boolean;
    validate.errors = compiled.errors ?? null;
    return isValid;
  };
  validate.errors = null as ValidateFunction["errors"] | null;
  return validate as unknown as ValidateFunction;
}

/** The `$id` of a schema is its name in the documents. Ajv would take it for a definition, and refuse a second use of it. */
function withoutNames(schema: object): object {
  return JSON.parse(JSON.stringify(schema, (key, value) => (key === "$id" ? undefined : value)));
}

function createAjv(coerceTypes: false | "array"): Ajv {
  const ajv = new Ajv({
    coerceTypes,
    removeAdditional: false,
    useDefaults: coerceTypes !== false,
    allErrors: true,
    strict: true,
  });
  addFormats.default(ajv);
  ajv.addVocabulary([deprecationKeyword]);
  const { validate: isTimestamp } = ajv.formats["date-time"] as { validate: (value: string) => boolean };
  ajv.addFormat("date-time", (value) => isTimestamp(value) && isSupportedTime(Date.parse(value)));
  for (const [name, { test }] of Object.entries(visibleTextFormats)) ajv.addFormat(name, test);
  return ajv;
}

const firstTimeMs = Date.parse("0001-01-01T00:00:00Z");
const lastTimeMs = Date.parse("9999-12-31T23:59:59.999Z");

/** A leap second is well-formed, but no `Date`; and years have four digits, starting at 1. */
function isSupportedTime(ms: number): boolean {
  return ms >= firstTimeMs && ms <= lastTimeMs;
}

const partNames: Record<HttpPart, string> = {
  body: "body",
  params: "path",
  querystring: "query",
  headers: "header",
};

/** The contract's `details` for what a validator found: one for each field, and a bounded number. */
export function describeFaults(errors: readonly ErrorObject[], part: string): ErrorDetail[] {
  const base = partNames[part as HttpPart] ?? part;
  const details = new Map<string, ErrorDetail>();
  for (const error of explainUnions(errors)) {
    const detail = describeFault(error, base);
    if (detail !== undefined && !details.has(detail.path)) details.set(detail.path, detail);
    if (details.size === detailsMax) break;
  }
  return [...details.values()];
}

/**
 * Ajv reports the errors of every branch of a union. Of those only the branch that the client most likely meant is kept: the one with
 * the fewest errors, unless the value has the wrong type for it. If no branch stands out, the error of the union itself is kept.
 */
function explainUnions(errors: readonly ErrorObject[]): ErrorObject[] {
  const unions = errors.filter(({ keyword }) => keyword === "anyOf" || keyword === "oneOf");
  const isInside = (error: ErrorObject, union: ErrorObject) =>
    error.schemaPath.startsWith(`${union.schemaPath}/`) && error.instancePath.startsWith(union.instancePath);
  return errors.flatMap((error) => {
    if (unions.some((union) => isInside(error, union))) return [];
    if (!unions.includes(error)) return [error];
    const branches = new Map<string, ErrorObject[]>();
    for (const inner of errors.filter((one) => isInside(one, error))) {
      const branch = inner.schemaPath.slice(error.schemaPath.length + 1).split("/", 1)[0] ?? "";
      branches.set(branch, [...(branches.get(branch) ?? []), inner]);
    }
    return meantBranch(error, [...branches.values()]) ?? [error];
  });
}

function meantBranch(union: ErrorObject, branches: readonly ErrorObject[][]): ErrorObject[] | undefined {
  const typed = branches.filter(
    (branch) => !branch.some((one) => one.keyword === "type" && one.instancePath === union.instancePath),
  );
  const [first, second] = typed.map(explainUnions).sort((one, other) => one.length - other.length);
  return second === undefined || (first ?? []).length < second.length ? first : undefined;
}

const formatReasons: Readonly<Record<string, string>> = {
  "date-time": "must be a time such as 2026-01-31T12:00:00Z",
  "visible-line": visibleTextFormats["visible-line"].reason,
  "visible-text": visibleTextFormats["visible-text"].reason,
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
      return { path, reason: "does not match any of the accepted forms" };
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
    case "maxLength":
    case "minLength":
      return { path, reason: describeLength(error.keyword, Number(params["limit"]), "character") };
    case "maxItems":
    case "minItems":
      return { path, reason: describeLength(error.keyword, Number(params["limit"]), "item") };
    case "pattern":
      return { path, reason: `does not match ${params["pattern"]}` };
    case "format":
      return {
        path,
        reason: formatReasons[String(params["format"])] ?? error.message ?? "has the wrong format",
      };
    default:
      return { path, reason: error.message ?? "is not allowed" };
  }
}

function describeLength(keyword: string, limit: number, unit: string): string {
  const bound = keyword.startsWith("max") ? "at most" : "at least";
  return `must have ${bound} ${limit} ${unit}${limit === 1 ? "" : "s"}`;
}

/** The name of an unknown field comes from the client and can be as long as the body. */
function cut(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}…` : name;
}
