import {
  type ErrorCode,
  type ErrorDetail,
  type Example,
  errorBody,
  errorCatalog,
  exampleIds,
  exampleNamesOf,
  examples,
} from "@bursar/protocol";
import type { TSchema } from "typebox";

/** The examples of a document: each is a component that is written once, if something refers to it. */
export interface ExampleReferences {
  /** The examples that a document uses so far, by name. */
  components: Readonly<Record<string, Example>>;
  /** The `examples` member of a body: all examples of its schema, or the named variants. */
  ofSchema: (schema: TSchema, variants?: readonly string[]) => object;
  ofErrors: (codes: readonly ErrorCode[]) => object;
  ofOAuthError: (status: number) => object;
}

export function createExampleReferences(publicUrl: string): ExampleReferences {
  const components: Record<string, Example> = {};

  function refer(entries: readonly [key: string, component: string, example: Example][]): object {
    if (entries.length === 0) return {};
    for (const [, component, example] of entries) components[component] = example;
    return {
      examples: Object.fromEntries(
        entries.map(([key, component]) => [key, { $ref: `#/components/examples/${component}` }]),
      ),
    };
  }

  return {
    components,
    ofSchema: (schema, variants) => {
      const { $id = "" } = schema as { $id?: string };
      const names = variants?.map((variant) => `${$id}.${variant}`) ?? exampleNamesOf($id);
      return refer(
        names.flatMap((name) => {
          const example = examples[name];
          const key = name === $id ? "example" : name.slice($id.length + 1);
          return example === undefined ? [] : [[key, name, example]];
        }),
      );
    },
    ofErrors: (codes) => refer(codes.map((code) => [code, code, errorExample(code, publicUrl)])),
    ofOAuthError: (status) => {
      const { error, error_description } = oauthErrorExamples[status] ?? { error: "server_error" };
      const value = error_description === undefined ? { error } : { error, error_description };
      return refer([[error, `OAuthError.${status}`, { value }]]);
    },
  };
}

/** What some errors say about the fields at fault. */
const exampleDetails: Partial<Record<ErrorCode, ErrorDetail[]>> = {
  INVALID_REQUEST: [{ path: "body.amount", reason: "is required" }],
  AMOUNT_PRECISION_EXCEEDED: [{ path: "body.amount", reason: "has more than 2 decimals" }],
  AMOUNT_OUT_OF_RANGE: [{ path: "body.amount", reason: "is out of range", min: "0.01", max: "1000000" }],
  POLICY_INVALID: [{ path: "rules.0.amount.asset", reason: "is not a known asset", rule: "large-payments" }],
};

function errorExample(code: ErrorCode, publicUrl: string): Example {
  const { when, message } = errorCatalog[code];
  const requestId = exampleIds.request;
  return {
    summary: `${when[0]?.toUpperCase()}${when.slice(1)}.`,
    value: errorBody({ code, message, requestId, publicUrl, details: exampleDetails[code] }),
  };
}

const oauthErrorExamples: Readonly<Record<number, { error: string; error_description?: string }>> = {
  400: { error: "invalid_scope", error_description: "The client does not have the scope wallets:write." },
  401: { error: "invalid_client", error_description: "Client authentication failed." },
  413: { error: "invalid_request", error_description: "The body is too large." },
  415: {
    error: "invalid_request",
    error_description: "The body must be sent as application/x-www-form-urlencoded.",
  },
  429: { error: "slow_down", error_description: "Too many failed requests from this address." },
  500: { error: "server_error", error_description: "The service failed unexpectedly." },
  503: { error: "temporarily_unavailable", error_description: "The service is temporarily unavailable." },
};
