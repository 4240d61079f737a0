import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { type Step, type StepGate, stepOfCall, stepOfStatement } from "./steps.js";

export interface StepProxy {
  port: number;
  close: () => Promise<void>;
}

/** Another answer than the one of the node at this path; undefined leaves it as it is. */
export type ChangeAnswer = (path: string, calls: readonly NodeCall[], text: string) => string | undefined;

interface NodeCall {
  id: number;
  method: string;
  params?: unknown[];
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** Passes a request on, and returns the answer. */
function forward(
  incoming: IncomingMessage,
  body: string,
  target: { host?: string; port?: number; socketPath?: string },
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const { method = "GET", url = "/" } = incoming;
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    request({ ...target, method, path: url, headers }, (response) => {
      readAll(response).then((text) => resolve({ status: response.statusCode ?? 502, text }), reject);
    })
      .once("error", reject)
      .end(body);
  });
}

interface Passage {
  gate: StepGate;
  stepsOf: (path: string, body: string) => readonly Step[];
  target: () => { host?: string; port?: number; socketPath?: string };
  change?: (path: string, body: string, text: string) => string | undefined;
}

function passOn({ gate, stepsOf, target, change }: Passage) {
  return async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    try {
      const body = await readAll(incoming);
      const path = incoming.url ?? "/";
      const steps = stepsOf(path, body);
      const isStopped = (when: "before" | "after") => steps.some((step) => gate.reach(step, when));
      if (isStopped("before")) return void incoming.socket.destroy();
      const { status, text } = await forward(incoming, body, target());
      if (isStopped("after")) return void incoming.socket.destroy();
      const answer = change?.(path, body, text) ?? text;
      outgoing.writeHead(status, { "content-type": "application/json" }).end(answer);
    } catch {
      incoming.socket.destroy();
    }
  };
}

/** In front of the nodes of a chain. */
export async function startNodeProxy(
  gate: StepGate,
  nodeUrl: string,
  change: ChangeAnswer,
): Promise<StepProxy> {
  const { hostname: host, port } = new URL(nodeUrl);
  const callsOf = (body: string) => [JSON.parse(body)].flat() as NodeCall[];
  const server = createServer(
    passOn({
      gate,
      target: () => ({ host, port: Number(port) }),
      stepsOf: (_path, body) => [...new Set(callsOf(body).flatMap((call) => stepOfCall(call) ?? []))],
      change: (path, body, text) => change(path, callsOf(body), text),
    }),
  );
  return await listen(server, 0);
}

/** In front of the signer, whose own socket can be another one after each start. */
export async function startSignerProxy(
  gate: StepGate,
  socketPath: string,
  target: () => string,
): Promise<StepProxy> {
  const server = createServer(
    passOn({
      gate,
      target: () => ({ socketPath: target() }),
      stepsOf: (path) => (path === "/sign" ? ["sign"] : []),
    }),
  );
  return await listen(server, socketPath);
}

/** In front of PostgreSQL. A step is reached when its statement is sent, and done when its transaction is committed. */
export async function startPostgresProxy(gate: StepGate, databaseUrl: string): Promise<StepProxy> {
  const { hostname, port } = new URL(databaseUrl);
  const server = createTcpServer((incoming) => {
    const outgoing = connect(Number(port), hostname);
    const stepsIn = createStatementReader();
    /** The steps of the transaction that is open. */
    let written = new Set<Step>();
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      socket.on("error", () => undefined);
      socket.on("close", () => other.destroy());
    }
    incoming.on("data", (chunk) => {
      for (const step of stepsIn(chunk)) {
        written.add(step);
        if (gate.reach(step, "before")) return void incoming.resetAndDestroy();
      }
      outgoing.write(chunk);
    });
    outgoing.on("data", (chunk) => {
      const isEnded = written.size > 0 && (chunk.includes("COMMIT\0") || chunk.includes("ROLLBACK\0"));
      if (isEnded) {
        const isCommitted = chunk.includes("COMMIT\0");
        const done = [...written];
        written = new Set();
        if (isCommitted && done.some((step) => gate.reach(step, "after")))
          return void incoming.resetAndDestroy();
      }
      incoming.write(chunk);
    });
  });
  return await listen(server, 0);
}

const parseType = 0x50;
const bindType = 0x42;
const headerBytes = 5;

/**
 * Finds steps in what a client of PostgreSQL sends: the text of a statement comes with its first use on a connection (Parse), and only its
 * name afterwards (Bind). The first message has no type.
 */
function createStatementReader(): (chunk: Buffer) => Step[] {
  const named = new Map<string, Step>();
  let rest: Buffer = Buffer.alloc(0);
  let isStarted = false;
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const found: Step[] = [];
    if (!isStarted) {
      if (rest.length < 4 || rest.length < rest.readInt32BE(0)) return found;
      rest = rest.subarray(rest.readInt32BE(0));
      isStarted = true;
    }
    while (rest.length >= headerBytes && rest.length >= rest.readInt32BE(1) + 1) {
      const end = rest.readInt32BE(1) + 1;
      const type = rest[0];
      if (type === parseType || type === bindType) {
        const [first = "", second = ""] = rest.toString("latin1", headerBytes, end).split("\0", 2);
        const step = type === parseType ? stepOfStatement(second) : named.get(second);
        if (type === bindType && step !== undefined) found.push(step);
        else if (type === parseType && step !== undefined) named.set(first, step);
        // The statement without a name is another one each time.
        else if (type === parseType) named.delete(first);
      }
      rest = rest.subarray(end);
    }
    return found;
  };
}

function listen(server: ReturnType<typeof createTcpServer>, at: number | string): Promise<StepProxy> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  return new Promise((resolve) => {
    const isListening = () =>
      resolve({
        port: typeof at === "number" ? (server.address() as AddressInfo).port : 0,
        close: async () => {
          const closed = new Promise((done) => server.close(done));
          for (const socket of sockets) socket.destroy();
          await closed;
        },
      });
    if (typeof at === "number") server.listen(at, "127.0.0.1", isListening);
    else server.listen(at, isListening);
  });
}
