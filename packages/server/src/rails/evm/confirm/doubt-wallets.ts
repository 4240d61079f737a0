import type { ChainUnit, WalletKey } from "../../../app/chain/chain-store.js";
import { doubtOfWallets } from "../../../app/chain/halt.js";
import type { DriverContext } from "../driver/driver-context.js";

/**
 * The signer knows payments of these wallets that the database does not know. After everything that is locked: if it is a doubt, it locks the audit
 * log. Payments of all tenants wait until their wallets are confirmed, so it is reported too, when it is committed.
 */
export async function doubtInUnit(
  { network: { network }, recorder }: DriverContext,
  unit: Pick<ChainUnit, "doubtWallets">,
  wallets: readonly WalletKey[],
): Promise<void> {
  await unit.doubtWallets(wallets, doubtOfWallets(network, new Date(recorder.now())));
}
