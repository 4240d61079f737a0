import { expect, it } from "vitest";
import type { SentPayment } from "../../../app/chain/chain-store.js";
import type { DriverContext } from "./driver-context.js";
import { sendPayments } from "./send-payments.js";

const paymentOf = (wallet: number, nonce: number) =>
  ({ walletId: `wallet ${wallet}`, hash: `${wallet} ${nonce}` }) as SentPayment;

it.each([
  ["one by one, without a pool", false, 8],
  ["together", true, 100],
])("keeps the lease while payments are sent %s, and ends when it is lost", async (_how, hasPool, partMax) => {
  const payments = Array.from({ length: 50 }, (_, wallet) =>
    [0, 1, 2].map((nonce) => paymentOf(wallet, nonce)),
  ).flat();
  const sent: string[] = [];
  const renewedAt: number[] = [];
  const context = {
    network: { network: "eip155:1", hasPool },
    store: {
      readBytes: async (_: string, hashes: readonly string[]) => new Map(hashes.map((hash) => [hash, hash])),
    },
    node: {
      send: async (bytes: readonly string[]) => {
        sent.push(...bytes);
        return bytes.map(() => "taken");
      },
    },
  } as unknown as DriverContext;
  const chain = { headNumber: 1, keepLease: async () => void renewedAt.push(sent.length) };
  const sentAt = new Map();
  await sendPayments(context, chain, payments, { sentAt, monotonicMs: 0 });
  expect(new Set(sent)).toEqual(new Set(payments.map(({ hash }) => hash)));
  const longest = [...renewedAt, sent.length].map((count, index, all) => count - (all[index - 1] ?? 0));
  expect(Math.max(...longest)).toBeLessThanOrEqual(partMax);
  for (const nonce of [0, 1]) {
    const after = sent.findIndex((hash) => hash === `7 ${nonce + 1}`);
    expect(sent.indexOf(`7 ${nonce}`)).toBeLessThan(after);
  }
  sent.length = 0;
  const lost = async () => {
    if (sent.length >= 20) throw new Error("the lease is lost");
  };
  const again = sendPayments(context, { ...chain, keepLease: lost }, payments, {
    sentAt: new Map(),
    monotonicMs: 0,
  });
  await expect(again).rejects.toThrow("the lease is lost");
  expect(sent.length).toBeLessThan(20 + partMax);
});
