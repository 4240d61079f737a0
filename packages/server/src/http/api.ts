import type { UseCases } from "../app/use-cases.js";
import type { Route } from "./route.js";
import { addKey } from "./routes/add-key.js";
import { amendOrder } from "./routes/amend-order.js";
import { authorizationServer } from "./routes/authorization-server.js";
import { cancelOrder } from "./routes/cancel-order.js";
import { cancelTransaction } from "./routes/cancel-transaction.js";
import { changeClient } from "./routes/change-client.js";
import { changeWebhookEndpoint } from "./routes/change-webhook-endpoint.js";
import { createClient } from "./routes/create-client.js";
import { createDestination } from "./routes/create-destination.js";
import { createTransaction } from "./routes/create-transaction.js";
import { createTransactions } from "./routes/create-transactions.js";
import { createWallet } from "./routes/create-wallet.js";
import { createWebhookEndpoint } from "./routes/create-webhook-endpoint.js";
import { decideApproval } from "./routes/decide-approval.js";
import { deleteWebhookEndpoint } from "./routes/delete-webhook-endpoint.js";
import { disableWebhookEndpoint, enableWebhookEndpoint } from "./routes/enable-webhook-endpoint.js";
import { evaluatePolicy } from "./routes/evaluate-policy.js";
import { freezeWallet, unfreezeWallet } from "./routes/freeze-wallet.js";
import { introspectToken } from "./routes/introspect-token.js";
import { issueStreamTicket } from "./routes/issue-stream-ticket.js";
import { issueToken } from "./routes/issue-token.js";
import { listAssets } from "./routes/list-assets.js";
import { listAudit } from "./routes/list-audit.js";
import { listClients } from "./routes/list-clients.js";
import { listDestinations } from "./routes/list-destinations.js";
import { listEvents } from "./routes/list-events.js";
import { listMarkets } from "./routes/list-markets.js";
import { listOrderStates } from "./routes/list-order-states.js";
import { listOrders } from "./routes/list-orders.js";
import { listPolicyVersions } from "./routes/list-policy-versions.js";
import { listTrades } from "./routes/list-trades.js";
import { listTransactionStates } from "./routes/list-transaction-states.js";
import { listTransactions } from "./routes/list-transactions.js";
import { listWallets } from "./routes/list-wallets.js";
import { listWebhookDeliveries } from "./routes/list-webhook-deliveries.js";
import { listWebhookEndpoints } from "./routes/list-webhook-endpoints.js";
import { openStream } from "./routes/open-stream.js";
import { placeOrder } from "./routes/place-order.js";
import { readClient } from "./routes/read-client.js";
import { readDestination } from "./routes/read-destination.js";
import { readOrder } from "./routes/read-order.js";
import { readPolicy } from "./routes/read-policy.js";
import { readTransaction } from "./routes/read-transaction.js";
import { readWallet } from "./routes/read-wallet.js";
import { readWebhookDelivery } from "./routes/read-webhook-delivery.js";
import { readWebhookEndpoint } from "./routes/read-webhook-endpoint.js";
import { removeDestination } from "./routes/remove-destination.js";
import { removeKey } from "./routes/remove-key.js";
import { removeSecret } from "./routes/remove-secret.js";
import { replacePolicy } from "./routes/replace-policy.js";
import { replayWebhooks } from "./routes/replay-webhooks.js";
import { resendFailedWebhooks } from "./routes/resend-failed-webhooks.js";
import { resendWebhookDelivery } from "./routes/resend-webhook-delivery.js";
import { revokeToken } from "./routes/revoke-token.js";
import { rotateSecret } from "./routes/rotate-secret.js";
import { rotateWebhookSecret } from "./routes/rotate-webhook-secret.js";
import { showOrderbook } from "./routes/show-orderbook.js";
import { testWebhookEndpoint } from "./routes/test-webhook-endpoint.js";
import { tokenKeys } from "./routes/token-keys.js";

/** Every route of the API, in the order of its reference. */
export function listRoutes(useCases: UseCases, publicUrl: string): Route[] {
  return [
    createTransaction(useCases),
    createTransactions(useCases),
    listTransactions(useCases),
    readTransaction(useCases),
    cancelTransaction(useCases),
    decideApproval(useCases),
    listTransactionStates,
    listAssets(useCases),
    createWallet(useCases),
    listWallets(useCases),
    readWallet(useCases),
    freezeWallet(useCases),
    unfreezeWallet(useCases),
    showOrderbook(useCases),
    listMarkets(useCases),
    listTrades(useCases),
    placeOrder(useCases),
    listOrders(useCases),
    readOrder(useCases),
    amendOrder(useCases),
    cancelOrder(useCases),
    listOrderStates,
    readPolicy(useCases),
    replacePolicy(useCases),
    listPolicyVersions(useCases),
    evaluatePolicy(useCases),
    createDestination(useCases),
    listDestinations(useCases),
    readDestination(useCases),
    removeDestination(useCases),
    listEvents(useCases),
    createWebhookEndpoint(useCases),
    listWebhookEndpoints(useCases),
    readWebhookEndpoint(useCases),
    changeWebhookEndpoint(useCases),
    deleteWebhookEndpoint(useCases),
    enableWebhookEndpoint(useCases),
    disableWebhookEndpoint(useCases),
    rotateWebhookSecret(useCases),
    testWebhookEndpoint(useCases),
    listWebhookDeliveries(useCases),
    readWebhookDelivery(useCases),
    resendWebhookDelivery(useCases),
    resendFailedWebhooks(useCases),
    replayWebhooks(useCases),
    openStream(useCases),
    issueStreamTicket(useCases),
    issueToken(useCases),
    revokeToken(useCases),
    introspectToken(useCases, publicUrl),
    authorizationServer(publicUrl),
    tokenKeys(useCases),
    createClient(useCases),
    listClients(useCases),
    readClient(useCases),
    changeClient(useCases),
    rotateSecret(useCases),
    removeSecret(useCases),
    addKey(useCases),
    removeKey(useCases),
    listAudit(useCases),
  ];
}
