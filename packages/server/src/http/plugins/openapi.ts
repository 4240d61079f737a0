import { apiVersion, scopeCatalog } from "@bursar/protocol";
import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { forDocument } from "../describe-route.js";
import { tagDescriptions } from "../route.js";

/** Describes every route as OpenAPI 3.1, from the same schemas that check the requests. */
export async function installOpenApi(app: FastifyInstance, publicUrl: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Bursar",
        version: apiVersion,
        description:
          "A self-hosted transaction service for digital assets. Every failure is answered with the `Error` body; its codes are listed in the error reference.",
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: publicUrl }],
      tags: Object.entries(tagDescriptions).map(([name, description]) => ({ name, description })),
      components: {
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
    },
    transform: ({ schema, url }) => ({ schema: forDocument(schema), url }),
    refResolver: {
      buildLocalReference: (schema, _base, _fragment, index) => String(schema["$id"] ?? `Schema${index}`),
    },
  });
  // Written once: the same bytes serve every answer, however many wait to be read.
  let bytes: Buffer | undefined;
  app.get("/openapi.json", { schema: { hide: true } }, (_request, reply) => {
    bytes ??= Buffer.from(JSON.stringify(app.swagger()));
    return reply.type("application/json; charset=utf-8").send(bytes);
  });
}
