import { request as send } from "node:http";

/** Sends a body in chunks, as a client does that does not know its length. */
export function sendChunked(url: string, path: string, token: string, body: unknown) {
  return new Promise<{ status: number | undefined; headers: string }>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const request = send(`${url}${path}`, { method: "POST", headers }, (response) => {
      response.resume();
      resolve({ status: response.statusCode, headers: String(response.headers["ratelimit"]) });
    });
    request.on("error", reject);
    const text = JSON.stringify(body);
    // Two writes, so that Node does not add the length.
    request.write(text.slice(0, 10));
    request.end(text.slice(10));
  });
}
