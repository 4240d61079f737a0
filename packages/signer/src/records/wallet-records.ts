import type { KeyNumbers } from "../keys/wallet-keys.js";
import { createHashIndex } from "./hash-index.js";
import { createRecordStore } from "./record-store.js";
import {
  hashUuid,
  readUuid,
  readUuidWords,
  type UuidWords,
  uuidBytes,
  uuidMatches,
  wordsOfUuid,
  writeUuid,
} from "./uuid-bytes.js";

/** A wallet that has an address. */
export interface NumberedWallet extends KeyNumbers {
  readonly tenantId: string;
  readonly walletId: string;
  readonly network: string;
  readonly address: string;
}

export interface WalletRecords {
  readonly find: (walletId: string) => (NumberedWallet & { readonly record: number }) | undefined;
  /** The numbers of a wallet that is not there yet: the next ones. */
  readonly nextNumbers: (tenantId: string) => KeyNumbers;
  readonly hasTenant: (tenantId: string) => boolean;
  /** Numbers only grow: an adopted wallet can leave out some, and none is used twice. */
  readonly add: (wallet: NumberedWallet) => void;
  readonly count: () => number;
  /** In the order in which they were added. */
  readonly list: () => Iterable<NumberedWallet>;
}

const addressBytes = 20;
const offsets = {
  wallet: 0,
  tenantNumber: uuidBytes,
  walletNumber: uuidBytes + 4,
  network: uuidBytes + 8,
  address: uuidBytes + 12,
} as const;
const recordBytes = offsets.address + addressBytes;

interface TenantRecord {
  readonly id: string;
  nextWallet: number;
}

export function createWalletRecords(): WalletRecords {
  const records = createRecordStore(recordBytes);
  const at = records.at;
  const index = createHashIndex<UuidWords>({
    hash: hashUuid,
    hashOf: (record) => hashUuid(readUuidWords(at(record), offsets.wallet)),
    matches: (record, words) => uuidMatches(at(record), offsets.wallet, words),
  });
  const tenants: TenantRecord[] = [];
  const tenantNumbers = new Map<string, number>();
  const networks: string[] = [];
  const nextNumbers = (tenantId: string): KeyNumbers => {
    const tenantNumber = tenantNumbers.get(tenantId) ?? tenants.length;
    return { tenantNumber, walletNumber: tenants[tenantNumber]?.nextWallet ?? 0 };
  };
  const readWallet = (record: number) => {
    const view = at(record);
    const tenantNumber = view.getUint32(offsets.tenantNumber);
    return {
      record,
      walletId: readUuid(view, offsets.wallet),
      tenantNumber,
      walletNumber: view.getUint32(offsets.walletNumber),
      tenantId: tenants[tenantNumber]?.id ?? "",
      network: networks[view.getUint32(offsets.network)] ?? "",
      address: readAddress(view),
    };
  };
  return {
    nextNumbers,
    list: function* () {
      for (let record = 0; record < records.count(); record += 1) {
        const { record: _, ...wallet } = readWallet(record);
        yield wallet;
      }
    },
    hasTenant: (tenantId) => tenantNumbers.has(tenantId),
    count: records.count,
    find: (walletId) => {
      const record = index.find(wordsOfUuid(walletId));
      return record === undefined ? undefined : readWallet(record);
    },
    add: (wallet) => {
      const next = nextNumbers(wallet.tenantId);
      const isOfTenant = tenantNumbers.has(wallet.tenantId)
        ? wallet.tenantNumber === next.tenantNumber
        : wallet.tenantNumber >= next.tenantNumber;
      if (!isOfTenant || wallet.walletNumber < next.walletNumber)
        throw new Error(`the wallet ${wallet.walletId} has numbers that belong to others`);
      tenants[wallet.tenantNumber] = { id: wallet.tenantId, nextWallet: wallet.walletNumber + 1 };
      tenantNumbers.set(wallet.tenantId, wallet.tenantNumber);
      const record = records.add();
      writeWallet(at(record), wallet, numberOf(networks, wallet.network));
      index.set(wordsOfUuid(wallet.walletId), record);
    },
  };
}

function writeWallet(view: DataView, wallet: NumberedWallet, network: number): void {
  writeUuid(view, offsets.wallet, wordsOfUuid(wallet.walletId));
  view.setUint32(offsets.tenantNumber, wallet.tenantNumber);
  view.setUint32(offsets.walletNumber, wallet.walletNumber);
  view.setUint32(offsets.network, network);
  const address = Buffer.from(wallet.address.slice(2), "hex");
  new Uint8Array(view.buffer, view.byteOffset + offsets.address, addressBytes).set(address);
}

function readAddress(view: DataView): string {
  const bytes = Buffer.from(view.buffer as ArrayBuffer, view.byteOffset + offsets.address, addressBytes);
  return `0x${bytes.toString("hex")}`;
}

function numberOf(names: string[], name: string): number {
  const known = names.indexOf(name);
  return known >= 0 ? known : names.push(name) - 1;
}
