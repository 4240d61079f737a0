import type { IntegrityKeys } from "../../../app/access/integrity-keys.js";
import { isRowAuthentic, macOfRow, type RowMac } from "../../access/row-integrity.js";
import { type KeyedQueryable, requireKeys } from "../../core/database.js";
import { sql } from "../../core/sql.js";

/** The address of a wallet on a chain, as the signer has derived it: what the driver pays to, and what depositors are shown. */
export interface SealedAddress {
  tenantId: string;
  walletId: string;
  network: string;
  address: string;
  shown: string;
}

export function macOfAddress(keys: IntegrityKeys, wallet: SealedAddress): { keyId: string; mac: Buffer } {
  return macOfRow(keys, "wallet address", fieldsOf(wallet));
}

/** A writer to the database can give a wallet another address, but not the MAC for it. */
export function isAddressAuthentic(keys: IntegrityKeys, wallet: SealedAddress, mac: RowMac): boolean {
  return isRowAuthentic(keys, "wallet address", fieldsOf(wallet), mac);
}

/** The address of the row `c` with its MAC, as JSON. */
export const sealedAddress = sql`jsonb_build_object('address', c.address, 'shown', c.shown, 'network', c.network,
  'keyId', c.key_id, 'mac', encode(c.mac, 'base64'))`;

interface SealedAddressJson extends Pick<SealedAddress, "network" | "address" | "shown"> {
  keyId: string | null;
  mac: string | null;
}

/** Null for a wallet that has none, and for one whose address was changed: nobody must pay to it. */
export function readAddress(
  source: KeyedQueryable,
  { tenantId, walletId }: Pick<SealedAddress, "tenantId" | "walletId">,
  sealed: SealedAddressJson | null,
): Pick<SealedAddress, "address" | "shown"> | null {
  if (sealed === null) return null;
  const { network, address, shown, keyId, mac } = sealed;
  const stored = { keyId, mac: mac === null ? null : Buffer.from(mac, "base64") };
  const wallet = { tenantId, walletId, network, address, shown };
  return isAddressAuthentic(requireKeys(source), wallet, stored) ? { address, shown } : null;
}

/** Wallets as they are read, with `sealedAddress` in the place of the address that is shown. */
export type WithSealedAddress<Row extends { address: string | null }> = Omit<Row, "address"> & {
  sealed: SealedAddressJson | null;
};

function fieldsOf({ tenantId, walletId, network, address, shown }: SealedAddress): string[] {
  return ["wallet address", tenantId, walletId, network, address, shown];
}
