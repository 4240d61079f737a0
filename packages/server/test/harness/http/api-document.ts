import { readFileSync } from "node:fs";

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  schema: JsonSchema;
  example?: unknown;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

interface Reference {
  $ref: string;
}

export interface Body {
  schema: JsonSchema;
  examples?: Record<string, Reference>;
}

interface Content {
  content?: Record<string, Body>;
}

interface DocumentedResponse extends Content {
  description: string;
  headers?: Record<string, Reference>;
}

interface DocumentedOperation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: Content;
  responses: Record<string, DocumentedResponse>;
  security?: Record<string, string[]>[];
}

export interface ApiDocument {
  paths: Record<string, Record<string, DocumentedOperation>>;
  webhooks: Record<string, Record<string, DocumentedOperation>>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, DocumentedResponse>;
    examples: Record<string, { value: unknown }>;
    headers: Record<string, { required?: boolean; schema: JsonSchema; example: unknown }>;
  };
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

/** The operations of the paths. Responses that are components are resolved. */
export function listOperations({ paths, components }: ApiDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      responses: Object.fromEntries(
        Object.entries(operation.responses).map(([status, response]) => [
          status,
          components.responses[nameIn(response)] ?? response,
        ]),
      ),
      method: method.toUpperCase(),
      path,
    })),
  );
}

/** The name of the component that a reference leads to. */
export function nameIn(reference: object): string {
  return "$ref" in reference ? String(reference.$ref).replace(/^.*\//, "") : "";
}
