import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createWalletActivator } from "../../../../src/app/chain/activate-wallets.js";
import { createSignerClient } from "../../../../src/rails/evm/signer-client.js";
import { nodeTimers } from "../../../../src/runtime/loops/timers.js";
import { eventually } from "../../../harness/eventually.js";

const network = "eip155:1";
const listedMax = 256;

/** A signer that has signed the nonces up to 1000 for every wallet, and lists 256 of them in an answer. */
async function startBusySigner() {
  const longest = { bytes: 0 };
  const signedFrom = ({ nonce: from }: { nonce: number }) =>
    Array.from({ length: Math.min(listedMax, Math.max(0, 1000 - from)) }, (_, index) => ({
      ...{ nonce: from + index, transactionId: randomUUID() },
    }));
  const socketPath = join(mkdtempSync(join(tmpdir(), "busy-signer-")), "s");
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { wallets } = JSON.parse(Buffer.concat(chunks).toString() || "{}");
    const contents: Record<string, () => unknown> = {
      "/health": () => ({ status: "ready", keyId: "key", runId: "run", wallets: 1000, signatures: 1 }),
      "/signed": () => ({ signed: wallets.map(signedFrom) }),
      "/addresses": () => ({ addresses: wallets.map(() => `0x${"c".repeat(40)}`) }),
    };
    const text = JSON.stringify(contents[request.url ?? ""]?.());
    longest.bytes = Math.max(longest.bytes, text.length);
    response.writeHead(200, { "content-type": "application/json" }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  onTestFinished(() => void server.close());
  const client = createSignerClient({ socketPath });
  onTestFinished(client.close);
  return { client, longest };
}

const walletsOf = (count: number) =>
  Array.from({ length: count }, () => ({ tenantId: randomUUID(), id: randomUUID(), network }));

it("gives addresses to wallets of 100 tenants at once that have signed much", async () => {
  const { client, longest } = await startBusySigner();
  const [creating, newest] = [walletsOf(100), walletsOf(100)];
  const activated: string[] = [];
  const errors: string[] = [];
  const loop = createWalletActivator({
    listFollowed: async () => [network],
    store: {
      listCreating: async () => (activated.length === 0 ? creating : []),
      activate: async (wallets) => activated.push(...wallets.map(({ id }) => id)),
      recordFailure: async () => undefined,
      countAddressed: async () => 100,
      listNewest: async () => newest,
    },
    ...{ signer: client, showAddress: (address: string) => address, isUnavailable: () => true },
    ...{ onFailure: () => undefined, onError: (error) => errors.push((error as Error).message) },
    ...{ now: Date.now, timers: nodeTimers },
  });
  onTestFinished(loop.stop);
  loop.start();
  await eventually(
    () => activated.length + errors.length,
    (count) => count > 0,
  );
  expect({ activated, errors }).toEqual({ activated: creating.map(({ id }) => id), errors: [] });
  expect(longest.bytes).toBeLessThan(100_000);
});

it("lists what was signed for many wallets within the bound of an answer", async () => {
  const { client, longest } = await startBusySigner();
  const asked = walletsOf(100).map(({ tenantId, id }) => ({ tenantId, walletId: id, network, nonce: 0 }));
  const answers = await client.signedFrom(asked);
  expect(answers.map((answer) => ("refused" in answer ? 0 : answer.length))).toEqual(
    asked.map(() => listedMax),
  );
  expect(longest.bytes).toBeLessThan(1 << 20);
});
