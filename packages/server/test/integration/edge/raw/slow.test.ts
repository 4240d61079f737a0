import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../../harness/eventually.js";
import {
  connectTo,
  converse,
  listenForRawRequests,
  readAnswers,
} from "../../../harness/http/raw-exchange.js";
import type { TestEdge } from "../../../harness/http/test-edge.js";

const head = "POST /v1/probes HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";

/** Writes one piece after the other until the connection is closed. */
function dribble(socket: Socket, piece: string, intervalMs = 20): void {
  const timer = setInterval(() => socket.write(piece), intervalMs);
  socket.once("close", () => clearInterval(timer));
}

/** Slow clients. Each is disconnected within the limit by the server, not by the test. */
const clients: [what: string, write: (socket: Socket) => void][] = [
  [
    "headers that stop half-way",
    (socket) => void socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: "),
  ],
  ["a request line that stops half-way", (socket) => void socket.write("GET /heal")],
  [
    "headers that come one letter at a time",
    (socket) => {
      socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: ");
      dribble(socket, "a");
    },
  ],
  [
    "headers that come one line at a time",
    (socket) => {
      socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\n");
      dribble(socket, "X-Again: a\r\n");
    },
  ],
  ["a body that never comes", (socket) => void socket.write(`${head}Content-Length: 10\r\n\r\n`)],
  ["a body that stops half-way", (socket) => void socket.write(`${head}Content-Length: 10\r\n\r\n{"na`)],
  [
    "a body that comes one letter at a time",
    (socket) => {
      socket.write(`${head}Content-Length: 60000\r\n\r\n`);
      dribble(socket, " ");
    },
  ],
  [
    "chunks that stop half-way",
    (socket) => void socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"`),
  ],
  [
    "endless chunks of one letter",
    (socket) => {
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
      dribble(socket, "1\r\n \r\n");
    },
  ],
  [
    "a second request that stops half-way",
    (socket) => void socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /heal"),
  ],
];

describe("requests that take too long to arrive", () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await listenForRawRequests();
  });
  afterAll(() => edge.app.close());

  it.concurrent.each(clients)("%s", async (_what, write) => {
    const answers = readAnswers(await converse(edge.app, write));
    const last = answers.at(-1);
    expect(last?.status).toBe(408);
    expect(last?.headers["connection"]).toBe("close");
    expect(JSON.parse(last?.body ?? "")).toMatchObject({ error: { code: "REQUEST_TIMEOUT" } });
  });

  it.concurrent("a body that never comes, whenever it begins between two checks for late requests", async () => {
    // The connections begin a tenth of a second apart; checks are a second apart.
    const received = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        sleep(index * 100).then(() =>
          converse(edge.app, (socket) => socket.write(`${head}Content-Length: 10\r\n\r\n`)),
        ),
      ),
    );
    expect(received.map((text) => readAnswers(text).map(({ status }) => status))).toEqual(
      received.map(() => [408]),
    );
  });

  it("disconnects a client that keeps sending requests and does not read", async () => {
    const socket = connectTo(edge.app);
    socket.pause();
    socket.write("GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n".repeat(1000));
    await new Promise((resolve) => socket.once("connect", resolve));
    const open = () =>
      new Promise<number>((resolve) => edge.app.server.getConnections((_error, count) => resolve(count)));
    await eventually(open, (count) => count === 1);
    await eventually(open, (count) => count === 0);
    socket.destroy();
  });

  it("closes a connection that sends nothing, without an answer that its next request could be given", async () => {
    expect(await converse(edge.app, () => undefined)).toBe("");
  });
});
