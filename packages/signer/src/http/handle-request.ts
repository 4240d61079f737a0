import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { SignerService } from "../signer-service.js";

interface Response {
  readonly status: number;
  readonly body: unknown;
}

/** An intent has about 600 bytes. */
const bodyBytesMax = 1 << 20;
const batchMax = 500;
const inFlightMax = 32;

export function createRequestHandler(
  service: SignerService,
  onFatal: (error: unknown) => void,
): RequestListener {
  let inFlight = 0;
  return (request, response) => {
    if (inFlight >= inFlightMax) return send(response, failure(503, "The signer has too many requests."));
    inFlight += 1;
    answer(service, request)
      .then((result) => send(response, result), onFatal)
      .finally(() => {
        inFlight -= 1;
      });
  };
}

async function answer(service: SignerService, request: IncomingMessage): Promise<Response> {
  const route = `${request.method} ${request.url}`;
  if (route === "GET /health") return { status: 200, body: service.health() };
  if (route !== "POST /addresses" && route !== "POST /sign" && route !== "POST /signed")
    return failure(404, "The signer has POST /addresses, POST /sign, POST /signed and GET /health.");
  const content = await readBody(request);
  if (content === undefined)
    return failure(413, `A body must be complete, and must not exceed ${bodyBytesMax} bytes.`);
  if (route === "POST /addresses") {
    const wallets = readList(content, "wallets");
    if (typeof wallets === "string") return failure(400, wallets);
    const addresses = await service.addressesOf(wallets);
    return "error" in addresses ? failure(422, addresses.error) : { status: 200, body: { addresses } };
  }
  if (route === "POST /signed") {
    const wallets = readList(content, "wallets");
    if (typeof wallets === "string") return failure(400, wallets);
    const signed = service.signedFrom(wallets);
    return "error" in signed ? failure(422, signed.error) : { status: 200, body: { signed } };
  }
  const intents = readList(content, "intents");
  if (typeof intents === "string") return failure(400, intents);
  return { status: 200, body: { answers: await service.sign(intents) } };
}

/** Undefined if it is too long, or if the connection ended before the body did. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > bodyBytesMax) return undefined;
      chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The list that is the only field of the body, or what is wrong. */
function readList(content: string, name: string): readonly unknown[] | string {
  const fault = `The body must be a JSON object with a list of 1 to ${batchMax} "${name}".`;
  let body: unknown;
  try {
    body = JSON.parse(content);
  } catch {
    return fault;
  }
  if (typeof body !== "object" || body === null || Object.keys(body).join() !== name) return fault;
  const list = (body as Record<string, unknown>)[name];
  if (!Array.isArray(list) || list.length === 0 || list.length > batchMax) return fault;
  return list;
}

function failure(status: number, error: string): Response {
  return { status, body: { error } };
}

function send(response: ServerResponse, { status, body }: Response): void {
  const content = JSON.stringify(body);
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(content) };
  // The rest of a body that was refused is not read.
  response.writeHead(status, status === 413 ? { ...headers, connection: "close" } : headers).end(content);
}
