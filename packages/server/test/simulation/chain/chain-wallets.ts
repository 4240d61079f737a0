import type { AcceptedTransaction } from "../../../src/app/transactions/transaction.js";
import { falseToken, type ModelChain, modelCoin } from "../../harness/chain/model-chain.js";
import { modelAssets, modelChainNetwork } from "../../harness/chain/model-network.js";
import { chainWallets } from "../database/simulated-chain-tables.js";
import type { SimulatedDatabase } from "../database/simulated-database.js";
import type { Table } from "../database/simulated-rows.js";
import { accounts, keyOf, wallets as walletTable } from "../database/simulated-tables.js";
import type { Random } from "../world/random.js";

export const usdc = "USDC.SIM";
export const outsideAddress = `0x${"e".repeat(40)}`;
const tenants = ["00000000-0000-7000-8000-0000000000a1", "00000000-0000-7000-8000-0000000000b2"];

export interface OwnWallet {
  tenantId: string;
  walletId: string;
  address: string;
}

/** Two wallets for each tenant, with books that are equal to the chain. */
export function openWallets(
  database: SimulatedDatabase,
  chain: ModelChain,
  random: Random,
  nowMs: number,
): OwnWallet[] {
  const put = <Row>({ name }: Table<Row>, key: string, row: Row) =>
    database.tables.set(name, (database.tables.get(name) ?? new Map<string, unknown>()).set(key, row));
  const createdAt = new Date(nowMs);
  const opened = tenants.flatMap((tenantId, tenant) =>
    [0, 1].map((index) => {
      const walletId = `${tenantId.slice(0, -2)}${index}${tenantId.slice(-1)}`;
      const address = `0x${`${tenant}${index}`.padStart(40, "a")}`;
      put(walletTable, keyOf(tenantId, walletId), {
        ...{ tenantId, id: walletId, name: "chain", purpose: "treasury", network: modelChainNetwork.network },
        ...{
          role: null,
          state: "active",
          frozen: false,
          frozenReason: null,
          version: 2,
          address: null,
          createdBy: null,
          requestHash: null,
        },
        ...{ createdAt, updatedAt: createdAt },
      });
      put(chainWallets, keyOf(tenantId, walletId), {
        ...{
          tenantId,
          walletId,
          address,
          nextNonce: 0,
          finalNonce: 0,
          reclaimedFrom: null,
          haltedCode: null,
          haltedReason: null,
          statedNonce: null,
          comparedNumber: -1,
          confirmedEpoch: 1,
        },
      });
      return { tenantId, walletId, address };
    }),
  );
  for (const { tenantId, walletId, address } of opened)
    for (const asset of [modelCoin, usdc, falseToken]) {
      const coins = random.chance(0.15)
        ? random.between(0, 20_000_000)
        : random.between(1, 4) * 1_000_000_000;
      const amount = BigInt(asset === modelCoin ? coins : random.between(0, 3000));
      chain.credit(address, asset, amount);
      put(accounts, keyOf(tenantId, walletId, asset), { available: amount, held: 0n });
    }
  return opened;
}

export function drawPayment(
  source: OwnWallet,
  wallets: readonly OwnWallet[],
  random: Random,
  id: string,
  nowMs: number,
): AcceptedTransaction {
  const code = random.pick([modelCoin, modelCoin, usdc, usdc, falseToken]);
  const asset = modelAssets.find(code);
  if (asset === undefined) throw new Error(`there is no asset ${code}`);
  const others = wallets.filter(({ walletId }) => walletId !== source.walletId);
  const own = others.filter(({ tenantId }) => tenantId === source.tenantId);
  const wallet = { walletId: source.walletId };
  const foreign = random.pick(others.filter(({ tenantId }) => tenantId !== source.tenantId));
  const address = random.pick([outsideAddress, outsideAddress, foreign.address, `0x${"e".repeat(36)}dead`]);
  const parties: AcceptedTransaction["parties"] = random.chance(0.3)
    ? { kind: "transfer", source: wallet, destination: { walletId: random.pick(own).walletId } }
    : { kind: "payout", source: wallet, destination: { address } };
  return {
    ...{ tenantId: source.tenantId, id, idempotencyKey: id, requestHash: "00", reference: "simulated" },
    ...{ asset, amount: BigInt(random.between(1, 900)), parties, clientId: source.tenantId, metadata: null },
    expiresAt: random.chance(0.15) ? new Date(nowMs + random.between(100, 3000)) : null,
    ...{ policyVersion: 0, policyRule: null, needsJudgement: false, createdAt: new Date(nowMs) },
  };
}

/** What somebody outside pays in one transaction; what is hidden is moved by a contract, so that no scan sees it. */
export function drawDeposit(wallets: readonly OwnWallet[], random: Random) {
  const to = () => random.pick(wallets).address;
  const transfers = Array.from({ length: random.between(1, 3) }, (_, index) => ({
    asset: index === 0 && random.chance(0.5) ? modelCoin : usdc,
    ...{ from: outsideAddress, to: to(), amount: BigInt(random.between(0, 400)) },
  }));
  const hidden = random.chance(0.2)
    ? [{ asset: modelCoin, from: outsideAddress, to: to(), amount: BigInt(random.between(1, 900)) }]
    : [];
  return { transfers, hidden };
}
