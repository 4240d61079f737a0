import type { KeyNumbers, WalletKeys } from "../keys/wallet-keys.js";
import type { NumberedWallet, WalletRecords } from "../records/wallet-records.js";
import type { Wallet } from "./intent.js";

/** A wallet as the service's database has it. */
export interface AddressedWallet extends Wallet {
  readonly address: string;
}

/**
 * How many numbers are tried after the last one that fits: the gap limit of BIP-44. Numbers are given without gaps, so a number is only missing if the service
 * never stored its wallet.
 */
const walletGap = 20;
const tenantGap = 20;

/** Derives addresses until they are the ones that the wallets have. In the order in which the numbers were given. */
export function findKeyNumbers(
  wallets: readonly AddressedWallet[],
  keys: WalletKeys,
  records: Pick<WalletRecords, "nextNumbers" | "hasTenant">,
): { found: NumberedWallet[]; missing: AddressedWallet[] } {
  const sought = new Map(wallets.map((wallet) => [wallet.address, wallet]));
  const numbered = new Set(wallets.map(({ tenantId }) => tenantId).filter(records.hasTenant));
  const found = [...numbered].flatMap((tenantId) =>
    findOfTenant({ sought, keys, from: records.nextNumbers(tenantId), isOwner: (id) => id === tenantId }),
  );
  // No tenant has an empty id, so this is the number of the next new one.
  let last = records.nextNumbers("").tenantNumber;
  for (let number = last; sought.size > 0 && number <= last + tenantGap; number += 1) {
    const from = { tenantNumber: number, walletNumber: 0 };
    const ofTenant = findOfTenant({ sought, keys, from, isOwner: (id) => !numbered.has(id) });
    const [first] = ofTenant;
    if (first === undefined) continue;
    last = number;
    numbered.add(first.tenantId);
    found.push(...ofTenant);
  }
  return { found, missing: [...sought.values()] };
}

interface Search {
  readonly sought: Map<string, AddressedWallet>;
  readonly keys: WalletKeys;
  readonly from: KeyNumbers;
  /** Whether the number can be this tenant's. */
  readonly isOwner: (tenantId: string) => boolean;
}

/** Removes what it finds from what is sought. The first wallet that is found says whose number it is. */
function findOfTenant({ sought, keys, from, isOwner }: Search): NumberedWallet[] {
  const { tenantNumber } = from;
  const found: NumberedWallet[] = [];
  let last = from.walletNumber;
  for (let number = last; sought.size > 0 && number <= last + walletGap; number += 1) {
    const wallet = sought.get(keys.addressOf({ tenantNumber, walletNumber: number }));
    if (wallet === undefined || !isOwner(wallet.tenantId)) continue;
    if (found[0] !== undefined && found[0].tenantId !== wallet.tenantId) continue;
    last = number;
    found.push({ ...wallet, tenantNumber, walletNumber: number });
    sought.delete(wallet.address);
  }
  return found;
}
