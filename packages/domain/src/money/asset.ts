/** An asset that wallets can hold and transactions can move. */
export interface Asset {
  code: string;
  /** Its CAIP-19 identifier, if it exists on a chain. */
  caip19: string | null;
  decimals: number;
  network: string;
  /** The minimum and maximum amount of a transaction, in base units. */
  minimum: bigint;
  maximum: bigint;
  /** The minimum amount of a deposit from a chain; smaller ones are gathered until they reach it. */
  depositMinimum?: bigint;
}

/** The configured assets, looked up by code or CAIP-19 identifier. */
export interface AssetRegistry {
  list: readonly Asset[];
  find: (codeOrId: string) => Asset | undefined;
}

export function createAssetRegistry(list: readonly Asset[]): AssetRegistry {
  const byName = new Map<string, Asset>();
  for (const asset of list) {
    for (const name of [asset.code, ...(asset.caip19 === null ? [] : [asset.caip19])]) {
      if (byName.has(name)) throw new Error(`two assets are called ${name}`);
      byName.set(name, asset);
    }
  }
  return { list, find: (codeOrId) => byName.get(codeOrId) };
}
