import type { ChainNode } from "../../../src/app/chain/chain-node.js";
import type { Signer } from "../../../src/app/chain/signer.js";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../eventually.js";
import { type ChainService, type ChainWallet, startChainService } from "./chain-service.js";
import { modelCoin } from "./model-chain.js";
import { modelNetwork } from "./model-network.js";
import { createModelSigner } from "./model-signer.js";

/** An address that is not ours. */
export const outside = `0x${"e".repeat(40)}`;

/** What a test changes while the driver runs; each starts as the honest one. */
interface ChangingPorts {
  node: ChainNode;
  signer: Pick<Signer, "sign"> & Partial<Signer>;
}

/** A chain service whose driver runs, for a whole file of tests. */
export interface DrivenChain extends ChainService {
  tenantId: string;
  /** Assign to it to change what the driver reaches. */
  ports: ChangingPorts;
  honest: { node: ChainNode; signer: Signer };
  mine: (blocks?: number) => void;
  /** A wallet with coins. */
  createFunded: (amount?: bigint) => Promise<ChainWallet>;
  until: (id: string, state: string) => ReturnType<ChainService["read"]>;
  inPool: (count: number) => Promise<unknown>;
  /** Mines until everything so far is final and settled. */
  settle: () => Promise<void>;
  /** The nonce that a payment was given; null before. */
  nonceOf: (id: string) => Promise<number | null>;
}

export async function startDrivenChain(): Promise<DrivenChain> {
  const service = await startChainService();
  const honest = { node: service.node, signer: createModelSigner(async () => undefined) };
  const ports = { ...honest };
  const tenantId = await service.createTenant();
  service.startDriver({
    node: forward(() => ports.node),
    signer: forward<Signer>(() => ({ ...honest.signer, ...ports.signer })),
  });
  const position = () => service.store.readPosition(modelNetwork);
  await eventually(position, (one) => one !== undefined);
  const mine = (blocks = 1) => {
    for (let block = 0; block < blocks; block++) service.chain.mine((_, isReplaced) => !isReplaced);
  };
  return {
    ...{ ...service, tenantId, ports, honest, mine },
    createFunded: async (amount = 1_000_000_000_000n) => {
      const wallet = await service.createWallet(tenantId);
      service.chain.pay([{ asset: modelCoin, from: outside, to: wallet.address, amount }]);
      mine(5);
      await eventually(
        () => service.booked(wallet, modelCoin),
        (booked) => booked === amount,
      );
      return wallet;
    },
    until: (id, state) =>
      eventually(
        () => service.read(id),
        (one) => one.state === state,
      ),
    inPool: (count) =>
      eventually(
        async () => service.chain.pool().length,
        (length) => length === count,
      ),
    settle: async () => {
      mine(5);
      const { number } = service.chain.final();
      await eventually(position, (one) => (one?.settledNumber ?? 0) >= number);
    },
    nonceOf: async (id) => {
      const [row] = await service.database.query<{ nonce: string | null }>(
        sql`SELECT nonce FROM chain_payments WHERE transaction_id = ${id}`,
      );
      return row?.nonce == null ? null : Number(row.nonce);
    },
  };
}

/** An object whose methods are those that the current one has. */
function forward<T extends object>(current: () => T): T {
  return new Proxy({} as T, { get: (_, name) => Reflect.get(current(), name) });
}
