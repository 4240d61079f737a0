import { apiVersion, createComponents, ErrorBody, OAuthError, scopeCatalog } from "@bursar/protocol";
import { type Route, tagDescriptions } from "../route.js";
import { describeOperation, headerComponents } from "./describe-operation.js";

/**
 * The OpenAPI 3.1 document, from the routes and the schemas that validate their requests. Every resource, page and request body is
 * a component, written once.
 */
export function openApiDocument(routes: readonly Route[], publicUrl: string): object {
  const components = createComponents();
  components.reference([ErrorBody, OAuthError]);
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeOperation(route, components) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Bursar",
      version: apiVersion,
      description:
        "A self-hosted transaction service for digital assets. Every error response has the `Error` body; its codes are listed in the error reference.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: publicUrl }],
    tags: Object.entries(tagDescriptions).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: Object.fromEntries(
        Object.entries(components.schemas).sort(([one], [other]) => (one < other ? -1 : 1)),
      ),
      headers: headerComponents,
      securitySchemes: {
        oauth2: {
          type: "oauth2",
          flows: {
            clientCredentials: { tokenUrl: `${publicUrl}/oauth/token`, scopes: { ...scopeCatalog } },
          },
        },
        clientSecret: { type: "http", scheme: "basic", description: "`client_id` and `client_secret`." },
      },
    },
  };
}
