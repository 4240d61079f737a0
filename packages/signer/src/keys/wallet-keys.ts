import { HDKey } from "@scure/bip32";
import { addressOfKey, type Signature, signDigest } from "./secp256k1.js";

/** The place of a wallet in the tree of keys. Both numbers are given once and never change. */
export interface KeyNumbers {
  readonly tenantNumber: number;
  readonly walletNumber: number;
}

export interface WalletKeys {
  readonly addressOf: (numbers: KeyNumbers) => string;
  /** Throws if the key does not belong to the address. */
  readonly sign: (numbers: KeyNumbers, address: string, digest: Uint8Array) => Signature;
}

/** Numbers below this one can be hardened or not (BIP-32). */
export const keyNumberEnd = 2 ** 31;
const cachedKeysMax = 10_000;
const cachedTenantsMax = 1000;

/** BIP-44: the account is the tenant's, so that a leaked account key concerns one tenant. */
export function derivationPath({ tenantNumber, walletNumber }: KeyNumbers): string {
  return `${tenantPath(tenantNumber)}/${walletNumber}`;
}

/** Derivation takes 1.6 ms, so the keys that are in use are kept: 10,000 of 32 bytes. */
export function createWalletKeys(seed: Uint8Array): WalletKeys {
  const root = HDKey.fromMasterSeed(seed);
  const tenants = createBoundedCache<number, HDKey>(cachedTenantsMax);
  const keys = createBoundedCache<string, Uint8Array>(cachedKeysMax);
  const derive = ({ tenantNumber, walletNumber }: KeyNumbers): Uint8Array => {
    const parent = tenants.get(tenantNumber, () => root.derive(tenantPath(tenantNumber)));
    const { privateKey } = parent.deriveChild(walletNumber);
    // 1 in 2^127 numbers has no key; BIP-32 says to go on with the next one, which nobody will have to.
    if (privateKey === null) throw new Error(`the path ${walletNumber} has no key`);
    return privateKey;
  };
  return {
    addressOf: (numbers) => addressOfKey(derive(numbers)),
    sign: (numbers, address, digest) => {
      const key = keys.get(derivationPath(numbers), () => {
        const derived = derive(numbers);
        if (addressOfKey(derived) !== address)
          throw new Error(`the key of ${derivationPath(numbers)} does not belong to ${address}`);
        return derived;
      });
      return signDigest(digest, key);
    },
  };
}

function tenantPath(tenantNumber: number): string {
  return `m/44'/60'/${tenantNumber}'/0`;
}

/** The entry that was used longest ago makes room. */
function createBoundedCache<K, V>(max: number) {
  const entries = new Map<K, V>();
  return {
    get: (key: K, create: () => V): V => {
      const value = entries.get(key) ?? create();
      entries.delete(key);
      entries.set(key, value);
      if (entries.size > max)
        for (const oldest of entries.keys()) {
          entries.delete(oldest);
          break;
        }
      return value;
    },
  };
}
