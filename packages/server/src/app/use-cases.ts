import type { Wallet as WalletBody } from "@bursar/protocol";
import type { ClientProof } from "./access/authenticate-client.js";
import type { ApiClient } from "./access/client.js";
import type { Issued } from "./access/issue-token.js";
import type { OAuthFault } from "./access/oauth-fault.js";
import type { TokenClaims } from "./access/tokens.js";
import type { ChainedAuditEntry } from "./audit/audit-entry.js";
import type { AddKey } from "./clients/add-key.js";
import type { ChangeClient } from "./clients/change-client.js";
import type { CreateClient } from "./clients/create-client.js";
import type { RemoveKey } from "./clients/remove-key.js";
import type { RemoveSecret } from "./clients/remove-secret.js";
import type { RotateSecret } from "./clients/rotate-secret.js";
import type { ListEvents } from "./events/list-events.js";
import type { Refused } from "./refused.js";
import type { CancelTransaction } from "./transactions/cancel-transaction.js";
import type { CreateTransaction } from "./transactions/create-transaction.js";
import type { ReadTransaction } from "./transactions/read-transaction.js";
import type { TransactionStore } from "./transactions/transaction.js";
import type { CreateWallet } from "./wallets/create-wallet.js";
import type { SetFrozen } from "./wallets/set-frozen.js";
import type { WalletStore, WalletWithBalances } from "./wallets/wallet.js";

/** Where a request to an OAuth endpoint comes from. */
export interface Whence {
  requestId: string;
  address: string;
}

/** Everything that the service can be asked to do. Routes pick what they need. */
export interface UseCases {
  requestToken: (
    proof: ClientProof,
    scope: string | undefined,
    whence: Whence,
  ) => Promise<Issued | OAuthFault>;
  revokeToken: (proof: ClientProof, token: string, whence: Whence) => Promise<OAuthFault | undefined>;
  introspectToken: (
    proof: ClientProof,
    token: string,
    whence: Whence,
  ) => Promise<TokenClaims | OAuthFault | undefined>;
  listTokenKeys: () => Promise<{ kid: string; x: string }[]>;
  createClient: CreateClient;
  readClient: (tenantId: string, clientId: string) => Promise<ApiClient | Refused>;
  listClients: (tenantId: string, limit: number, beforeId: string | undefined) => Promise<ApiClient[]>;
  changeClient: ChangeClient;
  rotateSecret: RotateSecret;
  removeSecret: RemoveSecret;
  addKey: AddKey;
  removeKey: RemoveKey;
  createTransaction: CreateTransaction;
  readTransaction: ReadTransaction;
  listTransactions: TransactionStore["listTransactions"];
  cancelTransaction: CancelTransaction;
  listAssets: () => {
    code: string;
    caip19: string | null;
    decimals: number;
    network: string;
    minimum: string;
    maximum: string;
  }[];
  createWallet: CreateWallet;
  readWallet: (tenantId: string, id: string) => Promise<WalletWithBalances | Refused>;
  listWallets: WalletStore["listWallets"];
  setFrozen: SetFrozen;
  presentWallet: (wallet: WalletWithBalances) => WalletBody;
  listEvents: ListEvents;
  listAudit: (tenantId: string, limit: number, before: bigint | undefined) => Promise<ChainedAuditEntry[]>;
}
