import { createRequire } from "node:module";

/**
 * The part of EDR's interface that is used here. The packages with its binaries have no types, and the package that has types depends
 * on the binaries of all seven platforms, 200 MB of them.
 */
export interface EdrBinding {
  readonly EdrContext: new () => EdrContext;
  readonly ContractDecoder: new () => object;
  readonly MineOrdering: { readonly Fifo: string };
  readonly GENERIC_CHAIN_TYPE: string;
  readonly OP_CHAIN_TYPE: string;
  readonly genericChainProviderFactory: () => object;
  readonly opProviderFactory: () => object;
  readonly l1HardforkLatest: () => number;
  readonly l1HardforkToString: (hardfork: number) => string;
  readonly l1GenesisState: (hardfork: number) => AccountOverride[];
  readonly opLatestHardfork: () => number;
  readonly opHardforkToString: (hardfork: number) => string;
  readonly opGenesisState: (hardfork: number) => AccountOverride[];
}

interface EdrContext {
  readonly registerProviderFactory: (chainType: string, factory: object) => Promise<void>;
  readonly createProvider: (
    chainType: string,
    config: ProviderConfig,
    logger: LoggerConfig,
    subscriptions: { readonly subscriptionCallback: () => void },
    decoder: object,
  ) => Promise<EdrProvider>;
}

interface EdrProvider {
  /** The response is JSON, or the object if it would be a string of more than 500 MB. */
  readonly handleRequest: (request: string) => Promise<{ readonly data: unknown }>;
}

interface AccountOverride {
  readonly address: Uint8Array;
  readonly balance?: bigint;
  readonly code?: Uint8Array;
}

interface ProviderConfig {
  readonly allowBlocksWithSameTimestamp: boolean;
  readonly allowUnlimitedContractSize: boolean;
  readonly bailOnCallFailure: boolean;
  readonly bailOnTransactionFailure: boolean;
  readonly chainId: bigint;
  readonly networkId: bigint;
  readonly coinbase: Uint8Array;
  readonly defaultTransactionGasLimit: bigint;
  readonly minGasPrice: bigint;
  readonly hardfork: string;
  readonly initialBaseFeePerGas: bigint;
  readonly genesisState: readonly AccountOverride[];
  readonly mining: {
    readonly autoMine: boolean;
    readonly blockGasLimit: bigint;
    readonly memPool: { readonly order: string };
  };
  readonly network: {
    readonly genesisBlobGas: { readonly gasUsed: bigint; readonly excessGas: bigint };
    readonly genesisBlockGasLimit: bigint;
    readonly genesisBlockTime: bigint;
  };
  readonly observability: object;
  readonly ownedAccounts: readonly string[];
  readonly precompileOverrides: readonly object[];
}

interface LoggerConfig {
  readonly enable: boolean;
  readonly decodeConsoleLogInputsCallback: () => string[];
  readonly printLineCallback: () => void;
}

const platforms: Readonly<Record<string, string>> = {
  "linux-x64": "linux-x64-gnu",
  "linux-arm64": "linux-arm64-gnu",
  "darwin-x64": "darwin-x64",
  "darwin-arm64": "darwin-arm64",
  "win32-x64": "win32-x64-msvc",
};

/** Only the packages for Linux are installed, and none in production. */
export function loadEdr(): EdrBinding {
  const platform = `${process.platform}-${process.arch}`;
  const name = `@nomicfoundation/edr-${platforms[platform] ?? platform}`;
  try {
    return createRequire(import.meta.url)(name) as EdrBinding;
  } catch (cause) {
    throw new Error(
      `The development chain needs the package ${name}, which could not be loaded. A production install does not have it; packages/devnet/README.md says how to add it on other platforms than Linux.`,
      { cause },
    );
  }
}
