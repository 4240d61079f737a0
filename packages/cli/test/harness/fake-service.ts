import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface SeenRequest {
  method: string;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** What a route answers: a status with a body, `cut` for a connection that is closed without an answer, or `silence`. */
export type Reply = { status?: number; body?: unknown; headers?: Record<string, string> } | "cut" | "silence";
export type Routes = Record<string, Reply | ((request: SeenRequest) => Reply)>;

/** A service with given answers, so that output can be compared to the letter. */
export async function startFakeService(routes: Routes) {
  const requests: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { pathname } = new URL(request.url ?? "", "http://x");
      const seen = {
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(chunks).toString("utf8"),
      };
      if (pathname !== "/oauth/token") requests.push(seen);
      const route = routes[`${seen.method} ${pathname}`] ?? fallbackOf(pathname);
      const reply = typeof route === "function" ? route(seen) : route;
      if (reply === "silence") return;
      if (reply === "cut") {
        request.socket.destroy();
        return;
      }
      const { status = 200, body = {}, headers = {} } = reply;
      response.writeHead(status, { "content-type": "application/json", "x-request-id": "req_1", ...headers });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function fallbackOf(pathname: string): Reply {
  if (pathname === "/oauth/token")
    return { body: { access_token: "token-1", token_type: "Bearer", expires_in: 900, scope: "" } };
  return refusal(404, "NOT_FOUND", `There is nothing at ${pathname}.`);
}

export function refusal(status: number, code: string, message = `It is ${code}.`): Exclude<Reply, string> {
  return { status, body: { error: { code, message, request_id: "req_2", doc_url: "https://x.example" } } };
}
