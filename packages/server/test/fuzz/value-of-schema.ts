import type { JsonSchema } from "../harness/http/api-document.js";
import type { Random } from "../simulation/world/random.js";

export interface ValueOptions {
  random: Random;
  /** Resolves a `$ref` of the document. */
  resolve: (reference: string) => JsonSchema;
  /** Values that exist in the service, by the name of their field. */
  known: Readonly<Record<string, readonly unknown[]>>;
  /** The probability that a value violates its schema. */
  faultRate: number;
}

const strangeTexts = [
  "",
  " ",
  "a",
  "é😀",
  "null",
  "-1",
  "../..",
  "%00",
  "'; --",
  "a".repeat(300),
  "\u202e",
  "1e5",
];
const strangeValues = [null, true, false, 0, -1, 1.5, 1e21, 2 ** 53, [], {}, [[]], { a: 1 }, ...strangeTexts];

/** Generates a value that matches the schema or, with the given probability, nearly matches it. */
export function valueOfSchema(schema: JsonSchema, options: ValueOptions, name = ""): unknown {
  const { random, known, faultRate, resolve } = options;
  if (random.chance(faultRate)) return random.pick(strangeValues);
  if (typeof schema["$ref"] === "string") return valueOfSchema(resolve(schema["$ref"]), options, name);
  const choices = (schema["anyOf"] ?? schema["oneOf"]) as JsonSchema[] | undefined;
  if (choices !== undefined) return valueOfSchema(random.pick(choices), options, name);
  if (Array.isArray(schema["enum"])) return random.pick(schema["enum"]);
  const meaningful = known[name];
  if (meaningful !== undefined && meaningful.length > 0 && random.chance(0.8)) return random.pick(meaningful);
  switch (schema["type"]) {
    case "object":
      return objectOfSchema(schema, options);
    case "array":
      return listOfSchema(schema, options, name);
    case "integer":
    case "number":
      return numberOfSchema(schema, random);
    case "boolean":
      return random.chance(0.5);
    case "null":
      return null;
    case "string":
      return textOfSchema(schema, random);
    default:
      return random.pick(strangeValues);
  }
}

function objectOfSchema(schema: JsonSchema, options: ValueOptions): unknown {
  const { random, faultRate } = options;
  const required = new Set((schema["required"] ?? []) as string[]);
  const value: Record<string, unknown> = {};
  for (const [name, part] of Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>)) {
    const isThere = required.has(name) ? !random.chance(faultRate) : random.chance(0.4);
    if (isThere) value[name] = valueOfSchema(part, options, name);
  }
  const others = schema["additionalProperties"];
  if (typeof others === "object" && others !== null) {
    for (let count = random.between(0, 3); count > 0; count--)
      value[random.pick(["a", "b-c", "with space", "é"])] = valueOfSchema(others as JsonSchema, options);
  }
  if (random.chance(faultRate))
    value[random.pick(["unknown", "toString", "id", ""])] = random.pick(strangeValues);
  return value;
}

function listOfSchema(schema: JsonSchema, options: ValueOptions, name: string): unknown[] {
  const min = Number(schema["minItems"] ?? 0);
  const max = Math.min(Number(schema["maxItems"] ?? 3), min + 3);
  const items = (schema["items"] ?? {}) as JsonSchema;
  return Array.from({ length: options.random.between(min, max) }, () => valueOfSchema(items, options, name));
}

function numberOfSchema(schema: JsonSchema, random: Random): number {
  const min = Number(schema["minimum"] ?? 0);
  const max = Number(schema["maximum"] ?? min + 1000);
  return random.chance(0.2) ? random.pick([min, max]) : random.between(min, Math.min(max, min + 1000));
}

const textsOfPattern: Record<string, string> = {
  "^[0-9a-f]{64}$": "0".repeat(64),
  "^[A-Za-z0-9_-]{43}$": "A".repeat(43),
  "^[a-z0-9-]{1,64}$": "a-rule",
  "^cli_[0-9a-hjkmnp-tv-z]{26}$": "cli_01h455vb4pex5vsknk084sn02q",
  "^wlt_[0-9a-hjkmnp-tv-z]{26}$": "wlt_01h455vb4pex5vsknk084sn02q",
};

function textOfSchema(schema: JsonSchema, random: Random): string {
  if (schema["format"] === "date-time")
    return new Date(random.between(-62_135_596_800, 253_402_300_799) * 1000).toISOString();
  const pattern = schema["pattern"];
  if (typeof pattern === "string") return textsOfPattern[pattern] ?? "a";
  const min = Number(schema["minLength"] ?? 0);
  const max = Number(schema["maxLength"] ?? 40);
  const length = random.chance(0.1) ? random.pick([min, max]) : random.between(min, Math.min(max, 20));
  return Array.from({ length }, () => random.pick([..."abcXYZ019 -_.:/é"])).join("");
}
