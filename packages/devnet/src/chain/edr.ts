import { RpcError } from "../rpc-error.js";
import { deployer, faucet } from "./accounts.js";
import { type EdrBinding, loadEdr } from "./edr-binding.js";

/** What decides the genesis block. It is stored with the chain and cannot change. */
export interface ChainIdentity {
  readonly chainId: number;
  /** `op` charges a data fee for each transaction, as chains of the OP stack do. */
  readonly kind: "l1" | "op";
}

/** The EVM: a JSON-RPC provider inside this process. An error response is thrown as `RpcError`. */
export interface Edr {
  readonly request: (method: string, params?: readonly unknown[]) => Promise<unknown>;
}

/** 2026-09-21. It is fixed, so that two new chains with the same id begin with the same blocks. */
export const genesisTime = 1_790_000_000;
const blockGasLimit = 30_000_000n;
const initialBaseFee = 10n ** 9n;

/** A process can hold one chain, because EDR allows one context for each process. */
export async function createEdr(identity: ChainIdentity): Promise<Edr> {
  const edr = loadEdr();
  const { chainType, factory, hardfork, genesisState } = describeKind(edr, identity.kind);
  const context = new edr.EdrContext();
  await context.registerProviderFactory(chainType, factory);
  const provider = await context.createProvider(
    chainType,
    {
      allowBlocksWithSameTimestamp: false,
      allowUnlimitedContractSize: false,
      bailOnCallFailure: true,
      bailOnTransactionFailure: false,
      chainId: BigInt(identity.chainId),
      networkId: BigInt(identity.chainId),
      coinbase: Buffer.alloc(20),
      defaultTransactionGasLimit: 16_000_000n,
      minGasPrice: 0n,
      hardfork,
      initialBaseFeePerGas: initialBaseFee,
      genesisState: [...genesisState, ...[faucet, deployer].map(fundedAtGenesis)],
      mining: { autoMine: false, blockGasLimit, memPool: { order: edr.MineOrdering.Fifo } },
      network: {
        genesisBlobGas: { gasUsed: 0n, excessGas: 0n },
        genesisBlockGasLimit: blockGasLimit,
        genesisBlockTime: BigInt(genesisTime),
      },
      observability: {},
      ownedAccounts: [],
      precompileOverrides: [],
    },
    { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => {} },
    { subscriptionCallback: () => {} },
    new edr.ContractDecoder(),
  );
  return {
    request: async (method, params = []) => readResponse(await provider.handleRequest(write(method, params))),
  };
}

function describeKind(edr: EdrBinding, kind: ChainIdentity["kind"]) {
  if (kind === "op") {
    const hardfork = edr.opLatestHardfork();
    return {
      chainType: edr.OP_CHAIN_TYPE,
      factory: edr.opProviderFactory(),
      hardfork: edr.opHardforkToString(hardfork),
      genesisState: edr.opGenesisState(hardfork),
    };
  }
  const hardfork = edr.l1HardforkLatest();
  return {
    chainType: edr.GENERIC_CHAIN_TYPE,
    factory: edr.genericChainProviderFactory(),
    hardfork: edr.l1HardforkToString(hardfork),
    genesisState: edr.l1GenesisState(hardfork),
  };
}

function fundedAtGenesis({ address, wei }: { address: string; wei: bigint }) {
  return { address: Buffer.from(address.slice(2), "hex"), balance: wei };
}

function write(method: string, params: readonly unknown[]): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}

function readResponse({ data }: { data: unknown }): unknown {
  const response = (typeof data === "string" ? JSON.parse(data) : data) as {
    result?: unknown;
    error?: { code: number; message: string; data?: unknown };
  };
  if (response.error === undefined) return response.result;
  throw new RpcError(response.error.code, response.error.message, response.error.data);
}
