import { contracts } from "@bursar/devnet";
import { keccak256 } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { encodeCall, signPayment } from "../../harness/chain/devnet.js";
import { eventually } from "../../harness/eventually.js";
import type { Random } from "../../simulation/world/random.js";
import type { ProofChain } from "./proof-chain.js";
import type { ProofWallet } from "./proof-world.js";

export interface SentDeposit {
  hash: string;
  wallet: ProofWallet;
  asset: "ETH.DEV" | "USDC.DEV";
  amount: bigint;
}

interface Depositor {
  account: PrivateKeyAccount;
  /** Several deposits are signed at the same time, so a nonce is taken before its transaction is in the list. */
  nextNonce: number;
  /** By nonce. */
  raws: Map<number, `0x${string}`>;
}

const depositorCount = 4;
const batchMax = 200;
/** Above every fee of the proof. */
const maxFeePerGas = 2_000n * 10n ** 9n;

/** Outsiders that pay coins and tokens to the wallets. What a reorganisation or a node drops is sent again. */
export async function createDepositors(chain: ProofChain, wallets: readonly ProofWallet[], random: Random) {
  const depositors: Depositor[] = [];
  for (let count = 0; count < depositorCount; count++) {
    const account = privateKeyToAccount(generatePrivateKey());
    const { address } = account;
    await chain.fund({ address, asset: "ETH", amount: 10n ** 24n });
    await chain.fund({ address, asset: "USDC", amount: 10n ** 12n });
    depositors.push({ account, nextNonce: 0, raws: new Map() });
  }
  // A reorganisation that drops what the faucet has sent would leave them without coins for good.
  await eventually(
    () => chain.status(),
    ({ isResting }) => isResting,
  );
  const sent: SentDeposit[] = [];

  const post = async (calls: readonly { method: string; params: readonly unknown[] }[]) => {
    const body = calls.map((call, id) => ({ jsonrpc: "2.0", id, ...call }));
    const headers = { "content-type": "application/json" };
    const answer = await fetch(chain.outsideUrl, { method: "POST", headers, body: JSON.stringify(body) });
    return (await answer.json()) as { id: number; result?: unknown }[];
  };

  async function send(raws: readonly string[]): Promise<void> {
    for (let start = 0; start < raws.length; start += batchMax)
      await post(
        raws
          .slice(start, start + batchMax)
          .map((raw) => ({ method: "eth_sendRawTransaction", params: [raw] })),
      ).catch(() => undefined);
  }

  /** How many of a depositor's transactions are in a block. */
  async function used({ account }: Depositor): Promise<number> {
    const call = { method: "eth_getTransactionCount", params: [account.address, "latest"] };
    const [answer] = await post([call]).catch(() => []);
    return Number(answer?.result ?? 0);
  }

  return {
    sent: sent as readonly SentDeposit[],
    deposit: async (count: number): Promise<void> => {
      for (let index = 0; index < count; index++) {
        const depositor = random.pick(depositors);
        const wallet = random.pick(wallets);
        const asset = random.chance(0.5) ? "ETH.DEV" : "USDC.DEV";
        const amount = BigInt(random.between(1, 1000));
        const nonce = depositor.nextNonce++;
        const call =
          asset === "ETH.DEV"
            ? { to: wallet.address, value: amount }
            : { to: contracts.USDC.address, data: encodeCall("transfer", [wallet.address, amount]) };
        const raw = await signPayment(depositor.account, { ...call, nonce, gas: 90_000n, maxFeePerGas });
        depositor.raws.set(nonce, raw);
        sent.push({ hash: keccak256(raw), wallet, asset, amount });
        await send([raw]);
      }
    },
    /** Sends again what is in no block. Returns how many there are. */
    insist: async (): Promise<number> => {
      let missing = 0;
      for (const depositor of depositors) {
        const first = await used(depositor);
        missing += depositor.nextNonce - first;
        const rest: string[] = [];
        for (let raw = depositor.raws.get(first); raw !== undefined && rest.length < batchMax; ) {
          rest.push(raw);
          raw = depositor.raws.get(first + rest.length);
        }
        await send(rest);
      }
      return missing;
    },
  };
}
