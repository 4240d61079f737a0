import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";

/** What the proxy answers by itself; without a status it does not answer at all. */
export interface ProxyAnswer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

export interface Proxy {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

export const badGateway: ProxyAnswer = {
  status: 502,
  headers: { "content-type": "text/html" },
  body: "<html>502</html>",
};

/** Passes requests on to a service, but for those that `intercept` has an answer for. */
export async function startProxy(
  serviceUrl: string,
  intercept: (request: IncomingMessage) => ProxyAnswer | undefined,
): Promise<Proxy> {
  const server = createServer((incoming, response) => {
    const answer = ({ status, headers = {}, body = "" }: ProxyAnswer) => {
      if (status !== undefined) response.writeHead(status, headers).end(body);
    };
    const intercepted = intercept(incoming);
    if (intercepted !== undefined) {
      incoming.resume();
      answer(intercepted);
      return;
    }
    const { method, url = "", headers } = incoming;
    const outgoing = request(serviceUrl + url, { method, headers }, (received) => {
      response.writeHead(received.statusCode ?? 502, received.headers);
      received.pipe(response);
    });
    outgoing.on("error", () => answer(badGateway));
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
