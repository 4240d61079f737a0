import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import { isObject, parseJson, valueAt } from "../http/reply.js";
import { pairsOf } from "../http/send.js";
import type { Place, WebhookTarget } from "../target/target.js";

type ItemPlaces = Readonly<Partial<Record<"event" | "delivery_id" | "signature", Place | undefined>>>;

/** A notification as it arrived. */
export interface Delivery {
  readonly index: number;
  readonly receivedAt: Date;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** The body without its content coding; the same if it has none that is known. */
  readonly decoded: Buffer;
  /** Where its items are, if the target file says. */
  readonly places: ItemPlaces;
  /** The parsed body: JSON, or the fields of a form. Undefined if it is neither. */
  readonly json: unknown;
  /** What the receiver answered; 0 before it has. */
  status: number;
  /** How long the sender waited for the answer. */
  answeredAfterMs: number;
  /** The sender closed the connection before it had the answer. */
  isAbandoned: boolean;
  /** What GET showed while the notification was waiting for its answer, by the reference of the transaction. */
  readonly seenStates: Map<string, SeenState>;
}

/** The state that GET showed when a notification arrived, and how long it took to show a result that the notification announces. */
export interface SeenState {
  readonly first: string;
  /** Undefined if it never did. */
  visibleAfterMs: number | undefined;
}

export interface Receiver {
  /** The address that the target sends to. */
  readonly url: string;
  readonly deliveries: readonly Delivery[];
  /** How many notifications were answered with 413, because they or all before them are more than the kit keeps. */
  readonly unread: () => { readonly tooLarge: number; readonly tooMany: number };
  /** Decides the answer to each notification from now on, or that there is none; by default 204. */
  answerWith: (decide: (delivery: Delivery) => Promise<number>) => void;
  /** Does not answer the notifications that are meant, until the sender closes the connection or `release` ends: then it is closed. */
  holdIf: (isMeant: (delivery: Delivery) => Promise<boolean>, release: Promise<unknown>) => void;
  setChallenge: (challenge: WebhookTarget["challenge"]) => void;
  /** Where notifications have their items, if they are not found by themselves. */
  setPlaces: (places: ItemPlaces) => void;
  /** Serves a connection that was not made to its address. */
  readonly accept: (connection: Duplex) => void;
  readonly close: () => Promise<void>;
}

/** Instead of a status: the connection is closed without an answer. */
export const unanswered = 0;
/** Without a time, a sender may pause for as long as it wants. */
const tooMany = 429;

const bodyBytesMax = 1 << 20;
/** Several for each request of a run. */
const deliveriesMax = 5000;
const allBytesMax = 512 << 20;
const requestTimeoutMs = 30_000;

export interface ReceiverOptions {
  readonly host: string;
  readonly port: number;
  readonly publicUrl?: string | undefined;
}

interface Hold {
  readonly isMeant: (delivery: Delivery) => Promise<boolean>;
  readonly release: Promise<unknown>;
}

/** Receives notifications, keeps them as they were, and answers as the running check wants. Everything it keeps is bounded. */
export async function startReceiver({ host, port, publicUrl }: ReceiverOptions): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  const unread = { tooLarge: 0, tooMany: 0 };
  let bytes = 0;
  let decide = async (_delivery: Delivery) => 204;
  let hold: Hold = { isMeant: async () => false, release: Promise.resolve() };
  let challenge: WebhookTarget["challenge"];
  let places: ItemPlaces = {};
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readBounded(request);
    bytes += body?.length ?? 0;
    if (body === undefined || deliveries.length >= deliveriesMax || bytes > allBytesMax) {
      unread[body === undefined ? "tooLarge" : "tooMany"] += 1;
      response.writeHead(413, { connection: "close" }).end(() => request.destroy());
      return;
    }
    const started = performance.now();
    const decoded = decode(request, body);
    const json = parseBody(request, decoded.toString("utf8"));
    if (challenge !== undefined && isObject(json) && json["event"] === challenge.event) {
      const answer = valueAt(json, challenge.answer);
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ challenge: answer }));
      return;
    }
    const delivery: Delivery = {
      index: deliveries.length,
      receivedAt: new Date(),
      method: request.method ?? "",
      path: request.url ?? "",
      headers: pairsOf(request.rawHeaders),
      body,
      decoded,
      places,
      json,
      status: 0,
      answeredAfterMs: 0,
      isAbandoned: false,
      seenStates: new Map(),
    };
    deliveries.push(delivery);
    const closed = new Promise((resolve) => response.once("close", resolve));
    const isHeld = await hold.isMeant(delivery);
    if (isHeld) await Promise.race([closed, hold.release]);
    const status = isHeld ? unanswered : await decide(delivery);
    delivery.answeredAfterMs = performance.now() - started;
    delivery.isAbandoned = response.destroyed;
    delivery.status = status;
    if (status === unanswered) response.destroy();
    else response.writeHead(status, status === tooMany ? { "retry-after": "1" } : {}).end();
  };
  const server = createServer({ requestTimeout: requestTimeoutMs }, (request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const own = `http://${host.includes(":") ? `[${host}]` : host}:${(server.address() as AddressInfo).port}/`;
  return {
    url: publicUrl ?? own,
    deliveries,
    unread: () => unread,
    answerWith: (next) => {
      decide = next;
    },
    holdIf: (isMeant, release) => {
      hold = { isMeant, release };
    },
    setChallenge: (next) => {
      challenge = next;
    },
    setPlaces: (next) => {
      places = next;
    },
    accept: (connection) => void server.emit("connection", connection),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const decoders = { gzip: gunzipSync, "x-gzip": gunzipSync, deflate: inflateSync, br: brotliDecompressSync };

/** Programs that receive notifications decode them before they look at them. */
function decode({ headers }: IncomingMessage, body: Buffer): Buffer {
  const coding = (headers["content-encoding"] ?? "").trim().toLowerCase();
  if (!Object.hasOwn(decoders, coding)) return body;
  try {
    return decoders[coding as keyof typeof decoders](body, { maxOutputLength: bodyBytesMax });
  } catch {
    return body;
  }
}

function parseBody({ headers }: IncomingMessage, text: string): unknown {
  const isForm = (headers["content-type"] ?? "").startsWith("application/x-www-form-urlencoded");
  return isForm ? Object.fromEntries(new URLSearchParams(text)) : parseJson(text);
}

/** The whole body; undefined if it is too large, in which case the rest is not read. */
async function readBounded(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bodyBytesMax) {
        request.pause();
        resolve(undefined);
      } else chunks.push(chunk);
    });
    request.on("end", () => resolve(Buffer.concat(chunks)));
    request.on("error", reject);
  });
}
