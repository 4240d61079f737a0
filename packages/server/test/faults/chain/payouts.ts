import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isBursarError } from "@bursar/client";
import type { Random } from "../../simulation/world/random.js";
import type { ProofWallet, ProofWorld } from "./proof-world.js";

/** One payment that a client has asked for, until it was answered with 202. */
export interface RequestedPayment {
  key: string;
  source: ProofWallet;
  asset: "ETH.DEV" | "USDC.DEV";
  /** In base units. */
  amount: bigint;
  /** An address that nobody else pays, unless it is a wallet of the proof. */
  address: string;
  /** The ids of all 202 responses; more than one is a double payment. */
  ids: Set<string>;
}

const decimals = { "ETH.DEV": 18, "USDC.DEV": 6 } as const;
const sendersMax = 16;
const timeoutMs = 20_000;
/** One payment in 25 each. */
const wishes = ["cancel", "speed-up"] as const;

/** Pays from wallets of the proof. A client without a response repeats its request until it gets one. */
export function createPayer(world: ProofWorld, seed: number, random: Random) {
  const requested: RequestedPayment[] = [];
  let refused = 0;

  async function attempt(payment: RequestedPayment): Promise<boolean> {
    const { key, asset, amount, source, address } = payment;
    const body = {
      reference: key,
      asset,
      amount: decimalOf(amount, decimals[asset]),
      source: { wallet_id: source.id },
      destination: { address },
    };
    try {
      const { transactions } = world.bursarOf(source.tenant);
      payment.ids.add((await transactions.create(body, { idempotencyKey: key, timeoutMs })).id);
      return true;
    } catch (error) {
      if (!isBursarError(error)) throw error;
      const { status = 0 } = error;
      if (status >= 400 && status < 429 && status !== 408)
        throw new Error(`a payment was refused with ${status}`, { cause: error });
      refused += 1;
      return false;
    }
  }

  function draw(): RequestedPayment {
    const source = random.pick(world.wallets);
    const key = `chain-${seed}-${requested.length}`;
    const others = world.wallets.filter(({ id }) => id !== source.id);
    const outside = `0x${createHash("sha256").update(key).digest("hex").slice(0, 40)}`;
    const asset = random.chance(0.5) ? "ETH.DEV" : "USDC.DEV";
    const amount = BigInt(random.between(1, 1000));
    // Some go to a wallet of the same tenant, which is a transfer, or of the other one, where it is a deposit.
    const address = random.chance(0.1) ? random.pick(others).address : outside;
    return { key, source, asset, amount, address, ids: new Set() };
  }

  async function ask(payment: RequestedPayment, what: "cancel" | "speed-up"): Promise<void> {
    const [id = ""] = payment.ids;
    await sleep(random.between(0, 1500));
    const { transactions } = world.bursarOf(payment.source.tenant);
    await (what === "cancel"
      ? transactions.cancel(id, { timeoutMs })
      : transactions.speedUp(id, { timeoutMs })
    ).catch(() => undefined);
  }

  return {
    requested: requested as readonly RequestedPayment[],
    /** How many requests were repeated because they had no answer, or not a 202. */
    repeated: () => refused,
    /** Resolves when all of them were answered with 202. */
    pay: async (count: number): Promise<void> => {
      const batch = Array.from({ length: count }, () => {
        const payment = draw();
        requested.push(payment);
        return payment;
      });
      let next = 0;
      const later: Promise<void>[] = [];
      const send = async () => {
        for (let payment = batch[next++]; payment !== undefined; payment = batch[next++]) {
          while (!(await attempt(payment))) await sleep(50);
          if (random.chance(0.05)) await attempt(payment);
          const what = wishes[random.between(0, 24)];
          if (what !== undefined) later.push(ask(payment, what));
        }
      };
      await Promise.all(Array.from({ length: sendersMax }, send));
      await Promise.all(later);
    },
  };
}

function decimalOf(amount: bigint, places: number): string {
  const digits = amount.toString().padStart(places + 1, "0");
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`.replace(/\.?0+$/, "");
}
