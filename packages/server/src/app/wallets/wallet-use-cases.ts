import type { Wallet as WalletBody } from "@bursar/protocol";
import type { Refused } from "../requests/refused.js";
import type { CreateWallet } from "./create-wallet.js";
import type { SetFrozen } from "./set-frozen.js";
import type { WalletStore, WalletWithBalances } from "./wallet.js";

/** What can be asked about wallets. */
export interface WalletUseCases {
  createWallet: CreateWallet;
  readWallet: (tenantId: string, id: string) => Promise<WalletWithBalances | Refused>;
  listWallets: WalletStore["listWallets"];
  setFrozen: SetFrozen;
  presentWallet: (wallet: WalletWithBalances) => WalletBody;
}
