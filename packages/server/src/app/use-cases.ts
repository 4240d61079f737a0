import type { AccessUseCases } from "./access/access-use-cases.js";
import type { DestinationUseCases } from "./destinations/destination-use-cases.js";
import type { MarketUseCases } from "./markets/market-use-cases.js";
import type { PolicyUseCases } from "./policy/policy-use-cases.js";
import type { StreamUseCases } from "./stream/stream-use-cases.js";
import type { TransactionUseCases } from "./transactions/transaction-use-cases.js";
import type { WalletUseCases } from "./wallets/wallet-use-cases.js";
import type { WebhookUseCases } from "./webhooks/webhook-use-cases.js";

/** Everything that the service can be asked to do, area by area. Routes pick what they need. */
export interface UseCases
  extends AccessUseCases,
    StreamUseCases,
    TransactionUseCases,
    WalletUseCases,
    MarketUseCases,
    PolicyUseCases,
    DestinationUseCases,
    WebhookUseCases {}
