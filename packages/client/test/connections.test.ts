import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { type BursarError, createBursar, isBursarError } from "@bursar/client";
import { afterAll, describe, expect, it } from "vitest";
import { selfSigned } from "./harness/self-signed.js";

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

async function portOf(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** The error of a payment. Pauses take no time, so that the test takes none. */
async function failureAt(baseUrl: string, retriesMax = 4): Promise<BursarError> {
  const bursar = createBursar({
    baseUrl,
    credentials: () => "token",
    retriesMax,
    runtime: { random: () => 0 },
  });
  const error = await bursar.transactions
    .create({ reference: "invoice-2041", asset: "USD", amount: "1" }, { idempotencyKey: "invoice-2041" })
    .catch((thrown: unknown) => thrown);
  if (!isBursarError(error)) throw new Error(`not a BursarError: ${error}`);
  return error;
}

const closeOnData = (end: (socket: Socket) => void) =>
  createServer((socket) => socket.on("error", () => undefined).on("data", () => end(socket)));

describe("a connection that cannot be made has sent nothing", () => {
  it("to a port where nothing listens; the error names the address", async () => {
    const server = createServer();
    const port = await portOf(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await failureAt(`http://127.0.0.1:${port}`)).toMatchObject({
      code: "CONNECTION_FAILED",
      outcome: "not_sent",
      attempts: 5,
      message: `No connection to http://127.0.0.1:${port} could be made (ECONNREFUSED).`,
    });
  });

  it("by TLS to a server that does not speak it; it is not tried again", async () => {
    const port = await portOf(createHttpServer());
    expect(await failureAt(`https://127.0.0.1:${port}`)).toMatchObject({
      code: "CONNECTION_FAILED",
      outcome: "not_sent",
      attempts: 1,
      message: `No secure connection (TLS) to https://127.0.0.1:${port} could be made (ERR_SSL_WRONG_VERSION_NUMBER); nothing was sent.`,
    });
  });

  it("to a server whose certificate is not trusted", async () => {
    const port = await portOf(createHttpsServer(selfSigned));
    expect(await failureAt(`https://127.0.0.1:${port}`)).toMatchObject({
      outcome: "not_sent",
      attempts: 1,
      message: expect.stringContaining("(DEPTH_ZERO_SELF_SIGNED_CERT); nothing was sent."),
    });
  });

  it.each([
    ["closed", (socket: Socket) => socket.destroy()],
    ["reset", (socket: Socket) => socket.resetAndDestroy()],
  ] as const)("that is %s before the handshake has ended; it is tried again", async (_name, end) => {
    const port = await portOf(closeOnData(end));
    expect(await failureAt(`https://127.0.0.1:${port}`, 1)).toMatchObject({
      outcome: "not_sent",
      attempts: 2,
      message: `No connection to https://127.0.0.1:${port} could be made (ECONNRESET).`,
    });
  });

  it("to a port that fetch refuses; the client says so when it is created", async () => {
    for (const port of [1, 25, 6000, 6667, 10080])
      expect(() => createBursar({ baseUrl: `http://127.0.0.1:${port}`, credentials: () => "token" })).toThrow(
        expect.objectContaining({ code: "INVALID_ARGUMENT", outcome: "not_sent" }),
      );
  });
});

describe("a connection that is lost later may have sent the request", () => {
  it.each([
    ["closed", (socket: Socket) => socket.destroy()],
    ["reset", (socket: Socket) => socket.resetAndDestroy()],
  ] as const)("if it is %s after the request", async (_name, end) => {
    const port = await portOf(closeOnData(end));
    expect(await failureAt(`http://127.0.0.1:${port}`, 0)).toMatchObject({
      code: "CONNECTION_FAILED",
      outcome: "unknown",
      message: expect.stringContaining(`The connection to http://127.0.0.1:${port} was lost`),
    });
  });

  it("if it is reset inside TLS", async () => {
    const server = createHttpsServer(selfSigned, (request) => request.socket.destroy());
    const port = await portOf(server);
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    try {
      expect(await failureAt(`https://127.0.0.1:${port}`, 0)).toMatchObject({ outcome: "unknown" });
    } finally {
      delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    }
  });
});
