import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "../node/node.js";
import { RpcError, rpcCodes } from "../rpc-error.js";
import { type Call, type ReadCall, readBody, writeError, writeResult } from "./json-rpc.js";

/** JSON-RPC over HTTP, on the loopback interface only. The path selects the node. */
export interface RpcServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export interface RpcServerDeps {
  readonly port: number;
  /** Undefined if there is no node at the path. */
  readonly answer: (path: string, call: Call) => Promise<Answer> | undefined;
}

const host = "127.0.0.1";
const bodyBytesMax = 5 * 1024 * 1024;
const tooLarge = `A body has at most ${bodyBytesMax} bytes.`;
const keepAliveTimeoutMs = 600_000;

export async function startRpcServer({ port, answer }: RpcServerDeps): Promise<RpcServer> {
  const server = createServer((request, response) => {
    serve(request, response, answer).catch(() => response.destroy());
  });
  // A client that was busy for a while must not find its connection closed: it could not know whether its request arrived.
  server.keepAliveTimeout = keepAliveTimeoutMs;
  await listen(server, port);
  const { port: bound } = server.address() as AddressInfo;
  return { url: `http://${host}:${bound}`, close: () => close(server) };
}

async function listen(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === "EADDRINUSE";
      reject(isTaken ? new Error(`The port ${port} of ${host} is already in use.`) : error);
    });
    server.listen(port, host, resolve);
  });
}

async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  answer: RpcServerDeps["answer"],
): Promise<void> {
  const refusal = refuse(request);
  if (refusal !== undefined) return respond(response, refusal.status, refusal.message, "text/plain");
  const text = await readText(request);
  if (text === undefined) return respond(response, 413, tooLarge, "text/plain");
  // A key in the query, as providers want one, is ignored.
  const path = (request.url ?? "/").replace(/\?.*$/, "");
  const read = readBody(text);
  if (Array.isArray(read)) return await serveBatch(response, await answerAll(path, read, answer));
  const reply = await answerCall(path, read as ReadCall, answer);
  if (reply === undefined) return respond(response, 404, `There is no node at ${path}.`, "text/plain");
  await sleepIf(reply.delayMs);
  if (reply.isCut) response.destroy();
  else if (reply.body !== undefined) respond(response, reply.status, reply.body, "text/html");
  else if (reply.json === undefined) respond(response, 204, "", "application/json");
  else respond(response, reply.status, JSON.stringify(reply.json), "application/json");
}

/** A page in a browser must not reach the chain: it cannot send this content type without asking, and asking is not answered. */
function refuse({ method, headers }: IncomingMessage): { status: number; message: string } | undefined {
  if (method !== "POST") return { status: 405, message: "Send JSON-RPC requests with POST." };
  if (!/^application\/json\b/i.test(headers["content-type"] ?? ""))
    return { status: 415, message: "The content type must be application/json." };
  if (Number(headers["content-length"]) > bodyBytesMax) return { status: 413, message: tooLarge };
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i.test(headers.host ?? "")
    ? undefined
    : { status: 403, message: "The development chain answers requests to the loopback interface only." };
}

async function readText(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

interface Reply {
  /** Undefined for a notification. */
  readonly json: object | undefined;
  readonly delayMs: number;
  readonly isCut: boolean;
  readonly status: number;
  readonly body: string | undefined;
}

async function answerCall(
  path: string,
  call: ReadCall,
  answer: RpcServerDeps["answer"],
): Promise<Reply | undefined> {
  const plain = { delayMs: 0, isCut: false, status: 200, body: undefined };
  if ("error" in call) return { ...plain, json: writeError(call.id, call.error) };
  const answered = await answer(path, call);
  if (answered === undefined) return undefined;
  const { outcome, delayMs, status, body } = answered;
  return {
    json: outcome && writeOutcome(call, outcome),
    delayMs,
    isCut: outcome === undefined,
    status,
    body,
  };
}

function writeOutcome({ id }: Call, outcome: NonNullable<Answer["outcome"]>): object | undefined {
  if (id === undefined) return undefined;
  return "result" in outcome ? writeResult(id, outcome.result) : writeError(id, outcome.error);
}

/** One after the other, so that the order of a batch is the order in which it is carried out. */
async function answerAll(
  path: string,
  calls: readonly ReadCall[],
  answer: RpcServerDeps["answer"],
): Promise<Reply[]> {
  const replies: Reply[] = [];
  for (const call of calls) {
    const notFound = new RpcError(rpcCodes.invalidRequest, `There is no node at ${path}.`);
    replies.push(
      (await answerCall(path, call, answer)) ?? {
        json: writeError(call.id ?? null, notFound),
        delayMs: 0,
        isCut: false,
        status: 404,
        body: undefined,
      },
    );
  }
  return replies;
}

/** What happens to one call's connection happens to all of the batch; its HTTP status is 200. */
async function serveBatch(response: ServerResponse, replies: readonly Reply[]): Promise<void> {
  await sleepIf(Math.max(...replies.map(({ delayMs }) => delayMs)));
  if (replies.some(({ isCut }) => isCut)) return void response.destroy();
  const bodies = replies.flatMap(({ json }) => json ?? []);
  if (bodies.length === 0) return respond(response, 204, "", "application/json");
  respond(response, 200, JSON.stringify(bodies), "application/json");
}

async function sleepIf(delayMs: number): Promise<void> {
  if (delayMs > 0) await sleep(delayMs);
}

function respond(response: ServerResponse, status: number, body: string, type: string): void {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
  response.end(body);
}
