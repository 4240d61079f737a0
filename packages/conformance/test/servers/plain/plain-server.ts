import { isUtf8 } from "node:buffer";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { FaultName } from "../../faults/faults.js";
import { showPlainBook } from "./plain-book.js";
import { answerDocuments } from "./plain-documents.js";
import { createPlainErrors, DroppedConnection, PlainRefusal } from "./plain-errors.js";
import { admits, isLooselySpelt, isOdd, tenantOf } from "./plain-input.js";
import { createPlainOauth } from "./plain-oauth.js";
import { createPlainSignatures } from "./plain-signatures.js";
import { createPlainStream } from "./plain-stream.js";
import { createPlainTransactions } from "./plain-transactions.js";
import { createPlainWebhooks } from "./plain-webhooks.js";

/** A small, correct implementation of the contract, in memory, written from the contract alone; with faults that can be switched on. */
export interface PlainServer {
  readonly url: string;
  /** Webhook endpoints that are registered. */
  readonly endpointCount: () => number;
  /** Serves a connection that was not made to its address. */
  readonly accept: (connection: Duplex) => void;
  readonly stop: () => Promise<void>;
}

export const plainTokens = {
  own: "plain-token.of-1-first-tenant.signature-0001",
  second: "plain-token-of-the-second-tenant-0002",
  revoked: "plain-token-that-was-revoked-0003",
  limited: "plain-token-with-a-small-quota-0004",
};

export interface PlainRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly rawHeaders: readonly string[];
  readonly body: string;
  readonly socket: { readonly destroyed: boolean };
}

export interface PlainAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
  /** Of the body, if it is not UTF-8. */
  readonly encoding?: BufferEncoding;
  /** Whether the connection is closed before the end of the body. */
  readonly isCut?: boolean;
}

const limitedMax = 3;

export type Has = (fault: FaultName) => boolean;

/** `connectReceiver` makes a connection to the receiver of notifications, if it is in the same process. */
export async function startPlainServer(
  active: readonly FaultName[] = [],
  connectReceiver?: () => Duplex,
): Promise<PlainServer> {
  const has: Has = (fault) => active.includes(fault);
  const webhooks = createPlainWebhooks(has, connectReceiver);
  const oauth = createPlainOauth(has);
  const stream = createPlainStream(has, (given) => (admits(given, has, oauth) ? tenantOf(given) : undefined));
  const signatures = createPlainSignatures(has);
  const transactions = createPlainTransactions(has, { webhooks, oauth, stream, signatures });
  const errors = createPlainErrors(has);
  let limitedRequests = 0;
  let wallets = 0;
  const route = (request: PlainRequest): PlainAnswer | Promise<PlainAnswer> => {
    const path = withPrefix(request, has);
    const { method } = request;
    const isLimited = request.headers.authorization?.includes(plainTokens.limited) === true;
    limitedRequests += isLimited ? 1 : 0;
    if (isLimited && limitedRequests > limitedMax)
      throw new PlainRefusal(429, "RATE_LIMITED", "The quota is used up.", "quota");
    if (has("odd-input-crashes") && isOdd(request)) return oops({ status: 500 });
    if (has("odd-input-dropped") && isOdd(request)) throw new DroppedConnection();
    const extra = oauth.answer(request) ?? answerDocuments(path, has) ?? signatures.answer(request);
    if (extra !== undefined) return extra;
    if (path === "/v1/transactions" && method === "POST") return transactions.create(request);
    if (/^\/v1\/transactions\/[^/]+$/.test(path) && method === "GET")
      return transactions.show(path.slice(17), request);
    if (path === "/v1/wallets" && method === "POST") {
      wallets += 1;
      return createWallet(request, has, wallets === 1);
    }
    if (path === "/v1/orderbook" && method === "GET") return showPlainBook(request, has);
    if (path === "/v1/webhook-endpoints" && method === "POST")
      return webhooks.register(request.body, tenantOf(request.headers.authorization));
    if (path.endsWith("/rotate") && method === "POST") return webhooks.rotate(path.split("/")[3] ?? "");
    if (path.startsWith("/v1/webhook-endpoints/") && method === "DELETE")
      return webhooks.remove(path.slice(22));
    if (path === "/v1/orderbook" || path === "/v1/transactions" || path === "/v1/wallets")
      throw new PlainRefusal(
        405,
        "METHOD_NOT_ALLOWED",
        "The path does not have this method.",
        path === "/v1/wallets" ? "wrong-method-of-wallets" : "wrong-method",
      );
    throw new PlainRefusal(404, "NOT_FOUND", "There is nothing at this path.", "unknown-path");
  };
  const server = createServer((incoming, response) => {
    readRequest(incoming)
      .then(route)
      .catch((error: unknown) => errors.answer(error, incoming.socket))
      .then((answer) => write(response, isHtml(incoming, answer, has) ? oops(answer) : answer, has))
      .catch(() => response.destroy());
  });
  server.on("upgrade", stream.upgrade);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    endpointCount: webhooks.count,
    accept: (connection) => void server.emit("connection", connection),
    stop: () =>
      new Promise((resolve) => {
        webhooks.stop();
        stream.stop();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const oops = ({ status }: Pick<PlainAnswer, "status">): PlainAnswer => ({
  status,
  headers: { "content-type": "text/html" },
  body: "<html>Oops</html>",
});

/** Errors are pages for those that do not ask for JSON, if that is the fault. */
const isHtml = ({ headers }: IncomingMessage, { status }: PlainAnswer, has: Has) =>
  has("html-unless-json-is-asked-for") && status >= 400 && headers.accept?.includes("json") !== true;

async function readRequest(incoming: IncomingMessage): Promise<PlainRequest> {
  const chunks: Buffer[] = [];
  await new Promise((resolve, reject) => {
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", resolve);
    incoming.on("error", reject);
  });
  const { method = "", url = "", headers, rawHeaders, socket } = incoming;
  const bytes = Buffer.concat(chunks);
  if (!isUtf8(bytes)) throw new PlainRefusal(400, "MALFORMED_JSON", "The body is not UTF-8.");
  return { method, path: url, headers, rawHeaders, socket, body: bytes.toString("utf8") };
}

function write(response: ServerResponse, answer: PlainAnswer, has: Has): void {
  const { status, body, headers, encoding = "utf8" } = answer;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const isCut = answer.isCut === true || (status >= 400 && has("errors-cut-off"));
  const length = isCut ? { "content-length": Buffer.byteLength(text) + 20 } : {};
  response.writeHead(status, { "content-type": "application/json", ...headers, ...length });
  if (isCut) response.write(text, () => response.destroy());
  else response.end(text, encoding);
}

/** The path, or the one that it would be with the prefix if the server does not insist on it. */
function withPrefix({ method, path }: PlainRequest, has: Has): string {
  if (isLooselySpelt(path, has)) return "/v1/transactions";
  const isBare =
    (has("unprefixed-everything") && !path.startsWith("/v1") && !path.startsWith("/.")) ||
    (has("unprefixed-create") && method === "POST" && path === "/transactions") ||
    (has("unprefixed-read") && method === "GET" && path.startsWith("/transactions/")) ||
    (has("unprefixed-wallets") && path === "/wallets") ||
    (has("unprefixed-book") && path === "/orderbook");
  return isBare ? `/v1${path}` : path;
}

function createWallet({ headers, body }: PlainRequest, has: Has, isFirst: boolean): PlainAnswer {
  if (has("wallet-refused")) throw new PlainRefusal(400, "NO_WALLETS", "There are no wallets.");
  if (has("second-wallet-500") && !isFirst) throw new PlainRefusal(500, "INTERNAL", "Something went wrong.");
  const isForm = !(headers["content-type"] ?? "").startsWith("application/json");
  if (isForm && !has("wallet-form-accepted"))
    throw new PlainRefusal(415, "UNSUPPORTED_MEDIA_TYPE", "The body must be JSON.", "media-type");
  if (!isForm && !has("wallet-malformed-accepted")) {
    try {
      JSON.parse(body);
    } catch {
      throw new PlainRefusal(400, "MALFORMED_JSON", "The body is not JSON.");
    }
  }
  const isFinal = has("wallet-final-in-202") || (has("second-wallet-final") && !isFirst);
  const state = isFinal ? "active" : "creating";
  const result = has("wallet-final-deep-in-202") ? { result: { status: "active" } } : {};
  const label = has("wallet-off-schema") ? {} : { label: "plain" };
  const is200 = has("second-wallet-200") && !isFirst;
  return {
    status: has("wallet-201") ? 201 : is200 ? 200 : 202,
    body: { id: "wlt_1", state, ...result, ...label },
  };
}
