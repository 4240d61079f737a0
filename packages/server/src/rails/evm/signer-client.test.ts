import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SpawnedSigner, spawnSigner } from "@bursar/signer";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { SignerUnavailableError, type SigningIntent } from "../../app/chain/signer.js";
import { createSignerClient, type SignerClient } from "./signer-client.js";

const network = "eip155:31337";
const clients: SignerClient[] = [];

function clientOf(socketPath: string, over: Partial<Parameters<typeof createSignerClient>[0]> = {}) {
  const client = createSignerClient({ socketPath, ...over });
  clients.push(client);
  return client;
}

function payment(
  wallet: { tenantId: string; walletId: string },
  address: string,
  nonce: number,
): SigningIntent {
  return {
    ...wallet,
    network,
    transactionId: randomUUID(),
    address,
    nonce,
    purpose: "payment",
    contract: null,
    destination: `0x${"d1".repeat(20)}`,
    amount: 2n ** 200n,
    gasLimit: 21_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
  };
}

afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

describe("a signer behind its socket", () => {
  let signer: SpawnedSigner;
  const wallet = { tenantId: randomUUID(), walletId: randomUUID() };
  beforeAll(async () => {
    signer = await spawnSigner();
  });
  afterAll(async () => {
    await signer.stop();
  });

  it("gives addresses and signs, in the order given, more than one request takes", async () => {
    const client = clientOf(signer.socketPath);
    const [address = ""] = await client.addressesOf([{ ...wallet, network }]);
    const intents = Array.from({ length: 210 }, (_, nonce) => payment(wallet, address, nonce));
    const answers = await client.sign(intents);
    expect(answers.length).toBe(210);
    expect(new Set(answers.map((answer) => ("hash" in answer ? answer.hash : ""))).size).toBe(210);
    expect((await client.sign([...intents].reverse())).reverse()).toEqual(answers);
    expect(await client.sign([payment(wallet, address, 0)])).toMatchObject([{ refused: "NONCE_USED" }]);
    expect(await client.sign([])).toEqual([]);
    expect(await client.health()).toEqual({ isReady: true, reason: null });
  });

  it("is asked again if it was restarted while a connection was kept open", async () => {
    const client = clientOf(signer.socketPath);
    const [address = ""] = await client.addressesOf([{ ...wallet, network }]);
    const intent = payment(wallet, address, 1000);
    const signed = await client.sign([intent]);
    await signer.kill();
    const { folder, keyFile, socketPath } = signer;
    signer = await spawnSigner({ folder, keyFile, socketPath });
    expect(await client.sign([intent])).toEqual(signed);
  });

  it("is not ready if its seed is sealed with a key of the service", async () => {
    const health = await fetchKeyId(signer.socketPath);
    const client = clientOf(signer.socketPath, { forbiddenKeyIds: ["0123456789abcdef", health] });
    expect(await client.health()).toEqual({
      isReady: false,
      reason: expect.stringContaining("sealed with the master key of the service"),
    });
  });

  it("says which wallet it refuses, and is not unavailable because of it", async () => {
    const client = clientOf(signer.socketPath);
    await client.addressesOf([{ ...wallet, network }]);
    const refused = client.addressesOf([{ ...wallet, network: "eip155:1" }]);
    await expect(refused).rejects.toThrow("belongs to eip155:31337");
    await expect(refused).rejects.not.toBeInstanceOf(SignerUnavailableError);
  });
});

describe("a signer that fails", () => {
  const servers: Server[] = [];
  async function failing(listener: RequestListener): Promise<SignerClient> {
    const socketPath = join(mkdtempSync(join(tmpdir(), "signer-")), "socket");
    const server = createServer(listener);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    return clientOf(socketPath, { timeoutMs: 1000 });
  }
  const answering = (status: number, body: unknown) =>
    failing((_, response) => response.writeHead(status).end(JSON.stringify(body)));
  const intent = payment({ tenantId: randomUUID(), walletId: randomUUID() }, `0x${"a1".repeat(20)}`, 0);
  afterAll(() => {
    for (const server of servers) server.closeAllConnections();
    for (const server of servers) server.close();
  });

  it("is unavailable if it does not listen", async () => {
    const client = clientOf(join(tmpdir(), "no-signer-here"));
    await expect(client.sign([intent])).rejects.toThrow(SignerUnavailableError);
    expect(await client.health()).toMatchObject({
      isReady: false,
      reason: expect.stringContaining("ENOENT"),
    });
  });

  it("is unavailable if it does not answer in time", async () => {
    const client = await failing(() => {});
    await expect(client.sign([intent])).rejects.toThrow("no answer within 1000 ms");
  });

  it("is unavailable if it cuts the connection", async () => {
    const client = await failing((request) => request.socket.destroy());
    await expect(client.sign([intent])).rejects.toThrow(SignerUnavailableError);
  });

  it("is unavailable if its answer is too long", async () => {
    const client = await failing((_, response) => response.end("x".repeat(3_000_000)));
    await expect(client.sign([intent])).rejects.toThrow("its answer is too long");
  });

  it.each([
    ["names what it has signed instead", { nonce: 5, transactionId: randomUUID() }, true],
    ["is of an earlier version", undefined, false],
    ["names no nonce", { nonce: -1, transactionId: randomUUID() }, false],
    ["names no transaction", { nonce: 5, transactionId: 7 }, false],
  ])("is understood if it refuses and %s", async (_, signed, isRead) => {
    const refusal = { refused: "NONCE_USED", reason: "It was signed before." };
    const client = await answering(200, { answers: [{ ...refusal, signed }] });
    expect(await client.sign([intent])).toEqual([isRead ? { ...refusal, signed } : refusal]);
  });

  const hash = `0x${"ab".repeat(32)}`;
  it.each<[string, number, unknown]>([
    ["a failure", 503, { error: "The signer has too many requests." }],
    ["nothing", 200, null],
    ["too few answers", 200, { answers: [] }],
    [
      "too many answers",
      200,
      {
        answers: [
          { bytes: "0x02ab", hash },
          { bytes: "0x02ab", hash },
        ],
      },
    ],
    ["bytes of another type", 200, { answers: [{ bytes: "0x01ab", hash }] }],
    ["no hash", 200, { answers: [{ bytes: "0x02ab" }] }],
    ["an unknown refusal", 200, { answers: [{ refused: "toString", reason: "" }] }],
  ])("is unavailable if it answers with %s", async (_, status, body) => {
    const client = await answering(status, body);
    await expect(client.sign([intent])).rejects.toThrow(SignerUnavailableError);
  });

  it("has limits of its own for a network, and none if it says none", async () => {
    const limits = {
      perGas: { standard: "7", networks: { "eip155:1": "5" } },
      perTransaction: { standard: "9", networks: {} },
    };
    const client = await answering(200, { status: "ready", limits });
    expect(await client.readLimits("eip155:1")).toEqual({ perGas: 5n, perTransaction: 9n });
    expect(await client.readLimits("eip155:2")).toEqual({ perGas: 7n, perTransaction: 9n });
    expect(await (await answering(200, { status: "ready" })).readLimits("eip155:1")).toBeUndefined();
    expect(await (await answering(500, null)).readLimits("eip155:1")).toBeUndefined();
  });

  it("gives no address that is not one", async () => {
    const client = await answering(200, { addresses: ["0xABCD"] });
    await expect(client.addressesOf([intent])).rejects.toThrow(SignerUnavailableError);
  });
});

async function fetchKeyId(socketPath: string): Promise<string> {
  const { request } = await import("node:http");
  return new Promise((resolve, reject) => {
    request({ socketPath, path: "/health", agent: false }, (response) => {
      response.setEncoding("utf8").on("data", (text: string) => {
        resolve((JSON.parse(text) as { keyId: string }).keyId);
      });
    })
      .once("error", reject)
      .end();
  });
}
