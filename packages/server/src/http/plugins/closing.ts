import type { FastifyInstance } from "fastify";

/**
 * Lets the last answers of a stopping service close their connections. Without it a client that keeps its connection open
 * would hold up the stop for as long as the keep-alive lasts.
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
