import { createServer, type Server } from "node:http";
import type { FastifyInstance } from "fastify";

/** Serves `/metrics` of the edge on a port of its own, which the operator opens to the scraper alone. */
export async function startMetricsServer(
  app: Pick<FastifyInstance, "readMetrics">,
  { host, port }: { host: string; port: number },
): Promise<Server> {
  const server = createServer({ maxHeaderSize: 8192, requestTimeout: 10_000 }, (request, response) => {
    if (request.method !== "GET" || request.url?.split("?", 1)[0] !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    app.readMetrics(request.headers.authorization).then(
      (metrics) => {
        if (metrics === undefined) response.writeHead(404).end();
        else response.writeHead(200, { "content-type": metrics.type }).end(metrics.text);
      },
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, resolve);
  });
  return server;
}
