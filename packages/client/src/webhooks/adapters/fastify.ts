import type { Receiver } from "../receiver/create-receiver.js";
import type { WebhookHeaders } from "../verification/verify-webhook.js";

/** The part of a Fastify instance that the plugin uses. */
interface FastifyLike {
  removeAllContentTypeParsers: () => unknown;
  addContentTypeParser: (
    type: string,
    options: { parseAs: "buffer" },
    parser: (request: unknown, body: Uint8Array, done: (error: null, body: Uint8Array) => void) => void,
  ) => unknown;
  post: (
    path: string,
    handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>,
  ) => unknown;
}

interface FastifyRequestLike {
  headers: WebhookHeaders;
  body: unknown;
}

interface FastifyReplyLike {
  code: (status: number) => FastifyReplyLike;
  type: (type: string) => FastifyReplyLike;
  send: (body?: string) => unknown;
}

/**
 * A plugin: `app.register(toFastifyPlugin(receiver), { prefix: "/hooks" })`. Inside it the body stays as it was received; the parsers of the
 * rest of the application are not touched.
 */
export function toFastifyPlugin(receiver: Receiver): (app: FastifyLike) => Promise<void> {
  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    app.post("/", async (request, reply) => {
      const { status, body } = await receiver.receive({
        headers: request.headers,
        rawBody: request.body as Uint8Array,
      });
      const answer = reply.code(status);
      return body === undefined ? answer.send() : answer.type("application/json").send(body);
    });
  };
}
