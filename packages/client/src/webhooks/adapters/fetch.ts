import type { Receiver } from "../receiver/create-receiver.js";

/** A handler for frameworks that pass a `Request` and expect a `Response`. */
export function toFetchHandler(receiver: Receiver): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.method !== "POST") return new Response(null, { status: 405, headers: { allow: "POST" } });
    // A body that was read before is gone; the receiver says so.
    const rawBody = request.bodyUsed ? (undefined as unknown as ArrayBuffer) : await request.arrayBuffer();
    const { status, body } = await receiver.receive({ headers: request.headers, rawBody });
    const headers = body === undefined ? undefined : { "content-type": "application/json" };
    return new Response(body ?? null, { status, ...(headers === undefined ? {} : { headers }) });
  };
}
