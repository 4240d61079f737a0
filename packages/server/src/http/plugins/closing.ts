import type { FastifyInstance } from "fastify";

/**
 * Closes connections with the last responses of a stopping service. Otherwise a client that keeps its connection open would delay the
 * stop until the keep-alive ends.
 */
export function installClosing(app: FastifyInstance): void {
  let closing = false;
  app.addHook("preClose", (done) => {
    closing = true;
    done();
  });
  app.addHook("onSend", (_request, reply, payload, done) => {
    if (closing) reply.header("connection", "close");
    done(null, payload);
  });
}
