import { createContext, Script } from "node:vm";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { isObject } from "../http/reply.js";
import type { Document } from "./find-document.js";

/** What is wrong with a value, in words; undefined if it matches the schema. */
export type SchemaValidator = (schema: unknown, value: unknown) => string | undefined;

/** The schema itself is at fault: it cannot be compiled, or not be evaluated in time. */
export class SchemaFault extends Error {
  override readonly name = "SchemaFault";
}

const evaluationMs = 2000;
const call = new Script("act()");
const faultsMax = 3;

/**
 * Validates values against schemas of a document. The document is the target's, so its patterns can be as slow as it likes: both compiling
 * and evaluating have a time limit.
 */
export function createSchemaValidator(document: Document): SchemaValidator {
  const text = JSON.stringify(document);
  const validator = validators.get(text) ?? createValidator(document);
  if (validators.size >= validatorsMax) validators.clear();
  validators.set(text, validator);
  return validator;
}

/** A process that runs the kit often compiles a document once: it was a tenth of the time of the fault matrix. */
const validators = new Map<string, SchemaValidator>();
const validatorsMax = 4;

function createValidator(document: Document): SchemaValidator {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true, logger: false });
  addFormats.default(ajv);
  const box: { act?: () => unknown } = {};
  const context = createContext(box);
  const withinTime = <T>(act: () => T): T => {
    box.act = act;
    try {
      return call.runInContext(context, { timeout: evaluationMs }) as T;
    } catch (error) {
      throw new SchemaFault(describeError(error), { cause: error });
    }
  };
  const isOld = String(document["openapi"] ?? "").startsWith("3.0");
  let hasDocument = false;
  const compiled = new Map<string, ValidateFunction>();
  const compile = (schema: unknown): ValidateFunction => {
    const text = JSON.stringify(isOld ? modernise(schema) : schema);
    const known = compiled.get(text);
    if (known !== undefined) return known;
    const validate = withinTime(() => {
      if (!hasDocument)
        ajv.addSchema({ ...(isOld ? (modernise(document) as object) : document), $id: "document" });
      hasDocument = true;
      return ajv.compile(JSON.parse(text.replaceAll('"$ref":"#/', '"$ref":"document#/')) as object);
    });
    compiled.set(text, validate);
    return validate;
  };
  return (schema, value) => {
    const validate = compile(schema);
    // It would answer with a promise, which is neither valid nor a fault.
    if ("$async" in validate) throw new SchemaFault("it has $async, which JSON Schema does not know");
    if (withinTime(() => validate(value))) return undefined;
    return (validate.errors ?? [])
      .slice(0, faultsMax)
      .map(({ instancePath, message }) => `${instancePath || "the body"} ${message}`)
      .join("; ");
  };
}

function describeError(error: unknown): string {
  const isTimeout = isObject(error) && error["code"] === "ERR_SCRIPT_EXECUTION_TIMEOUT";
  if (isTimeout) return `it could not be evaluated within ${evaluationMs} ms`;
  return String((error as { message?: unknown } | null)?.message ?? error).slice(0, 300);
}

/** OpenAPI 3.0 says `nullable`, and `exclusiveMinimum: true`, where JSON Schema has a type and a number. */
function modernise(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(modernise);
  if (!isObject(node)) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, modernise(value)]));
  for (const [flag, bound] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (typeof copy[flag] !== "boolean") continue;
    if (copy[flag] === true) copy[flag] = copy[bound];
    else delete copy[flag];
  }
  if (copy["nullable"] !== true) return copy;
  delete copy["nullable"];
  return { anyOf: [copy, { type: "null" }] };
}
