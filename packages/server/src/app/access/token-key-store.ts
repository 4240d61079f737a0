/** A key that signs tokens, as it is stored. */
export interface StoredTokenKey {
  id: string;
  publicKey: Uint8Array;
  /** PKCS#8, sealed. */
  privateKey: Uint8Array;
  activeFrom: Date;
}

export interface TokenKeyStore {
  listTokenKeys: () => Promise<StoredTokenKey[]>;
  /** Adds the key only if there is none, also when several processes try at once. */
  addFirstTokenKey: (key: StoredTokenKey) => Promise<void>;
  addTokenKey: (key: StoredTokenKey) => Promise<void>;
  removeTokenKeys: (ids: readonly string[]) => Promise<void>;
}
