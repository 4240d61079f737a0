import { createAudit } from "./resources/audit.js";
import { createAssets, createNetworks } from "./resources/catalog.js";
import { createChangeRequests } from "./resources/change-requests.js";
import { createClients, createMe } from "./resources/clients.js";
import { createDeposits } from "./resources/deposits.js";
import { createDestinations } from "./resources/destinations.js";
import { createEvents } from "./resources/events.js";
import { createMarkets, createOrderbook, createTrades } from "./resources/markets.js";
import { createOrders } from "./resources/orders.js";
import { createOverview, createSearch, createSystem } from "./resources/overview.js";
import { createPeople, createRoles } from "./resources/people.js";
import { createPolicy } from "./resources/policy.js";
import { createService } from "./resources/service.js";
import { createConsoleSession, createOwnPasskeys, createSessions } from "./resources/sessions.js";
import { createTokens } from "./resources/tokens.js";
import { createTransactions } from "./resources/transactions.js";
import { createWallets } from "./resources/wallets.js";
import { createWebhookDeliveries } from "./resources/webhook-deliveries.js";
import { createWebhookEndpoints } from "./resources/webhook-endpoints.js";
import type { BursarOptions } from "./transport/options.js";
import { createTransport } from "./transport/transport.js";

export type Bursar = ReturnType<typeof createBursar>;

/** A client of one service with one set of credentials. Create one and keep it: it holds the token. */
export function createBursar(options: BursarOptions) {
  const transport = createTransport(options);
  return {
    assets: createAssets(transport),
    audit: createAudit(transport),
    changeRequests: createChangeRequests(transport),
    clients: createClients(transport),
    consoleSession: createConsoleSession(transport),
    deposits: createDeposits(transport),
    destinations: createDestinations(transport),
    events: createEvents(transport),
    markets: createMarkets(transport),
    me: createMe(transport),
    networks: createNetworks(transport),
    orderbook: createOrderbook(transport),
    orders: createOrders(transport),
    overview: createOverview(transport),
    system: createSystem(transport),
    people: createPeople(transport),
    policy: createPolicy(transport),
    roles: createRoles(transport),
    search: createSearch(transport),
    service: createService(transport),
    sessions: createSessions(transport),
    ownPasskeys: createOwnPasskeys(transport),
    tokens: createTokens(transport),
    trades: createTrades(transport),
    transactions: createTransactions(transport),
    wallets: createWallets(transport),
    webhookDeliveries: createWebhookDeliveries(transport),
    webhookEndpoints: createWebhookEndpoints(transport),
  };
}
