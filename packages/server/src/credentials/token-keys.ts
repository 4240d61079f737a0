import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { type KeySchedule, scheduleKeys } from "@bursar/domain";
import { showId } from "@bursar/protocol";
import { type StoredTokenKey, type TokenKeyStore, tokenLifetimeSeconds } from "../app/access/tokens.js";
import { OperatorError } from "../operator-error.js";
import type { Sealing } from "./sealing.js";

interface TokenKey {
  /** The `kid` of tokens. */
  kid: string;
  publicKey: KeyObject;
  privateKey: KeyObject;
  activeFromMs: number;
}

/** The keys that sign and verify tokens, read anew from time to time, so that a rotation reaches every process. */
export interface TokenKeyRing {
  signingKey: () => Promise<TokenKey>;
  /** The key of a token, if it may still verify. */
  verifyingKey: (kid: string) => Promise<TokenKey | undefined>;
  published: () => Promise<TokenKey[]>;
}

/** A key must be known everywhere before it signs: longer than a process keeps what it has read. */
const publishAheadMs = 30_000;
const rereadAgeMs = 5000;
const unknownKidRereadAgeMs = 1000;
/** Room for clocks that differ, when deciding that the last token of a key has expired. */
const clockSkewMs = 60_000;

export function createTokenKeyRing(
  store: TokenKeyStore,
  sealing: Sealing,
  now: () => number,
  /** A clock that nobody can set back: how old what was read is. */
  monotonicMs: () => number,
): TokenKeyRing {
  let keys: readonly TokenKey[] = [];
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function reread(): Promise<void> {
    const startedAtMs = monotonicMs();
    keys = (await store.listTokenKeys()).map((stored) => openTokenKey(stored, sealing));
    readAtMs = startedAtMs;
  }

  async function schedule(ageMaxMs: number): Promise<KeySchedule<TokenKey>> {
    if (monotonicMs() - readAtMs >= ageMaxMs) {
      reading ??= reread().finally(() => {
        reading = undefined;
      });
      await reading;
    }
    return scheduleTokenKeys(keys, now());
  }

  return {
    signingKey: async () => {
      const { signing } = await schedule(rereadAgeMs);
      if (signing === undefined) throw new Error("no token key is active");
      return signing;
    },
    verifyingKey: async (kid) => {
      const find = ({ published }: KeySchedule<TokenKey>) => published.find((key) => key.kid === kid);
      return find(await schedule(rereadAgeMs)) ?? find(await schedule(unknownKidRereadAgeMs));
    },
    published: async () => (await schedule(rereadAgeMs)).published,
  };
}

/** Makes sure that there is a key to sign with, and that the master key opens it. */
export async function prepareTokenKeys(
  store: TokenKeyStore,
  sealing: Sealing,
  newUuid: () => string,
  now: () => number,
): Promise<void> {
  const stored = await store.listTokenKeys();
  if (stored.length === 0) await store.addFirstTokenKey(makeTokenKey(sealing, newUuid(), now()));
  for (const key of stored) openTokenKey(key, sealing);
}

/** Publishes the next key, which signs after everybody has seen it, and removes those that nothing needs any more. */
export async function rotateTokenKeys(
  store: TokenKeyStore,
  sealing: Sealing,
  newUuid: () => string,
  now: () => number,
): Promise<{ added: StoredTokenKey; removed: string[] }> {
  const stored = await store.listTokenKeys();
  // A key under another master key would be one that no service can open, and stop all of them.
  for (const key of stored) openTokenKey(key, sealing);
  const withTimes = stored.map((key) => ({ id: key.id, activeFromMs: key.activeFrom.getTime() }));
  const removed = scheduleTokenKeys(withTimes, now()).retired.map((key) => key.id);
  // The first of all signs at once: nobody can have seen another.
  const added = makeTokenKey(sealing, newUuid(), now() + (stored.length === 0 ? 0 : publishAheadMs));
  await store.addTokenKey(added);
  await store.removeTokenKeys(removed);
  return { added, removed };
}

/** The stored keys with what each is doing, for people. */
export function scheduledTokenKeys(stored: readonly StoredTokenKey[], now: number) {
  const keys = stored.map(({ id, activeFrom }) => ({ id, activeFrom, activeFromMs: activeFrom.getTime() }));
  const { signing, retired } = scheduleTokenKeys(keys, now);
  return keys.map((key) => {
    if (key === signing) return { ...key, role: "signs" };
    if (key.activeFromMs > now) return { ...key, role: "published, signs later" };
    return { ...key, role: retired.includes(key) ? "retired" : "verifies what it has signed" };
  });
}

export function tokenKeyId(id: string): string {
  return showId("key", id);
}

function scheduleTokenKeys<Key extends { activeFromMs: number }>(
  keys: readonly Key[],
  now: number,
): KeySchedule<Key> {
  return scheduleKeys(keys, now, tokenLifetimeSeconds * 1000 + clockSkewMs);
}

function makeTokenKey(sealing: Sealing, id: string, activeFromMs: number): StoredTokenKey {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return {
    id,
    publicKey: Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url"),
    privateKey: sealing.seal(sealContext(id), privateKey.export({ format: "der", type: "pkcs8" })),
    activeFrom: new Date(activeFromMs),
  };
}

function openTokenKey({ id, privateKey, activeFrom }: StoredTokenKey, sealing: Sealing): TokenKey {
  const opened = sealing.open(sealContext(id), privateKey);
  if (opened === undefined) {
    throw new OperatorError(
      "The master key does not open the keys in this database: it is another one than they were sealed with.",
    );
  }
  const key = createPrivateKey({ key: Buffer.from(opened), format: "der", type: "pkcs8" });
  return {
    kid: tokenKeyId(id),
    privateKey: key,
    publicKey: createPublicKey(key),
    activeFromMs: activeFrom.getTime(),
  };
}

function sealContext(id: string): string {
  return `token-key ${id}`;
}
