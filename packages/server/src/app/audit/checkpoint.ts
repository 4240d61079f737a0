import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { canonicalJson } from "@bursar/domain";
import { readId, showId } from "@bursar/protocol";
import { type IntegrityKeys, requireKey } from "../access/integrity-keys.js";
import { nilTenantId } from "./audit-entry.js";
import type { ChainPosition } from "./chain-hash.js";

/**
 * A signed statement that a tenant's chain of audit entries had this hash at this position. A copy outside of the database proves later
 * that the chain was neither cut nor written again.
 */
export interface Checkpoint {
  /** Null for the chain of entries that belong to no tenant. */
  tenant_id: string | null;
  number: number;
  hash: string;
  time: string;
  key_id: string;
  signature: string;
}

export function signCheckpoint(keys: IntegrityKeys, position: ChainPosition, time: Date): Checkpoint {
  const { tenantId, number, hash } = position;
  const statement = {
    tenant_id: tenantId === nilTenantId ? null : showId("tnt", tenantId),
    number: Number(number),
    hash: Buffer.from(hash).toString("hex"),
    time: time.toISOString(),
    key_id: keys.currentId,
  };
  return { ...statement, signature: signStatement(keys, "audit checkpoint", statement) };
}

export function isCheckpointAuthentic(keys: IntegrityKeys, { signature, ...statement }: Checkpoint): boolean {
  return isStatementAuthentic(keys, "audit checkpoint", statement, signature);
}

/** The tenant's id as it is stored; undefined if it is malformed. */
export function tenantOfCheckpoint({ tenant_id }: Pick<Checkpoint, "tenant_id">): string | undefined {
  return tenant_id === null ? nilTenantId : readId("tnt", tenant_id);
}

/** What is signed: its kind and its fields as canonical JSON (RFC 8785), so that one kind cannot pass for another. */
type StatementKind = "audit checkpoint" | "audit segment";

export function signStatement(keys: IntegrityKeys, kind: StatementKind, statement: object): string {
  const key = privateKeyOf(requireKey(keys, "audit checkpoint"));
  return sign(null, bytesToSign(kind, statement), key).toString("base64url");
}

export function isStatementAuthentic(
  keys: IntegrityKeys,
  kind: StatementKind,
  statement: { key_id: string },
  signature: string,
): boolean {
  const key = checkpointPublicKey(keys, statement.key_id);
  return (
    key !== undefined && verify(null, bytesToSign(kind, statement), key, Buffer.from(signature, "base64url"))
  );
}

/** The public key that verifies checkpoints of this master key; undefined if that is unknown. */
function checkpointPublicKey(keys: IntegrityKeys, keyId: string): KeyObject | undefined {
  const seed = keys.derive("audit checkpoint", keyId);
  return seed && createPublicKey(privateKeyOf(seed));
}

/** A public key that verifies checkpoints, as a JWK. */
export interface AuditKey {
  kty: "OKP";
  crv: "Ed25519";
  x: string;
  kid: string;
  use: "sig";
  alg: "EdDSA";
}

/** The public keys of these master keys; those that are unknown are left out. */
export function listAuditKeys(keys: IntegrityKeys, keyIds: readonly string[]): AuditKey[] {
  return keyIds.flatMap((kid) => {
    const x = checkpointPublicKey(keys, kid)?.export({ format: "jwk" }).x;
    return x === undefined ? [] : [{ kty: "OKP", crv: "Ed25519", x, kid, use: "sig", alg: "EdDSA" }];
  });
}

function bytesToSign(kind: StatementKind, statement: object): Buffer {
  return Buffer.from(`bursar ${kind}\n${canonicalJson(statement)}`);
}

/** The fixed beginning of an Ed25519 key in PKCS#8, followed by its seed of 32 bytes. */
const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");

function privateKeyOf(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: "der", type: "pkcs8" });
}
