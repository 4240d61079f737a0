import { asyncApiDocument } from "@bursar/protocol";
import type { FastifyInstance } from "fastify";

/** Describes the messages of the live stream as AsyncAPI 3.0. */
export function installAsyncApi(app: FastifyInstance, publicUrl: string): void {
  const document = asyncApiDocument(publicUrl);
  app.get("/asyncapi.json", { schema: { hide: true } }, () => document);
}
