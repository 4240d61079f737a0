import { readFileSync } from "node:fs";

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  schema: JsonSchema;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

interface Content {
  content?: Record<string, { schema: JsonSchema }>;
}

interface DocumentedOperation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: Content;
  responses: Record<string, Content & { description: string }>;
  security?: Record<string, string[]>[];
}

export interface ApiDocument {
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { schemas: Record<string, JsonSchema> };
}

export interface Operation extends DocumentedOperation {
  method: string;
  /** As the document writes it: `/v1/wallets/{id}`. */
  path: string;
}

/** The committed document; that it is what the routes say is checked by `npm run check`. */
export function readApiDocument(): ApiDocument {
  return JSON.parse(readFileSync(new URL("../../../../../openapi.json", import.meta.url), "utf8"));
}

export function listOperations({ paths }: ApiDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );
}
