import { randomUUID } from "node:crypto";
import type { SigningIntent, Wallet } from "../src/signing/intent.js";

export const network = "eip155:31337";
export const gwei = 10n ** 9n;
export const destination = `0x${"d1".repeat(20)}`;
export const token = `0x${"70".repeat(20)}`;

export function newWallet(over: Partial<Wallet> = {}): Wallet {
  return { tenantId: randomUUID(), walletId: randomUUID(), network, ...over };
}

/** A payment of the coin from the wallet, unless it says otherwise. */
export function payment(
  wallet: Wallet & { readonly address: string },
  over: Partial<SigningIntent> = {},
): SigningIntent {
  const { tenantId, walletId, address } = wallet;
  return {
    tenantId,
    transactionId: randomUUID(),
    walletId,
    network: wallet.network,
    address,
    nonce: 0,
    purpose: "payment",
    contract: null,
    destination,
    amount: 1_000_000_000_000_000_000n,
    gasLimit: 21_000n,
    maxFeePerGas: 30n * gwei,
    maxPriorityFeePerGas: 2n * gwei,
    ...over,
  };
}

/** The same payment with fees that are higher by some percent. */
export function raised(
  intent: SigningIntent,
  percent: bigint,
  over: Partial<SigningIntent> = {},
): SigningIntent {
  return {
    ...intent,
    purpose: "replacement",
    maxFeePerGas: (intent.maxFeePerGas * (100n + percent)) / 100n,
    maxPriorityFeePerGas: (intent.maxPriorityFeePerGas * (100n + percent)) / 100n,
    ...over,
  };
}

export function cancellation(intent: SigningIntent, percent: bigint): SigningIntent {
  const empty = { purpose: "cancellation", contract: null, amount: 0n, gasLimit: 21_000n } as const;
  return raised(intent, percent, { ...empty, destination: intent.address });
}

/** As it is sent: amounts are strings. */
export function toJson(intent: SigningIntent): Record<string, unknown> {
  return JSON.parse(
    JSON.stringify(intent, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value)),
  ) as Record<string, unknown>;
}
