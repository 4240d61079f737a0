import { apiVersion, createComponents, ErrorBody, OAuthError, scopeCatalog } from "@bursar/protocol";
import { type Route, tagDescriptions } from "../route.js";
import { describeOperation } from "./describe-operation.js";
import { describeWebhooks } from "./describe-webhooks.js";
import { createExampleReferences } from "./example-references.js";
import { responseHeaders } from "./headers.js";
import { introduction } from "./introduction.js";
import { shareResponses } from "./share-responses.js";

/**
 * The OpenAPI 3.1 document, from the routes and the schemas that validate their requests. Every resource, page, request body and example
 * is a component, written once.
 */
export function openApiDocument(routes: readonly Route[], publicUrl: string): object {
  const { schemas, reference } = createComponents();
  reference([ErrorBody, OAuthError]);
  const examples = createExampleReferences(publicUrl);
  const parts = { reference, examples };
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeOperation(route, parts) };
  }
  const responses = shareResponses(paths);
  const webhooks = describeWebhooks(parts);
  const document = { paths, responses, webhooks };
  return {
    openapi: "3.1.0",
    info: {
      title: "Bursar",
      summary: "A self-hosted transaction service for digital assets.",
      version: apiVersion,
      description: introduction(publicUrl),
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    externalDocs: { description: "Guides and reference", url: `${publicUrl}/docs/guides` },
    servers: [{ url: publicUrl, description: "This service" }],
    tags: Object.entries(tagDescriptions).map(([name, { description, page }]) => ({
      name,
      description,
      externalDocs: { url: `${publicUrl}/docs/${page}` },
    })),
    paths,
    webhooks,
    components: {
      schemas: sorted(schemas),
      responses: sorted(responses),
      examples: sorted(examples.components),
      headers: usedHeaders(document),
      securitySchemes: {
        oauth2: {
          type: "oauth2",
          description: "An access token of `POST /oauth/token`, sent as `Authorization: Bearer …`.",
          flows: {
            clientCredentials: { tokenUrl: `${publicUrl}/oauth/token`, scopes: { ...scopeCatalog } },
          },
        },
        clientSecret: { type: "http", scheme: "basic", description: "`client_id` and `client_secret`." },
      },
    },
  };
}

function sorted(components: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(components).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Those of deprecations are only there while something is deprecated. */
function usedHeaders(document: object): object {
  const text = JSON.stringify(document);
  return Object.fromEntries(
    Object.entries(responseHeaders).filter(([name]) => text.includes(`"#/components/headers/${name}"`)),
  );
}
