import type { UseCases } from "../app/use-cases.js";
import type { Route } from "./route.js";
import { auditKeys } from "./routes/audit/audit-keys.js";
import { listAudit } from "./routes/audit/list-audit.js";
import { cancelChangeRequest } from "./routes/change-requests/cancel-change-request.js";
import { createChangeRequest } from "./routes/change-requests/create-change-request.js";
import { approveChangeRequest, rejectChangeRequest } from "./routes/change-requests/decide-change-request.js";
import { listChangeDecisions } from "./routes/change-requests/list-change-decisions.js";
import { listChangeRequests } from "./routes/change-requests/list-change-requests.js";
import { readChangeRequest } from "./routes/change-requests/read-change-request.js";
import { addKey } from "./routes/clients/add-key.js";
import { changeClient } from "./routes/clients/change-client.js";
import { createClient } from "./routes/clients/create-client.js";
import { listClients } from "./routes/clients/list-clients.js";
import { readClient } from "./routes/clients/read-client.js";
import { readClientName } from "./routes/clients/read-client-name.js";
import { removeKey } from "./routes/clients/remove-key.js";
import { removeSecret } from "./routes/clients/remove-secret.js";
import { rotateOwnSecret } from "./routes/clients/rotate-own-secret.js";
import { rotateSecret } from "./routes/clients/rotate-secret.js";
import { showClientUsage } from "./routes/clients/show-client-usage.js";
import { issueStreamTicket } from "./routes/events/issue-stream-ticket.js";
import { listEvents } from "./routes/events/list-events.js";
import { openStream } from "./routes/events/open-stream.js";
import { amendOrder } from "./routes/markets/amend-order.js";
import { cancelOrder } from "./routes/markets/cancel-order.js";
import { listMarkets } from "./routes/markets/list-markets.js";
import { listOrderStates } from "./routes/markets/list-order-states.js";
import { listOrders } from "./routes/markets/list-orders.js";
import { listTrades } from "./routes/markets/list-trades.js";
import { placeOrder } from "./routes/markets/place-order.js";
import { readOrder } from "./routes/markets/read-order.js";
import { showOrderbook } from "./routes/markets/show-orderbook.js";
import { listWalletEntries } from "./routes/overview/list-wallet-entries.js";
import { searchObjects } from "./routes/overview/search.js";
import { showOverview } from "./routes/overview/show-overview.js";
import { showWalletHistory } from "./routes/overview/show-wallet-history.js";
import { changePerson } from "./routes/people/change-person.js";
import { invitePerson } from "./routes/people/invite-person.js";
import { listPeople } from "./routes/people/list-people.js";
import {
  addOwnPasskey,
  listOwnPasskeys,
  prepareOwnPasskey,
  removeOwnPasskey,
  renameOwnPasskey,
} from "./routes/people/own-passkeys.js";
import { readPerson } from "./routes/people/read-person.js";
import { recoverPerson } from "./routes/people/recover-person.js";
import { createRole, deleteRole, listRoles } from "./routes/people/roles.js";
import { createDestination } from "./routes/policy/create-destination.js";
import { evaluatePolicy } from "./routes/policy/evaluate-policy.js";
import { listDestinations } from "./routes/policy/list-destinations.js";
import { listPolicyVersions } from "./routes/policy/list-policy-versions.js";
import { readDestination } from "./routes/policy/read-destination.js";
import { readPolicy } from "./routes/policy/read-policy.js";
import { removeDestination } from "./routes/policy/remove-destination.js";
import { replacePolicy } from "./routes/policy/replace-policy.js";
import {
  challengeLogin,
  endSession,
  issueSessionToken,
  openSession,
  prepareRegistration,
  registerPasskey,
} from "./routes/sessions/console-session.js";
import {
  endOwnSession,
  endSessionsOfPerson,
  listOwnSessions,
  listSessionsOfPerson,
} from "./routes/sessions/list-sessions.js";
import { beginProviderLogin, finishProviderLogin } from "./routes/sessions/provider-login.js";
import { listFailures, retryFailure } from "./routes/system/failures.js";
import { showSystem } from "./routes/system/show-system.js";
import { authorizationServer } from "./routes/tokens/authorization-server.js";
import { introspectToken } from "./routes/tokens/introspect-token.js";
import { issueToken } from "./routes/tokens/issue-token.js";
import { readMe } from "./routes/tokens/read-me.js";
import { revokeToken } from "./routes/tokens/revoke-token.js";
import { tokenKeys } from "./routes/tokens/token-keys.js";
import { cancelTransaction } from "./routes/transactions/cancel-transaction.js";
import { createDeposit } from "./routes/transactions/create-deposit.js";
import { createTransaction } from "./routes/transactions/create-transaction.js";
import { createTransactions } from "./routes/transactions/create-transactions.js";
import { decideApproval } from "./routes/transactions/decide-approval.js";
import { listApprovals } from "./routes/transactions/list-approvals.js";
import { listAssets } from "./routes/transactions/list-assets.js";
import { listEntries } from "./routes/transactions/list-entries.js";
import { listTransactionStates } from "./routes/transactions/list-transaction-states.js";
import { listTransactions } from "./routes/transactions/list-transactions.js";
import { readTransaction } from "./routes/transactions/read-transaction.js";
import { showApprovalTally } from "./routes/transactions/show-approval-tally.js";
import { speedUpTransaction } from "./routes/transactions/speed-up-transaction.js";
import { createWallet } from "./routes/wallets/create-wallet.js";
import { freezeWallet, unfreezeWallet } from "./routes/wallets/freeze-wallet.js";
import { listNetworks } from "./routes/wallets/list-networks.js";
import { listWallets } from "./routes/wallets/list-wallets.js";
import { readWallet } from "./routes/wallets/read-wallet.js";
import { changeWebhookEndpoint } from "./routes/webhooks/change-webhook-endpoint.js";
import { countReplay } from "./routes/webhooks/count-replay.js";
import { createWebhookEndpoint } from "./routes/webhooks/create-webhook-endpoint.js";
import { deleteWebhookEndpoint } from "./routes/webhooks/delete-webhook-endpoint.js";
import { disableWebhookEndpoint, enableWebhookEndpoint } from "./routes/webhooks/enable-webhook-endpoint.js";
import { listWebhookDeliveries } from "./routes/webhooks/list-webhook-deliveries.js";
import { listWebhookEndpoints } from "./routes/webhooks/list-webhook-endpoints.js";
import { readWebhookDelivery } from "./routes/webhooks/read-webhook-delivery.js";
import { readWebhookEndpoint } from "./routes/webhooks/read-webhook-endpoint.js";
import { replayWebhooks } from "./routes/webhooks/replay-webhooks.js";
import { resendFailedWebhooks } from "./routes/webhooks/resend-failed-webhooks.js";
import { resendWebhookDelivery } from "./routes/webhooks/resend-webhook-delivery.js";
import { rotateWebhookSecret } from "./routes/webhooks/rotate-webhook-secret.js";
import { showWebhookStats } from "./routes/webhooks/show-webhook-stats.js";
import { testWebhookEndpoint } from "./routes/webhooks/test-webhook-endpoint.js";
import { verifyWebhookEndpoint } from "./routes/webhooks/verify-webhook-endpoint.js";

/** Every route of the API, in the order of its reference. */
export function listRoutes(useCases: UseCases, publicUrl: string): Route[] {
  return [
    createTransaction(useCases),
    createTransactions(useCases, publicUrl),
    createDeposit(useCases),
    listTransactions(useCases),
    readTransaction(useCases),
    cancelTransaction(useCases),
    speedUpTransaction(useCases),
    decideApproval(useCases),
    listApprovals(useCases),
    showApprovalTally(useCases),
    listEntries(useCases),
    listTransactionStates,
    listAssets(useCases),
    createWallet(useCases),
    listWallets(useCases),
    readWallet(useCases),
    freezeWallet(useCases),
    unfreezeWallet(useCases),
    listNetworks(useCases),
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
    verifyWebhookEndpoint(useCases),
    showWebhookStats(useCases),
    countReplay(useCases),
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
    auditKeys(useCases),
    readMe(useCases),
    createClient(useCases),
    listClients(useCases),
    readClient(useCases),
    readClientName(useCases),
    showClientUsage(useCases),
    changeClient(useCases),
    rotateSecret(useCases),
    rotateOwnSecret(useCases),
    removeSecret(useCases),
    addKey(useCases),
    removeKey(useCases),
    invitePerson(useCases, publicUrl),
    listPeople(useCases),
    readPerson(useCases),
    changePerson(useCases),
    recoverPerson(useCases, publicUrl),
    listRoles(useCases),
    createRole(useCases),
    deleteRole(useCases),
    challengeLogin(useCases, publicUrl),
    prepareRegistration(useCases, publicUrl),
    registerPasskey(useCases, publicUrl),
    openSession(useCases, publicUrl),
    beginProviderLogin(useCases, publicUrl),
    finishProviderLogin(useCases, publicUrl),
    issueSessionToken(useCases, publicUrl),
    endSession(useCases, publicUrl),
    listOwnPasskeys(useCases),
    prepareOwnPasskey(useCases),
    addOwnPasskey(useCases),
    renameOwnPasskey(useCases),
    removeOwnPasskey(useCases),
    listOwnSessions(useCases),
    endOwnSession(useCases),
    listSessionsOfPerson(useCases),
    endSessionsOfPerson(useCases),
    createChangeRequest(useCases),
    listChangeRequests(useCases),
    listChangeDecisions(useCases),
    readChangeRequest(useCases),
    approveChangeRequest(useCases),
    rejectChangeRequest(useCases),
    cancelChangeRequest(useCases),
    listAudit(useCases),
    searchObjects(useCases),
    showOverview(useCases),
    listWalletEntries(useCases),
    showWalletHistory(useCases),
    showSystem(useCases),
    listFailures(useCases),
    retryFailure(useCases),
  ];
}
