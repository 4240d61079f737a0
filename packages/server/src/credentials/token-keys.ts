import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { type KeySchedule, scheduleKeys } from "@bursar/domain";
import { showId } from "@bursar/protocol";
import { type StoredTokenKey, type TokenKeyStore, tokenLifetimeSeconds } from "../app/access/tokens.js";
import { type AuditDraft, describeAct, nilTenantId } from "../app/audit/audit-entry.js";
import { OperatorError } from "../operator-error.js";
import type { Sealing } from "./sealing.js";

interface TokenKey {
  id: string;
  /** The `kid` of tokens. */
  kid: string;
  publicKey: KeyObject;
  privateKey: KeyObject;
  activeFromMs: number;
}

/** The keys that sign and verify tokens. They are reloaded regularly, so that a rotation reaches every process. */
export interface TokenKeyRing {
  signingKey: () => Promise<TokenKey>;
  /** The key with this id, if it can still verify tokens. */
  verifyingKey: (kid: string) => Promise<TokenKey | undefined>;
  published: () => Promise<TokenKey[]>;
  /**
   * Whether a key with this id was there a few seconds ago. False if that is too long ago to say, or if the key was revoked: then the token
   * is verified again, which loads the keys.
   */
  isRecent: (kid: string) => boolean;
  /** Reads the keys again before they are used. */
  clear: () => void;
}

/** A key is published this long before it signs: longer than a process caches the keys. */
const publishAheadMs = 30_000;
/** With the time of a query, a revoked key is refused within 5 s. */
const reloadAgeMs = 4000;
/** From this age on the keys are loaded in the background, so that no request waits for them. */
const refreshAgeMs = 2000;
const unknownKidReloadAgeMs = 1000;
/** Allowance for clocks that differ, when deciding whether the last token of a key has expired. */
const clockSkewMs = 60_000;

export function createTokenKeyRing(
  store: TokenKeyStore,
  sealing: Sealing,
  now: () => number,
  monotonicMs: () => number,
  /** Told at every load which keys were left out. */
  onUnreadable: (kids: readonly string[]) => void = () => undefined,
): TokenKeyRing {
  let keys: readonly TokenKey[] = [];
  let kids: ReadonlySet<string> = new Set();
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  let clears = 0;

  async function reload(): Promise<void> {
    const clearsBefore = clears;
    const startedAtMs = monotonicMs();
    const { opened, unreadable } = openTokenKeys(await listValidTokenKeys(store), sealing);
    if (clears !== clearsBefore) return;
    onUnreadable(unreadable.map(tokenKeyId));
    keys = opened;
    kids = new Set(keys.map(({ kid }) => kid));
    readAtMs = startedAtMs;
  }

  async function schedule(ageMaxMs: number): Promise<KeySchedule<TokenKey>> {
    if (monotonicMs() - readAtMs >= ageMaxMs) {
      if (reading === undefined) {
        const own = reload().finally(() => {
          if (reading === own) reading = undefined;
        });
        reading = own;
      }
      await reading;
    }
    return scheduleTokenKeys(keys, now());
  }

  return {
    signingKey: async () => {
      const { signing } = await schedule(reloadAgeMs);
      if (signing === undefined) throw new Error("no token key is active");
      return signing;
    },
    verifyingKey: async (kid) => {
      const find = ({ published }: KeySchedule<TokenKey>) => published.find((key) => key.kid === kid);
      return find(await schedule(reloadAgeMs)) ?? find(await schedule(unknownKidReloadAgeMs));
    },
    published: async () => (await schedule(reloadAgeMs)).published,
    isRecent: (kid) => {
      const ageMs = monotonicMs() - readAtMs;
      // A failure shows at the next verification, which waits for the keys.
      if (ageMs >= refreshAgeMs) schedule(refreshAgeMs).catch(() => undefined);
      return ageMs < reloadAgeMs && kids.has(kid);
    },
    clear: () => {
      clears += 1;
      keys = [];
      kids = new Set();
      readAtMs = Number.NEGATIVE_INFINITY;
      reading = undefined;
    },
  };
}

/** Creates the first key if there is none, and checks that the master key decrypts at least one. */
export async function prepareTokenKeys(
  store: TokenKeyStore,
  sealing: Sealing,
  newUuid: () => string,
  now: () => number,
): Promise<void> {
  const stored = await listValidTokenKeys(store);
  if (stored.length === 0) await store.addFirstTokenKey(makeTokenKey(sealing, newUuid(), now()));
  openTokenKeys(stored, sealing);
}

/** Publishes the next key, which signs once every process has loaded it, and removes retired keys. Those that cannot be decrypted stay. */
export async function rotateTokenKeys(
  store: TokenKeyStore,
  sealing: Sealing,
  newUuid: () => string,
  now: () => number,
): Promise<{ added: StoredTokenKey; removed: string[]; unreadable: string[] }> {
  const stored = await listValidTokenKeys(store);
  // A key encrypted with another master key than the others could not be decrypted by the service.
  const { opened, unreadable } = openTokenKeys(stored, sealing);
  const removed = scheduleTokenKeys(opened, now()).retired.map((key) => key.id);
  // The first key signs at once.
  const added = makeTokenKey(sealing, newUuid(), now() + (stored.length === 0 ? 0 : publishAheadMs));
  await store.changeTokenKeys({ added, removed }, describe("keys.rotate", added.id, now));
  return { added, removed, unreadable };
}

/**
 * Ends a key at once. If it was the one that signs, another signs from now on, which is returned. It ends also if the audit log cannot be
 * written.
 */
export async function revokeTokenKey(
  store: TokenKeyStore,
  sealing: Sealing,
  id: string,
  newUuid: () => string,
  now: () => number,
  onUnrecorded: (error: unknown) => void,
): Promise<StoredTokenKey | undefined> {
  const stored = await listValidTokenKeys(store);
  if (!stored.some((key) => key.id === id))
    throw new OperatorError(`There is no key ${tokenKeyId(id)}. List the keys with \`bursar keys list\`.`);
  // One that cannot be decrypted is not in the way.
  const usable = stored.flatMap((key) => openTokenKey(key, sealing) ?? []);
  const isSigning = scheduleTokenKeys(usable, now()).signing?.id === id;
  const added = isSigning ? makeTokenKey(sealing, newUuid(), now()) : undefined;
  const change = { added, removed: [id] };
  try {
    await store.changeTokenKeys(change, describe("keys.revoke", id, now));
  } catch (error) {
    await store.changeTokenKeys(change, undefined);
    onUnrecorded(error);
  }
  return added;
}

/** The keys belong to no tenant. */
function describe(action: string, id: string, now: () => number): AuditDraft {
  return describeAct({ by: "operator", tenantId: nilTenantId }, action, tokenKeyId(id), new Date(now()));
}

/** The stored keys without those that were revoked: a writer to the database can put the row of one back. */
export async function listValidTokenKeys(
  store: Pick<TokenKeyStore, "listTokenKeys" | "listRevoked">,
): Promise<StoredTokenKey[]> {
  const stored = await store.listTokenKeys();
  const revoked = new Set(await store.listRevoked(stored.map(({ id }) => id)));
  return stored.filter(({ id }) => !revoked.has(id));
}

/** The stored keys with the role of each, for display. */
export function scheduledTokenKeys(stored: readonly StoredTokenKey[], sealing: Sealing, now: number) {
  const keys = stored.flatMap((key) => openTokenKey(key, sealing) ?? []);
  const { signing, retired } = scheduleTokenKeys(keys, now);
  const roleOf = (key: TokenKey | undefined): string => {
    if (key === undefined) return "not used: the master key does not decrypt it";
    if (key === signing) return "signs";
    if (key.activeFromMs > now) return "published, signs later";
    return retired.includes(key) ? "retired" : "verifies earlier tokens";
  };
  return stored.map(({ id, activeFrom }) => ({
    id,
    activeFrom,
    role: roleOf(keys.find((key) => key.id === id)),
  }));
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

export function makeTokenKey(sealing: Sealing, id: string, activeFromMs: number): StoredTokenKey {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return {
    id,
    publicKey: Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url"),
    privateKey: sealing.seal(sealContext(id), privateKey.export({ format: "der", type: "pkcs8" })),
    activeFrom: new Date(activeFromMs),
  };
}

/**
 * A row that does not open is left out, and neither signs nor verifies: something other than the service has written it, and it must not
 * stop the other keys. If no row opens, the master key is a wrong one.
 */
function openTokenKeys(
  stored: readonly StoredTokenKey[],
  sealing: Sealing,
): { opened: TokenKey[]; unreadable: string[] } {
  const opened = stored.flatMap((key) => openTokenKey(key, sealing) ?? []);
  if (stored.length > 0 && opened.length === 0) {
    throw new OperatorError(
      "The master key does not decrypt the keys in this database. Use the master key that they were encrypted with.",
    );
  }
  const ids = new Set(opened.map(({ id }) => id));
  return { opened, unreadable: stored.flatMap(({ id }) => (ids.has(id) ? [] : [id])) };
}

/** The public half comes from the private one, which is authenticated with the id of the row; the stored one counts for nothing. */
function openTokenKey(
  { id, privateKey, activeFrom }: StoredTokenKey,
  sealing: Sealing,
): TokenKey | undefined {
  const opened = sealing.open(sealContext(id), privateKey);
  // The database also knows infinite times, which are no dates.
  if (opened === undefined || !(activeFrom instanceof Date)) return undefined;
  const key = createPrivateKey({ key: Buffer.from(opened), format: "der", type: "pkcs8" });
  return {
    id,
    kid: tokenKeyId(id),
    privateKey: key,
    publicKey: createPublicKey(key),
    activeFromMs: activeFrom.getTime(),
  };
}

function sealContext(id: string): string {
  return `token-key ${id}`;
}
