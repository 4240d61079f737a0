import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { createSecureContext, type SecureContext } from "node:tls";
import { parseWebhookSecret, verifyStandardWebhook, verifyWebhookMessage } from "@bursar/protocol";
import { webhookHashes } from "../../src/app/webhooks/webhook-hashes.js";
import { createTestAuthority } from "../harness/webhooks/test-certificates.js";
import { createArrivals } from "./arrivals.js";

/** The faults of a receiver, with their percentages. All other requests are answered normally. */
const faults = {
  serverError: 8,
  tooManyRequests: 2,
  reset: 4,
  resetAfterStatus: 4,
  hang: 1,
  slowDrip: 3,
} as const;
type Behaviour = keyof typeof faults | "proper";

/** Limits the number of failed attempts, so that no delivery runs out of attempts by chance. */
const faultsPerDeliveryMax = 5;
/**
 * Limits how long the service pauses an endpoint. After a restart one that was failing is tried with one request at a time, and each
 * failure doubles the pause of 10 seconds: without a limit, about one run in ten waits for more than a minute.
 */
const failuresInARowMax = 3;
const wrongCertificateShare = 0.3;
/** A hanging request occupies one of the endpoint's concurrent requests. It ends with a reset, as when a machine restarts. */
const hangMs = 1500;
const dripMs = 20;

/** Many receivers in one server: every endpoint has its own path, some use TLS, and all fail at random. */
export interface FaultReceiver {
  arrivals: ReturnType<typeof createArrivals>;
  /** The certificate authority that the service must trust. */
  ca: string;
  /** The URL of an endpoint; every tenth uses TLS. */
  urlOf: (number: number) => string;
  learnSecret: (number: number, secret: string) => void;
  close: () => Promise<void>;
}

export async function startFaultReceiver(random: () => number, endpoints: number): Promise<FaultReceiver> {
  const authority = createTestAuthority();
  const stranger = createTestAuthority("Somebody Else");
  const contexts = {
    right: createSecureContext(authority.issue({ names: ["localhost"] })),
    wrong: createSecureContext(stranger.issue({ names: ["localhost"] })),
  };
  const arrivals = createArrivals();
  const secrets = new Map<string, Uint8Array>();
  const faultsByDelivery = new Map<string, number>();
  /** By path. */
  const failuresInARow = new Map<string, number>();
  /** The sockets below those of TLS, which cannot be reset. */
  const sockets = new Map<string, Socket>();

  const mayFail = (endpoint: string) => (failuresInARow.get(endpoint) ?? 0) < failuresInARowMax;
  const note = (endpoint: string, isFailure: boolean) =>
    failuresInARow.set(endpoint, isFailure ? (failuresInARow.get(endpoint) ?? 0) + 1 : 0);

  const handle = (request: IncomingMessage, response: ServerResponse) => {
    // A sender that is killed while it sends is expected.
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const endpoint = request.url ?? "";
      const id = String(request.headers["webhook-id"]);
      const { event, data } = JSON.parse(body);
      if (event === "endpoint.challenge") {
        response.end(data.challenge);
        return;
      }
      const before = mayFail(endpoint) ? (faultsByDelivery.get(id) ?? 0) : faultsPerDeliveryMax;
      const behaviour = choose(random, before);
      note(endpoint, !succeeds(behaviour));
      const arrival = arrivals.add({
        endpoint,
        id,
        body,
        attempt: String(request.headers["webhook-attempt"]),
        behaviour,
        isVerified: isVerified(request, body, secrets.get(endpoint)),
      });
      if (behaviour !== "proper") faultsByDelivery.set(id, (faultsByDelivery.get(id) ?? 0) + 1);
      const reset = () => sockets.get(connectionOf(request.socket))?.resetAndDestroy();
      respond(behaviour, response, reset, () => arrivals.settle(arrival));
    });
  };

  const plain = createServer(handle);
  /** One for each endpoint, because a connection with a wrong certificate is closed before it names a path. */
  const secured = Array.from({ length: endpoints }, (_, number) => number)
    .filter(usesTls)
    .map((number) => {
      const chooseContext = () => {
        const isWrong = random() < wrongCertificateShare && mayFail(pathOf(number));
        if (isWrong) note(pathOf(number), true);
        return isWrong ? contexts.wrong : contexts.right;
      };
      const SNICallback = (_name: string, callback: (error: null, context: SecureContext) => void) =>
        callback(null, chooseContext());
      return createTlsServer({ SNICallback }, handle).on("tlsClientError", () => undefined);
    });
  const servers: Server[] = [plain, ...secured];
  for (const server of servers) {
    server.on("connection", (socket: Socket) => {
      const connection = connectionOf(socket);
      sockets.set(connection, socket);
      socket.on("error", () => undefined);
      socket.on("close", () => sockets.delete(connection));
    });
  }
  const [plainPort, ...securedPorts] = await Promise.all(servers.map(listen));

  return {
    arrivals,
    ca: authority.ca,
    urlOf: (number) =>
      usesTls(number)
        ? `https://localhost:${securedPorts[Math.floor(number / 10)]}${pathOf(number)}`
        : `http://127.0.0.1:${plainPort}${pathOf(number)}`,
    learnSecret: (number, secret) => {
      secrets.set(pathOf(number), parseWebhookSecret(secret) ?? new Uint8Array());
    },
    close: async () => {
      for (const server of servers) {
        const closed = new Promise((resolve) => server.close(resolve));
        server.closeAllConnections();
        await closed;
      }
    },
  };
}

const pathOf = (number: number) => `/endpoints/${number}`;
const connectionOf = ({ localPort, remotePort }: Socket) => `${localPort} ${remotePort}`;
const usesTls = (number: number) => number % 10 === 9;
const succeeds = (behaviour: Behaviour) => behaviour === "proper" || behaviour === "slowDrip";

function choose(random: () => number, faultsBefore: number): Behaviour {
  let left = random() * 100;
  if (faultsBefore >= faultsPerDeliveryMax) return "proper";
  for (const [name, share] of Object.entries(faults) as [keyof typeof faults, number][]) {
    left -= share;
    if (left < 0) return name;
  }
  return "proper";
}

/** `settle` is called when a complete 2xx response has been written to the socket. */
function respond(
  behaviour: Behaviour,
  response: ServerResponse,
  reset: () => void,
  settle: () => void,
): void {
  switch (behaviour) {
    case "proper":
      response.writeHead(200).end("ok", settle);
      return;
    case "serverError":
      response.writeHead(500 + (response.req.headers["webhook-attempt"] === "1" ? 3 : 0)).end("not now");
      return;
    case "tooManyRequests":
      response.writeHead(429, { "retry-after": "0" }).end();
      return;
    case "reset":
      reset();
      return;
    case "resetAfterStatus":
      response.writeHead(200, { "content-length": "1000" });
      response.write("the rest never comes", reset);
      return;
    case "hang":
      setTimeout(reset, hangMs);
      return;
    case "slowDrip":
      response.writeHead(200);
      for (let drop = 1; drop < 5; drop++) setTimeout(() => response.write("."), drop * dripMs);
      setTimeout(() => response.end(settle), 5 * dripMs);
      return;
  }
}

function isVerified(request: IncomingMessage, body: string, secret: Uint8Array | undefined): boolean {
  if (secret === undefined) return false;
  const headers = request.headers as Record<string, string | undefined>;
  const clock = { nowSeconds: Math.floor(Date.now() / 1000), toleranceSeconds: 300 };
  const standard = {
    id: headers["webhook-id"] ?? "",
    timestamp: headers["webhook-timestamp"] ?? "",
    signature: headers["webhook-signature"] ?? "",
    body,
    secrets: [secret],
  };
  return (
    verifyStandardWebhook(standard, clock, webhookHashes).verified &&
    verifyWebhookMessage({ headers, body, secrets: [secret] }, clock, webhookHashes).verified
  );
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}
