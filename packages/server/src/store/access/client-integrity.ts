import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { canonicalJson } from "@bursar/domain";
import { type IntegrityKeys, requireKey } from "../../app/access/integrity-keys.js";
import type {
  ApiClient,
  AuthorityChange,
  ClientChange,
  ClientKey,
  ClientSecret,
} from "../../app/clients/client.js";
import { formerKeysAfter } from "../../app/clients/former-keys.js";
import { requireKeys, type Tx } from "../core/database.js";
import { sql } from "../core/sql.js";

/**
 * A client's row carries a MAC, so that a writer to the database cannot become a client: not by inserting a secret or a key, nor by
 * giving a client a scope. The MAC covers the row and the digest of each credential. A credential that the row does not list is as
 * wrong as a row that was changed, and so is one that is listed, has not expired, and is missing: without its passkeys a person would look
 * like one who has never used the invitation, and without the newest secret a replaced one would be the newest again.
 *
 * Nothing detects that a client's row and all its credentials were put back together to an earlier state, such as to scopes that were
 * removed since: the MAC of then is valid, and `bursar audit verify` does not compare clients with the audit log.
 */
interface ClientSeal {
  /** The digest of each credential of the client by its id, and its end by `until` and its id. A seal of an earlier version has no ends. */
  credentials: Readonly<Record<string, string>>;
  keyId: string;
  mac: Uint8Array;
}

/** As read, with the MAC in hexadecimal. A row that nobody has authenticated has none of it. */
export interface StoredSeal {
  credentials: ClientSeal["credentials"] | null;
  keyId: string | null;
  mac: string | null;
}

/** Authenticates a client with the current key. */
function sealClient(keys: IntegrityKeys, client: ApiClient): ClientSeal {
  const credentials = digestCredentials(client);
  return {
    credentials,
    keyId: keys.currentId,
    mac: macOf(requireKey(keys, "client row"), client, credentials),
  };
}

/** `readAt` is the time of the database at which, or before which, it had these credentials. */
export function isClientAuthentic(
  keys: IntegrityKeys,
  client: ApiClient,
  seal: StoredSeal,
  readAt: Date,
): boolean {
  const credentials = credentialsOfRow(keys, client, seal);
  if (credentials === undefined) return false;
  const present = digestCredentials(client);
  return (
    Object.entries(present).every(
      ([name, value]) => credentials[name] === value || (name.startsWith(until) && !(name in credentials)),
    ) &&
    Object.entries(credentials).every(
      ([name, end]) => name in present || !name.startsWith(until) || hasEnded(end, readAt),
    )
  );
}

/** What a row lists of its credentials; undefined if the row was not written by the service. It says nothing of the credentials there are. */
function credentialsOfRow(
  keys: IntegrityKeys,
  client: ApiClient,
  { credentials, keyId, mac }: StoredSeal,
): ClientSeal["credentials"] | undefined {
  if (credentials === null || keyId === null || mac === null) return undefined;
  const key = keys.derive("client row", keyId);
  if (key === undefined) return undefined;
  const expected = macOf(key, client, credentials);
  const given = Buffer.from(mac, "hex");
  return given.length === expected.length && timingSafeEqual(given, expected) ? credentials : undefined;
}

const until = "until ";
const never = "never";

/** Credentials are removed after their end only. Both times are the database's, so that its clock alone decides. */
function hasEnded(end: string, readAt: Date): boolean {
  return end !== never && Date.parse(end) <= readAt.getTime();
}

/** With the state and its time, which differ from those of the row if they were read from the record of a stop. Served by the primary key. */
export function writeSeal(tx: Tx, client: ApiClient): void {
  const { credentials, keyId, mac } = sealClient(requireKeys(tx), client);
  tx.send(sql`
    UPDATE clients SET state = ${client.state}, disabled_at = ${client.disabledAt}, credentials = ${JSON.stringify(credentials)}, key_id = ${keyId}, mac = ${Buffer.from(mac)}
    WHERE id = ${client.id}
  `);
}

/** A client that somebody else has written to is shown as disabled, without credentials. */
export function disableTampered(client: ApiClient): ApiClient {
  return { ...client, state: "disabled", secrets: [], keys: [], isTampered: true };
}

/** The client as the change leaves it; nothing of it is read from the database again before it is authenticated. */
export function changeOf(client: ApiClient, change: ClientChange, now: Date): ApiClient {
  const {
    set = {},
    addSecret,
    expireSecrets,
    removeSecretIds = [],
    addKey,
    removeKeyIds = [],
    setKeyMaterial,
    authority,
  } = change;
  const isDisabled = set.state === "disabled" && client.state !== "disabled";
  const kept = client.secrets
    .filter(({ id }) => !removeSecretIds.includes(id))
    .map((secret) =>
      expireSecrets?.ids.includes(secret.id) === true ? { ...secret, expiresAt: expireSecrets.at } : secret,
    );
  const keys = [
    ...client.keys
      .filter(({ id }) => !removeKeyIds.includes(id))
      .map((key) => (key.id === setKeyMaterial?.id ? { ...key, material: setKeyMaterial.material } : key)),
    ...(addKey === undefined ? [] : [addKey]),
  ];
  return {
    ...client,
    ...set,
    secrets: addSecret === undefined ? kept : [...kept, addSecret],
    keys,
    formerKeys: formerKeysAfter(client, keys, now),
    ...(authority === undefined ? {} : authorityOf(client, authority, now)),
    updatedAt: now,
    disabledAt: isDisabled ? now : client.disabledAt,
  };
}

function authorityOf(client: ApiClient, { by, controllers }: AuthorityChange, now: Date): Partial<ApiClient> {
  const isNew = controllers === "added" && by !== null && !client.controllers.includes(by);
  return {
    authorityChangedBy: by,
    authorityChangedAt: now,
    controllers: controllers === "reset" ? [] : [...client.controllers, ...(isNew ? [by] : [])],
    resetAt: controllers === "reset" ? now : client.resetAt,
  };
}

/** Quotas are not authority, and are not covered. */
const uncoveredOfClient = new Set<string>([
  "secrets",
  "keys",
  "quotas",
  "isTampered",
] satisfies (keyof ApiClient)[]);
const uncoveredOfCredential = new Set<string>(["lastUsedAt"] satisfies (keyof ClientSecret &
  keyof ClientKey)[]);

function macOf(key: Uint8Array, client: ApiClient, credentials: ClientSeal["credentials"]): Buffer {
  const content = canonicalJson({ client: covered(client, uncoveredOfClient), credentials });
  return createHmac("sha256", key).update(content).digest();
}

function digestCredentials({ id: clientId, secrets, keys }: ApiClient): Record<string, string> {
  const digest = (kind: string, credential: ClientSecret | ClientKey) => {
    const content = canonicalJson({ kind, clientId, ...covered(credential, uncoveredOfCredential) });
    return [
      [credential.id, createHash("sha256").update(content).digest("hex")],
      [`${until}${credential.id}`, credential.expiresAt?.toISOString() ?? never],
    ];
  };
  return Object.fromEntries([
    ...secrets.flatMap((secret) => digest("secret", secret)),
    ...keys.flatMap((key) => digest("key", key)),
  ]);
}

/** A field without a value is left out, so that a row keeps its MAC when a field is added later. */
function covered(record: object, uncovered: ReadonlySet<string>): Record<string, unknown> {
  const members = Object.entries(record).filter(
    ([name, value]) => !uncovered.has(name) && value !== null && value !== undefined,
  );
  return Object.fromEntries(members.map(([name, value]) => [name, jsonOf(value)]));
}

function jsonOf(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
}
