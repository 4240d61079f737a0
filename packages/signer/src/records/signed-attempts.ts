import { createHashIndex, hashWords } from "./hash-index.js";
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

/** A signature as the rules need it. The digest stands for the payment, from which it can be computed again. */
export interface SignedAttempt {
  readonly transactionId: string;
  /** The number of the record of the wallet, which belongs to one network. */
  readonly wallet: number;
  readonly nonce: number;
  readonly isCancellation: boolean;
  readonly digest: Uint8Array;
  readonly gasLimit: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** Everything that was signed. A transaction and its nonce belong together, so both lead to the same attempts. */
export interface SignedAttempts {
  /** The attempts for a transaction, the latest first. */
  readonly ofTransaction: (transactionId: string) => Iterable<SignedAttempt>;
  readonly ofNonce: (wallet: number, nonce: number) => SignedAttempt | undefined;
  readonly add: (attempt: SignedAttempt) => void;
  readonly count: () => number;
  readonly bytes: () => number;
  /** All of them in the order in which they were added, some records in each string. */
  readonly pack: () => Iterable<string>;
  /** Adds those of a packed string. Returns false if it is not one. */
  readonly addPacked: (packed: string) => boolean;
}

interface Slot {
  readonly wallet: number;
  readonly nonce: number;
}

const digestBytes = 32;
const offsets = {
  transaction: 0,
  digest: uuidBytes,
  wallet: 48,
  nonce: 52,
  gasLimit: 56,
  maxFee: 60,
  maxPriorityFee: 68,
  /** The number of the attempt before plus one; 0 if there is none. */
  previous: 76,
  isCancellation: 80,
} as const;
const recordBytes = 81;
/** 32 records are 3456 characters, which is less than the longest line of the journal. */
const packedMax = 32;

export function createSignedAttempts(): SignedAttempts {
  const records = createRecordStore(recordBytes);
  const at = records.at;
  const byTransaction = createHashIndex<UuidWords>({
    hash: hashUuid,
    hashOf: (record) => hashUuid(readUuidWords(at(record), offsets.transaction)),
    matches: (record, words) => uuidMatches(at(record), offsets.transaction, words),
  });
  const byNonce = createHashIndex<Slot>({
    hash: ({ wallet, nonce }) => hashWords(wallet, nonce),
    hashOf: (record) => hashWords(at(record).getUint32(offsets.wallet), at(record).getUint32(offsets.nonce)),
    matches: (record, { wallet, nonce }) =>
      at(record).getUint32(offsets.wallet) === wallet && at(record).getUint32(offsets.nonce) === nonce,
  });
  function* ofTransaction(transactionId: string) {
    let record = byTransaction.find(wordsOfUuid(transactionId));
    while (record !== undefined) {
      yield readAttempt(at(record));
      const previous = at(record).getUint32(offsets.previous);
      record = previous === 0 ? undefined : previous - 1;
    }
  }
  const add = (attempt: SignedAttempt) => {
    const words = wordsOfUuid(attempt.transactionId);
    const previous = byTransaction.find(words);
    const record = records.add();
    writeAttempt(at(record), words, attempt, previous === undefined ? 0 : previous + 1);
    byTransaction.set(words, record);
    byNonce.set(attempt, record);
  };
  function* pack() {
    for (let start = 0; start < records.count(); start += packedMax) {
      const length = Math.min(packedMax, records.count() - start);
      const bytes = Array.from({ length }, (_, index) => bytesOf(at(start + index)));
      yield Buffer.concat(bytes).toString("base64");
    }
  }
  return {
    ofTransaction,
    add,
    pack,
    addPacked: (packed) => {
      const bytes = Buffer.from(packed, "base64");
      if (bytes.length === 0 || bytes.length % recordBytes !== 0) return false;
      for (let start = 0; start < bytes.length; start += recordBytes)
        add(readAttempt(new DataView(bytes.buffer, bytes.byteOffset + start, recordBytes)));
      return true;
    },
    ofNonce: (wallet, nonce) => {
      const record = byNonce.find({ wallet, nonce });
      return record === undefined ? undefined : readAttempt(at(record));
    },
    count: records.count,
    bytes: () => records.bytes() + byTransaction.bytes() + byNonce.bytes(),
  };
}

/** How many signatures a packed string has. */
export function countPacked(packed: string): number {
  return Buffer.byteLength(packed, "base64") / recordBytes;
}

function bytesOf({ buffer, byteOffset, byteLength }: DataView): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

function writeAttempt(view: DataView, id: UuidWords, attempt: SignedAttempt, previous: number): void {
  writeUuid(view, offsets.transaction, id);
  new Uint8Array(view.buffer, view.byteOffset + offsets.digest, digestBytes).set(attempt.digest);
  view.setUint32(offsets.wallet, attempt.wallet);
  view.setUint32(offsets.nonce, attempt.nonce);
  view.setUint32(offsets.gasLimit, Number(attempt.gasLimit));
  view.setBigUint64(offsets.maxFee, attempt.maxFeePerGas);
  view.setBigUint64(offsets.maxPriorityFee, attempt.maxPriorityFeePerGas);
  view.setUint32(offsets.previous, previous);
  view.setUint8(offsets.isCancellation, attempt.isCancellation ? 1 : 0);
}

function readAttempt(view: DataView): SignedAttempt {
  return {
    transactionId: readUuid(view, offsets.transaction),
    digest: new Uint8Array(view.buffer, view.byteOffset + offsets.digest, digestBytes),
    wallet: view.getUint32(offsets.wallet),
    nonce: view.getUint32(offsets.nonce),
    gasLimit: BigInt(view.getUint32(offsets.gasLimit)),
    maxFeePerGas: view.getBigUint64(offsets.maxFee),
    maxPriorityFeePerGas: view.getBigUint64(offsets.maxPriorityFee),
    isCancellation: view.getUint8(offsets.isCancellation) === 1,
  };
}
