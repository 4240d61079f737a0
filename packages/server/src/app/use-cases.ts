import type { OAuthService } from "./access/oauth-service.js";
import type { ShowMe } from "./access/show-me.js";
import type { AuditStore } from "./audit/audit-entry.js";
import type { AuditKey } from "./audit/checkpoint.js";
import type { ListAudit } from "./audit/entry-authenticity.js";
import type { ChainUseCases } from "./chain/chain-use-cases.js";
import type { ChangeRequestService } from "./change-requests/change-request-service.js";
import type { ClientCredentials } from "./clients/client-credentials.js";
import type { ClientService } from "./clients/client-service.js";
import type { ClientUsage } from "./clients/client-usage.js";
import type { DestinationService } from "./destinations/destination-service.js";
import type { MarketUseCases } from "./markets/market-use-cases.js";
import type { OverviewUseCases } from "./overview/overview.js";
import type { OwnPasskeyService } from "./people/own-passkeys.js";
import type { PeopleService } from "./people/people-service.js";
import type { RoleService } from "./people/role.js";
import type { SessionService } from "./people/session-service.js";
import type { PolicyUseCases } from "./policy/policy-use-cases.js";
import type { StreamUseCases } from "./stream/stream-use-cases.js";
import type { SystemUseCases } from "./system/system.js";
import type { TransactionUseCases } from "./transactions/transaction-use-cases.js";
import type { WalletUseCases } from "./wallets/wallet-use-cases.js";
import type { WebhookUseCases } from "./webhooks/webhook-use-cases.js";

/** All use cases of the service. Routes pick what they need. */
export interface UseCases
  extends OAuthService,
    ClientService,
    ClientCredentials,
    ClientUsage,
    OwnPasskeyService,
    PeopleService,
    RoleService,
    SessionService,
    ChangeRequestService,
    StreamUseCases,
    TransactionUseCases,
    WalletUseCases,
    ChainUseCases,
    MarketUseCases,
    PolicyUseCases,
    DestinationService,
    OverviewUseCases,
    SystemUseCases,
    WebhookUseCases {
  /** The public keys that verify access tokens. */
  listTokenKeys: () => Promise<{ kid: string; x: string }[]>;
  /** The public keys that verify checkpoints of the audit log. */
  listAuditKeys: () => AuditKey[];
  listAudit: ListAudit;
  findAuditRemovedTo: AuditStore["findRemovedTo"];
  showMe: ShowMe;
  /** Resolves when the next slice of long work of a tenant may begin: at once, or after a rest in which other tenants are served. */
  awaitTurn: (tenantId: string) => Promise<void>;
  /** What entity tags end in, so that they differ from those of an earlier epoch of the database. */
  tagSuffix: () => string;
}
