import { asyncApiDocument } from "@bursar/protocol";
import type { FastifyInstance } from "fastify";

/** Describes the messages of the live stream as AsyncAPI 3.0. */
export function installAsyncApi(app: FastifyInstance, publicUrl: string): void {
  const bytes = Buffer.from(JSON.stringify(asyncApiDocument(publicUrl)));
  app.get("/asyncapi.json", { schema: { hide: true } }, (_request, reply) =>
    reply.type("application/json; charset=utf-8").send(bytes),
  );
}
