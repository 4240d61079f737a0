import type { IncomingMessage, ServerResponse } from "node:http";
import type { Receiver } from "../receiver/create-receiver.js";

const bodyBytesMax = 1024 * 1024;

/**
 * A handler for `node:http`, and for frameworks that pass Node's own request. Mount it before a JSON parser, or give its route the raw body:
 * a body that was parsed cannot be verified, and is answered with 503, which the service retries.
 */
export function toNodeHandler(
  receiver: Receiver,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    if (request.method !== "POST") {
      response.writeHead(405, { allow: "POST" }).end();
      return;
    }
    answer(receiver, request, response).catch(() => {
      // Without an answer the service sends it again.
      response.destroy();
    });
  };
}

async function answer(receiver: Receiver, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const rawBody = await rawBodyOf(request);
  if (rawBody === tooLarge) {
    response.writeHead(413).end();
    return;
  }
  const { status, body } = await receiver.receive({
    headers: request.headers,
    rawBody: rawBody as Uint8Array,
  });
  response.writeHead(status, body === undefined ? {} : { "content-type": "application/json" }).end(body);
}

const tooLarge = Symbol("too large");

/** The bytes of the body; what a parser has made of it, if there was one. */
async function rawBodyOf(request: IncomingMessage & { body?: unknown; rawBody?: unknown }): Promise<unknown> {
  if (request.rawBody !== undefined) return request.rawBody;
  if (request.readableDidRead || request.body instanceof Uint8Array) return request.body;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) return tooLarge;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
