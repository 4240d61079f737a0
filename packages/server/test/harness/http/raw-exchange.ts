import { connect, type Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { expect } from "vitest";
import type { EdgeOptions } from "../../../src/http/edge.js";
import { defineRoute } from "../../../src/http/route.js";
import { isErrorBody } from "./is-error-body.js";
import { createTestEdge, type TestEdge } from "./test-edge.js";

/** One request that is wrong in its bytes: what is wrong, the bytes, and what they must be answered with. */
export type RawCase = [what: string, bytes: string, status: number, code: string];

const Probe = Type.Object({ name: Type.String() }, { additionalProperties: false });

/** A route that takes a body, so that there is something for its bytes to be wrong for. */
const probe = defineRoute(
  {
    method: "POST",
    path: "/v1/probes",
    access: "open",
    operationId: "probe",
    tag: "Operations",
    summary: "A route of the test",
    body: Probe,
    query: Type.Object({ limit: Type.Optional(Type.Integer()) }, { additionalProperties: false }),
    success: { status: 200, schema: Probe, description: "Probed." },
    errors: [],
  },
  (request) => request.body,
);

/** The edge behind a real socket, with times that a test can wait for. */
export async function listenForRawRequests(changed: Partial<EdgeOptions> = {}): Promise<TestEdge> {
  const edge = await createTestEdge([probe], {
    ...changed,
    limits: {
      bodyBytes: 65_536,
      headerBytes: 8192,
      jsonDepth: 16,
      headersTimeoutMs: 300,
      requestTimeoutMs: 600,
      idleTimeoutMs: 1000,
      requestsPerClient: 500,
      connectionsPerClient: 1000,
      heavyRequestsPerTenant: 2,
      databaseConnections: 10,
    },
  });
  await edge.app.listen({ host: "127.0.0.1", port: 0 });
  return edge;
}

export function connectTo(app: FastifyInstance, options: { allowHalfOpen?: boolean } = {}): Socket {
  const address = app.server.address();
  if (address === null || typeof address === "string") throw new Error("not listening");
  const socket = connect({ port: address.port, host: "127.0.0.1", ...options });
  socket.on("error", () => undefined);
  return socket;
}

/** Lets something write to a socket, and gives back everything that came until the server closed it. */
export async function converse(
  app: FastifyInstance,
  write: (socket: Socket) => unknown,
  options: { allowHalfOpen?: boolean } = {},
): Promise<string> {
  const socket = connectTo(app, options);
  socket.setEncoding("latin1");
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk;
  });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  if (options.allowHalfOpen === true) socket.once("end", () => socket.end());
  await write(socket);
  await closed;
  return received;
}

/** Every character of the text is one byte on the wire. */
export function exchange(app: FastifyInstance, bytes: string): Promise<string> {
  return converse(app, (socket) => socket.write(bytes, "latin1"));
}

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Every answer in what came from a socket, cut by its `Content-Length`. */
export function readAnswers(received: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = received; rest !== ""; ) {
    const end = rest.indexOf("\r\n\r\n");
    const [statusLine = "", ...lines] = rest.slice(0, end).split("\r\n");
    const headers = Object.fromEntries(lines.map((line) => line.toLowerCase().split(": ", 2)));
    const bodyEnd = end + 4 + Number(headers["content-length"] ?? 0);
    answers.push({ status: Number(statusLine.split(" ")[1]), headers, body: rest.slice(end + 4, bodyEnd) });
    rest = rest.slice(bodyEnd);
  }
  return answers;
}

const second = "GET /second HTTP/1.1\r\nHost: a\r\n\r\n";

/**
 * Sends the bytes of a case and a second request behind them. A parser that reads the first wrongly serves the second, or waits without end;
 * so there must be one answer, the right one, and the end of the connection.
 */
export async function expectOneRefusal(
  { app, logLines }: TestEdge,
  bytes: string,
  status: number,
  code: string,
): Promise<void> {
  const answers = readAnswers(await exchange(app, bytes + second));
  expect(answers.map((answer) => answer.status)).toEqual([status]);
  const [{ headers, body }] = answers as [RawAnswer];
  const parsed = JSON.parse(body);
  expect(isErrorBody(parsed)).toBe(true);
  expect(parsed.error).toMatchObject({ code, request_id: headers["x-request-id"] });
  expect(headers).toMatchObject({
    connection: "close",
    "content-type": "application/json; charset=utf-8",
    "x-content-type-options": "nosniff",
  });
  expect(logLines.some((line) => line["request_id"] === headers["x-request-id"])).toBe(true);
  expect(logLines.filter((line) => line["path"] === "/second")).toEqual([]);
}
