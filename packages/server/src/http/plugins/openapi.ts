import { apiVersion } from "@bursar/protocol";
import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";

/** Describes every route as OpenAPI 3.1, from the same schemas that check the requests. */
export async function installOpenApi(app: FastifyInstance, publicUrl: string | undefined): Promise<void> {
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
      ...(publicUrl === undefined ? {} : { servers: [{ url: publicUrl }] }),
      tags: [{ name: "Operations", description: "Whether the service is alive and ready." }],
    },
    refResolver: {
      buildLocalReference: (schema, _base, _fragment, index) => String(schema["$id"] ?? `Schema${index}`),
    },
  });
  app.get("/openapi.json", { schema: { hide: true } }, () => app.swagger());
}
