// Generated from openapi.json by `npm run generate`.
import type * as S from "./schemas.js";

export interface ListTransactionsQuery {
  /** The maximum number of items to return. */
  limit?: number;
  /** The `next_cursor` of the previous page. */
  cursor?: string;
  /** Only transactions of this kind. */
  kind?: "transfer" | "payout" | "deposit" | "sweep" | "refuel";
  /** Only transactions in one of these states: `state=failed&state=rejected`. */
  state?: ("accepted" | "awaiting_approval" | "processing" | "broadcast" | "confirming" | "completed" | "rejected" | "failed" | "cancelled")[];
  /** The `Idempotency-Key` that created it. A payment and a deposit can have the same. */
  idempotency_key?: string;
  /** The client's own reference. */
  reference?: string;
  /** An asset code. */
  asset?: string;
  /** The source or the destination. */
  wallet_id?: string;
  /** The client that created it. */
  client_id?: string;
  /** `newest`: newest first. `deadline`: only transactions that wait for approval, those that expire next first; `state` can be left out then. */
  order?: "newest" | "deadline";
  /** Created at this time or later. */
  created_after?: string;
  /** Created before this time. */
  created_before?: string;
}

export interface ListWalletsQuery {
  /** The maximum number of items to return. */
  limit?: number;
  /** The `next_cursor` of the previous page. */
  cursor?: string;
  /** Only wallets with this purpose. */
  purpose?: "treasury" | "deposit" | "payout" | "settlement" | "fees";
  /** Only wallets in this state. */
  state?: "creating" | "active";
  /** Only wallets of this network. */
  network?: string;
  /** Only wallets that are frozen, or are not. */
  frozen?: boolean;
}

export interface ShowOrderbookQuery {
  /** The name of a market. Defaults to the first one. */
  market?: string;
  /** The number of levels per side. */
  depth?: number;
}

export interface ListTradesQuery {
  /** The maximum number of items to return. */
  limit?: number;
  /** The `next_cursor` of the previous page. */
  cursor?: string;
}

export interface ListOrdersQuery {
  /** The maximum number of items to return. */
  limit?: number;
  /** The `next_cursor` of the previous page. */
  cursor?: string;
  /** Only orders in this market. */
  market?: string;
  /** Only orders in this state. */
  state?: "pending" | "open" | "partially_filled" | "filled" | "cancelled" | "rejected";
  /** Only orders on this side. */
  side?: "buy" | "sell";
  /** The client's own reference. */
  reference?: string;
  /** The wallet that pays and receives. */
  wallet_id?: string;
  /** The client that placed it. */
  client_id?: string;
  /** Created at this time or later. */
  created_after?: string;
  /** Created before this time. */
  created_before?: string;
}

export interface ReadPolicyQuery {
  /** An earlier version. Defaults to the one in force. */
  version?: number;
}

export interface ListPolicyVersionsQuery {
  /** The maximum number of items to return. */
  limit?: number;
  /** The `next_cursor` of the previous page. */
  cursor?: string;
}

export interface ListDestinationsQuery {
  /** The maximum number of items to return. */
  limit?: number;
  /** The `next_cursor` of the previous page. */
  cursor?: string;
  /** Only addresses of this network. */
  network?: string;
  /** Only this address of `network`, which must be given with it. On EVM networks in any case. */
  address?: string;
  /** Only destinations in this state. */
  state?: "waiting" | "active";
}

export interface ListEventsQuery {
  /** The last sequence already seen. */
  after?: number;
  /** Only events before this sequence; newest first, unless `order` says otherwise. */
  before?: number;
  /** `asc`: in order of `sequence`. `desc`: newest first. Defaults to `asc`, or to `desc` with `before`. */
  order?: "asc" | "desc";
  /** Only events of these kinds: `kinds=wallet.updated&kinds=order.updated`. */
  kinds?: ("transaction.updated" | "wallet.updated" | "order.updated" | "endpoint.disabled" | "change_request.updated" | "audit.checkpoint")[];
  /** Only events of this transaction, wallet, order, webhook endpoint or change request. */
  subject_id?: string;
  /** The maximum number of events to return. */
  limit?: number;
}

export interface ListWebhookEndpointsQuery {
  /** The maximum number of items to return. */
  limit?: number;
  /** The `next_cursor` of the previous page. */
  cursor?: string;
}

export interface ShowWebhookStatsQuery {
  /** How many hours to include, the current one too; 24 if left out. */
  hours?: number;
}

export interface CountReplayQuery {
  /** The first event to send again. */
  from_sequence: number;
}

export interface ListWebhookDeliveriesQuery {
  /** The maximum number of items to return. */
  limit?: number;
  /** The `next_cursor` of the previous page. */
  cursor?: string;
  /** Only deliveries to this endpoint. */
  endpoint_id?: string;
  /** Only events of this kind. */
  event?: "transaction.updated" | "wallet.updated" | "order.updated" | "endpoint.disabled" | "change_request.updated" | "audit.checkpoint";
  /** Only deliveries of this event. */
  sequence?: number;
  /** Only deliveries in this state. */
  state?: "pending" | "delivered" | "exhausted";
  /** Created after this time. */
  created_after?: string;
  /** Created before this time. */
  created_before?: string;
}

export interface OpenStreamQuery {
  /** A ticket of `POST /v1/stream/tickets`, for clients that cannot send `Authorization`. */
  ticket?: string;
}

export interface ListClientsQuery {
  /** The maximum number of items to return. */
  limit?: number;
  /** The `next_cursor` of the previous page. */
  cursor?: string;
}

export interface ShowClientUsageQuery {
  /** The length of a period, in UTC; `day` if left out. */
  period?: "hour" | "day";
  /** Only periods that begin at this time or later. */
  from?: string;
  /** Only periods that begin before this time. */
  to?: string;
}

export interface ListPeopleQuery {
  /** The maximum number of items to return. */
  limit?: number;
  /** The `next_cursor` of the previous page. */
  cursor?: string;
}

export interface ListChangeRequestsQuery {
  /** The maximum number of items to return. */
  limit?: number;
  /** The `next_cursor` of the previous page. */
  cursor?: string;
  /** Only change requests in this state. */
  state?: "pending" | "scheduled" | "applied" | "rejected" | "expired" | "cancelled" | "failed";
}

export interface ListAuditQuery {
  /** The maximum number of items to return. */
  limit?: number;
  /** The `next_cursor` of the previous page. */
  cursor?: string;
  /** Only what this kind of actor did. */
  actor?: "client" | "operator" | "anonymous" | "service";
  /** Only what this client did. */
  client_id?: string;
  /** Only this action: `client.create`, `GET /v1/clients`. With `*` at its end, actions that begin so: `policy.*`. Up to 32, separated by commas, select any of them. A refused request is recorded with its method and path: `policy.replace,PUT /v1/policy` selects both. */
  action?: string;
  /** Only entries about this object. The cancellation of a transaction or order that was merged with others into one entry is found by client and time only. */
  object?: string;
  /** Only entries with this outcome. */
  outcome?: "succeeded" | "refused";
  /** Only entries of the request with this `X-Request-Id`. An entry that stands for several has the id of the first. */
  request_id?: string;
  /** Occurred at this time or later. */
  occurred_after?: string;
  /** Occurred before this time. */
  occurred_before?: string;
}

export interface SearchQuery {
  /** An id, an idempotency key, a request id, an address, or the beginning of a reference. */
  q: string;
}

export interface ShowOverviewQuery {
  /** The code of the asset. */
  asset?: string;
  /** The length of a period, in UTC; `day` if left out. */
  period?: "hour" | "day";
  /** Only periods that begin at this time or later. */
  from?: string;
  /** Only periods that begin before this time. */
  to?: string;
}

export interface ListWalletEntriesQuery {
  /** The maximum number of items to return. */
  limit?: number;
  /** The `next_cursor` of the previous page. */
  cursor?: string;
  /** The code of the asset. */
  asset: string;
}

export interface ShowWalletHistoryQuery {
  /** The code of the asset. */
  asset: string;
  /** The length of a period, in UTC; `day` if left out. */
  period?: "hour" | "day";
  /** Only periods that begin at this time or later. */
  from?: string;
  /** Only periods that begin before this time. */
  to?: string;
}

export interface Operations {
  /** getLiveness */
  "GET /healthz": {
    input: { anonymous: true };
    result: S.Liveness;
  };
  /** getReadiness */
  "GET /readyz": {
    input: { anonymous: true };
    result: S.Readiness;
  };
  /** createTransaction */
  "POST /v1/transactions": {
    input: { body: S.CreateTransactionBody; keyed: true };
    result: S.Transaction;
  };
  /** listTransactions */
  "GET /v1/transactions": {
    input: { query?: ListTransactionsQuery };
    result: S.TransactionPage;
  };
  /** createTransactions */
  "POST /v1/transactions/batch": {
    input: { body: S.CreateTransactionsBody };
    result: S.TransactionBatchResult;
  };
  /** createDeposit */
  "POST /v1/deposits": {
    input: { body: S.CreateDepositBody; keyed: true };
    result: S.Transaction;
  };
  /** readTransaction */
  "GET /v1/transactions/{id}": {
    input: { path: { id: string }; headers?: { "If-None-Match"?: string; Prefer?: string } };
    result: S.Transaction;
  };
  /** cancelTransaction */
  "POST /v1/transactions/{id}/cancel": {
    input: { path: { id: string } };
    result: S.ChangedTransaction;
  };
  /** speedUpTransaction */
  "POST /v1/transactions/{id}/speed-up": {
    input: { path: { id: string } };
    result: S.ChangedTransaction;
  };
  /** decideApproval */
  "POST /v1/transactions/{id}/approvals": {
    input: { path: { id: string }; headers?: { "Bursar-Passkey"?: string }; body: S.DecideApprovalBody };
    result: S.ChangedTransaction;
  };
  /** listApprovals */
  "GET /v1/transactions/{id}/approvals": {
    input: { path: { id: string } };
    result: S.ApprovalRecords;
  };
  /** showApprovalTally */
  "GET /v1/transactions/{id}/approvals/tally": {
    input: { path: { id: string } };
    result: S.ApprovalTally;
  };
  /** listLedgerEntries */
  "GET /v1/transactions/{id}/entries": {
    input: { path: { id: string } };
    result: S.LedgerEntries;
  };
  /** listTransactionStates */
  "GET /v1/transaction-states": {
    input: object;
    result: S.TransactionStates;
  };
  /** listAssets */
  "GET /v1/assets": {
    input: object;
    result: S.AssetList;
  };
  /** createWallet */
  "POST /v1/wallets": {
    input: { body: S.CreateWalletBody; keyed: true };
    result: S.Wallet;
  };
  /** listWallets */
  "GET /v1/wallets": {
    input: { query?: ListWalletsQuery };
    result: S.WalletPage;
  };
  /** readWallet */
  "GET /v1/wallets/{id}": {
    input: { path: { id: string } };
    result: S.Wallet;
  };
  /** freezeWallet */
  "POST /v1/wallets/{id}/freeze": {
    input: { path: { id: string }; body?: S.FreezeWalletBody };
    result: S.ChangedWallet;
  };
  /** unfreezeWallet */
  "POST /v1/wallets/{id}/unfreeze": {
    input: { path: { id: string }; headers?: { "Bursar-Passkey"?: string } };
    result: S.ChangedWallet;
  };
  /** listNetworks */
  "GET /v1/networks": {
    input: object;
    result: S.NetworkList;
  };
  /** showOrderbook */
  "GET /v1/orderbook": {
    input: { query?: ShowOrderbookQuery; headers?: { "If-None-Match"?: string } };
    result: S.Orderbook;
  };
  /** listMarkets */
  "GET /v1/markets": {
    input: object;
    result: S.MarketList;
  };
  /** listTrades */
  "GET /v1/markets/{market}/trades": {
    input: { path: { market: string }; query?: ListTradesQuery };
    result: S.TradePage;
  };
  /** placeOrder */
  "POST /v1/orders": {
    input: { body: S.PlaceOrderBody; keyed: true };
    result: S.Order;
  };
  /** listOrders */
  "GET /v1/orders": {
    input: { query?: ListOrdersQuery };
    result: S.OrderPage;
  };
  /** readOrder */
  "GET /v1/orders/{id}": {
    input: { path: { id: string } };
    result: S.Order;
  };
  /** amendOrder */
  "PATCH /v1/orders/{id}": {
    input: { path: { id: string }; body: S.AmendOrderBody };
    result: S.ChangedOrder;
  };
  /** cancelOrder */
  "DELETE /v1/orders/{id}": {
    input: { path: { id: string } };
    result: S.ChangedOrder;
  };
  /** listOrderStates */
  "GET /v1/order-states": {
    input: object;
    result: S.OrderStates;
  };
  /** readPolicy */
  "GET /v1/policy": {
    input: { query?: ReadPolicyQuery; headers?: { "If-None-Match"?: string } };
    result: S.Policy;
  };
  /** replacePolicy */
  "PUT /v1/policy": {
    input: { headers: { "Bursar-Passkey"?: string; "If-Match": string }; body: S.PolicyDocument };
    result: S.Policy | S.ChangeRequest;
  };
  /** listPolicyVersions */
  "GET /v1/policy/versions": {
    input: { query?: ListPolicyVersionsQuery };
    result: S.PolicyVersionPage;
  };
  /** evaluatePolicy */
  "POST /v1/policy/evaluate": {
    input: { body: S.EvaluatePolicyBody };
    result: S.PolicyEvaluation;
  };
  /** createDestination */
  "POST /v1/destinations": {
    input: { headers?: { "Bursar-Passkey"?: string }; body: S.CreateDestinationBody; keyed: true };
    result: S.Destination | S.ChangeRequest;
  };
  /** listDestinations */
  "GET /v1/destinations": {
    input: { query?: ListDestinationsQuery };
    result: S.DestinationPage;
  };
  /** readDestination */
  "GET /v1/destinations/{id}": {
    input: { path: { id: string } };
    result: S.Destination;
  };
  /** removeDestination */
  "DELETE /v1/destinations/{id}": {
    input: { path: { id: string }; headers?: { "Bursar-Passkey"?: string } };
    result: S.ChangeRequest | undefined;
  };
  /** listEvents */
  "GET /v1/events": {
    input: { query?: ListEventsQuery };
    result: S.EventList;
  };
  /** createWebhookEndpoint */
  "POST /v1/webhook-endpoints": {
    input: { headers?: { "Bursar-Passkey"?: string }; body: S.CreateWebhookEndpointBody; keyed: true };
    result: S.CreatedWebhookEndpoint;
  };
  /** listWebhookEndpoints */
  "GET /v1/webhook-endpoints": {
    input: { query?: ListWebhookEndpointsQuery };
    result: S.WebhookEndpointPage;
  };
  /** readWebhookEndpoint */
  "GET /v1/webhook-endpoints/{id}": {
    input: { path: { id: string } };
    result: S.WebhookEndpoint;
  };
  /** changeWebhookEndpoint */
  "PATCH /v1/webhook-endpoints/{id}": {
    input: { path: { id: string }; headers?: { "Bursar-Passkey"?: string }; body: S.ChangeWebhookEndpointBody };
    result: S.ChangedWebhookEndpoint;
  };
  /** deleteWebhookEndpoint */
  "DELETE /v1/webhook-endpoints/{id}": {
    input: { path: { id: string }; headers?: { "Bursar-Passkey"?: string } };
    result: S.WebhookEndpoint;
  };
  /** enableWebhookEndpoint */
  "POST /v1/webhook-endpoints/{id}/enable": {
    input: { path: { id: string }; headers?: { "Bursar-Passkey"?: string } };
    result: S.WebhookEndpoint;
  };
  /** disableWebhookEndpoint */
  "POST /v1/webhook-endpoints/{id}/disable": {
    input: { path: { id: string }; headers?: { "Bursar-Passkey"?: string } };
    result: S.WebhookEndpoint;
  };
  /** rotateWebhookSecret */
  "POST /v1/webhook-endpoints/{id}/rotate-secret": {
    input: { path: { id: string }; headers?: { "Bursar-Passkey"?: string }; body?: S.RotateWebhookSecretBody; keyed: true };
    result: S.RotatedWebhookSecret;
  };
  /** testWebhookEndpoint */
  "POST /v1/webhook-endpoints/{id}/test": {
    input: { path: { id: string } };
    result: S.WebhookTest;
  };
  /** verifyWebhookEndpoint */
  "POST /v1/webhook-endpoints/{id}/verify": {
    input: { path: { id: string } };
    result: S.WebhookVerification;
  };
  /** showWebhookStats */
  "GET /v1/webhook-endpoints/{id}/stats": {
    input: { path: { id: string }; query?: ShowWebhookStatsQuery };
    result: S.WebhookEndpointStats;
  };
  /** countReplay */
  "GET /v1/webhook-endpoints/{id}/replay": {
    input: { path: { id: string }; query?: CountReplayQuery };
    result: S.ReplayCount;
  };
  /** listWebhookDeliveries */
  "GET /v1/webhook-deliveries": {
    input: { query?: ListWebhookDeliveriesQuery };
    result: S.WebhookDeliveryPage;
  };
  /** readWebhookDelivery */
  "GET /v1/webhook-deliveries/{id}": {
    input: { path: { id: string } };
    result: S.WebhookDelivery;
  };
  /** resendWebhookDelivery */
  "POST /v1/webhook-deliveries/{id}/resend": {
    input: { path: { id: string }; keyed: true };
    result: S.ResentWebhookDelivery;
  };
  /** resendFailedWebhooks */
  "POST /v1/webhook-deliveries/resend-failed": {
    input: { body: S.ResendFailedBody; keyed: true };
    result: S.ResentDeliveries;
  };
  /** replayWebhooks */
  "POST /v1/webhook-deliveries/replay": {
    input: { body: S.ReplayBody; keyed: true };
    result: S.ReplayedEvents;
  };
  /** openStream */
  "GET /v1/stream": {
    input: { query?: OpenStreamQuery };
    result: undefined;
  };
  /** issueStreamTicket */
  "POST /v1/stream/tickets": {
    input: object;
    result: S.StreamTicket;
  };
  /** issueToken */
  "POST /oauth/token": {
    input: { form: S.TokenForm; anonymous: true };
    result: S.IssuedToken;
  };
  /** revokeToken */
  "POST /oauth/revoke": {
    input: { form: S.TokenActionForm; anonymous: true };
    result: S.RevokedToken;
  };
  /** introspectToken */
  "POST /oauth/introspect": {
    input: { form: S.TokenActionForm; anonymous: true };
    result: S.Introspection;
  };
  /** getAuthorizationServer */
  "GET /.well-known/oauth-authorization-server": {
    input: { anonymous: true };
    result: S.AuthorizationServerMetadata;
  };
  /** getTokenKeys */
  "GET /.well-known/jwks.json": {
    input: { anonymous: true };
    result: S.JsonWebKeySet;
  };
  /** getAuditKeys */
  "GET /.well-known/bursar-audit-keys.json": {
    input: { anonymous: true };
    result: S.JsonWebKeySet;
  };
  /** readMe */
  "GET /v1/me": {
    input: object;
    result: S.Me;
  };
  /** createClient */
  "POST /v1/clients": {
    input: { headers?: { "Bursar-Passkey"?: string }; body: S.CreateClientBody; keyed: true };
    result: S.CreatedClient;
  };
  /** listClients */
  "GET /v1/clients": {
    input: { query?: ListClientsQuery };
    result: S.ClientPage;
  };
  /** readClient */
  "GET /v1/clients/{client_id}": {
    input: { path: { client_id: string } };
    result: S.Client;
  };
  /** changeClient */
  "PATCH /v1/clients/{client_id}": {
    input: { path: { client_id: string }; headers?: { "Bursar-Passkey"?: string }; body: S.ChangeClientBody };
    result: S.Client;
  };
  /** readClientName */
  "GET /v1/clients/{client_id}/name": {
    input: { path: { client_id: string } };
    result: S.ClientName;
  };
  /** showClientUsage */
  "GET /v1/clients/{client_id}/usage": {
    input: { path: { client_id: string }; query?: ShowClientUsageQuery };
    result: S.ClientUsage;
  };
  /** rotateSecret */
  "POST /v1/clients/{client_id}/secrets": {
    input: { path: { client_id: string }; headers?: { "Bursar-Passkey"?: string }; body?: S.RotateSecretBody; keyed: true };
    result: S.RotatedSecret;
  };
  /** rotateOwnSecret */
  "POST /v1/me/secrets": {
    input: { body: S.RotateOwnSecretBody; keyed: true };
    result: S.RotatedSecret;
  };
  /** removeSecret */
  "DELETE /v1/clients/{client_id}/secrets/{secret_id}": {
    input: { path: { client_id: string; secret_id: string }; headers?: { "Bursar-Passkey"?: string } };
    result: S.Client;
  };
  /** addKey */
  "POST /v1/clients/{client_id}/keys": {
    input: { path: { client_id: string }; headers?: { "Bursar-Passkey"?: string }; body: S.AddKeyBody; keyed: true };
    result: S.AddedKey;
  };
  /** removeKey */
  "DELETE /v1/clients/{client_id}/keys/{key_id}": {
    input: { path: { client_id: string; key_id: string }; headers?: { "Bursar-Passkey"?: string } };
    result: S.Client;
  };
  /** invitePerson */
  "POST /v1/people": {
    input: { headers?: { "Bursar-Passkey"?: string }; body: S.InvitePersonBody; keyed: true };
    result: S.InvitedPerson;
  };
  /** listPeople */
  "GET /v1/people": {
    input: { query?: ListPeopleQuery };
    result: S.PersonPage;
  };
  /** readPerson */
  "GET /v1/people/{id}": {
    input: { path: { id: string } };
    result: S.Person;
  };
  /** changePerson */
  "PATCH /v1/people/{id}": {
    input: { path: { id: string }; headers?: { "Bursar-Passkey"?: string }; body: S.ChangePersonBody };
    result: S.Person;
  };
  /** recoverPerson */
  "POST /v1/people/{id}/invitation": {
    input: { path: { id: string }; headers?: { "Bursar-Passkey"?: string } };
    result: S.InvitedPerson;
  };
  /** listRoles */
  "GET /v1/roles": {
    input: object;
    result: S.RoleList;
  };
  /** createRole */
  "POST /v1/roles": {
    input: { headers?: { "Bursar-Passkey"?: string }; body: S.CreateRoleBody };
    result: S.Role;
  };
  /** deleteRole */
  "DELETE /v1/roles/{name}": {
    input: { path: { name: string }; headers?: { "Bursar-Passkey"?: string } };
    result: undefined;
  };
  /** challengeLogin */
  "POST /console/session/challenge": {
    input: { anonymous: true };
    result: S.LoginChallenge;
  };
  /** prepareRegistration */
  "POST /console/session/registration-options": {
    input: { body: S.RegistrationOptionsBody; anonymous: true };
    result: S.RegistrationOptions;
  };
  /** registerPasskey */
  "POST /console/session/registration": {
    input: { body: S.RegisterPasskeyBody; anonymous: true };
    result: S.OpenedSession;
  };
  /** openSession */
  "POST /console/session": {
    input: { body: S.OpenSessionBody; anonymous: true };
    result: S.OpenedSession;
  };
  /** endSession */
  "DELETE /console/session": {
    input: { anonymous: true };
    result: undefined;
  };
  /** beginProviderLogin */
  "POST /console/session/oidc": {
    input: { anonymous: true };
    result: S.ProviderLogin;
  };
  /** finishProviderLogin */
  "POST /console/session/oidc/callback": {
    input: { body: S.FinishProviderLoginBody; anonymous: true };
    result: S.OpenedSession;
  };
  /** issueSessionToken */
  "POST /console/session/token": {
    input: { anonymous: true };
    result: S.SessionToken;
  };
  /** listOwnPasskeys */
  "GET /v1/me/passkeys": {
    input: object;
    result: S.PasskeyList;
  };
  /** addOwnPasskey */
  "POST /v1/me/passkeys": {
    input: { headers?: { "Bursar-Passkey"?: string }; body: S.AddPasskeyBody };
    result: S.Passkey;
  };
  /** prepareOwnPasskey */
  "POST /v1/me/passkeys/options": {
    input: object;
    result: S.RegistrationOptions;
  };
  /** renameOwnPasskey */
  "PATCH /v1/me/passkeys/{id}": {
    input: { path: { id: string }; headers?: { "Bursar-Passkey"?: string }; body: S.RenamePasskeyBody };
    result: S.Passkey;
  };
  /** removeOwnPasskey */
  "DELETE /v1/me/passkeys/{id}": {
    input: { path: { id: string }; headers?: { "Bursar-Passkey"?: string } };
    result: undefined;
  };
  /** listOwnSessions */
  "GET /v1/me/sessions": {
    input: object;
    result: S.SessionList;
  };
  /** endOwnSession */
  "DELETE /v1/me/sessions/{id}": {
    input: { path: { id: string } };
    result: undefined;
  };
  /** listSessionsOfPerson */
  "GET /v1/people/{id}/sessions": {
    input: { path: { id: string } };
    result: S.SessionList;
  };
  /** endSessionsOfPerson */
  "DELETE /v1/people/{id}/sessions": {
    input: { path: { id: string } };
    result: undefined;
  };
  /** createChangeRequest */
  "POST /v1/change-requests": {
    input: { headers?: { "Bursar-Passkey"?: string }; body: S.CreateChangeRequestBody; keyed: true };
    result: S.ChangeRequest;
  };
  /** listChangeRequests */
  "GET /v1/change-requests": {
    input: { query?: ListChangeRequestsQuery };
    result: S.ChangeRequestPage;
  };
  /** listChangeDecisions */
  "GET /v1/change-requests/{id}/decisions": {
    input: { path: { id: string } };
    result: S.ApprovalRecords;
  };
  /** readChangeRequest */
  "GET /v1/change-requests/{id}": {
    input: { path: { id: string } };
    result: S.ChangeRequest;
  };
  /** approveChangeRequest */
  "POST /v1/change-requests/{id}/approve": {
    input: { path: { id: string }; headers?: { "Bursar-Passkey"?: string }; body: S.DecideChangeBody };
    result: S.ChangeRequest;
  };
  /** rejectChangeRequest */
  "POST /v1/change-requests/{id}/reject": {
    input: { path: { id: string }; headers?: { "Bursar-Passkey"?: string }; body: S.DecideChangeBody };
    result: S.ChangeRequest;
  };
  /** cancelChangeRequest */
  "POST /v1/change-requests/{id}/cancel": {
    input: { path: { id: string } };
    result: S.ChangeRequest;
  };
  /** listAudit */
  "GET /v1/audit": {
    input: { query?: ListAuditQuery };
    result: S.AuditPage;
  };
  /** search */
  "GET /v1/search": {
    input: { query?: SearchQuery };
    result: S.SearchResult;
  };
  /** showOverview */
  "GET /v1/overview": {
    input: { query?: ShowOverviewQuery };
    result: S.Overview;
  };
  /** listWalletEntries */
  "GET /v1/wallets/{id}/entries": {
    input: { path: { id: string }; query?: ListWalletEntriesQuery };
    result: S.WalletEntryPage;
  };
  /** showWalletHistory */
  "GET /v1/wallets/{id}/history": {
    input: { path: { id: string }; query?: ShowWalletHistoryQuery };
    result: S.WalletHistory;
  };
  /** showSystem */
  "GET /v1/system": {
    input: object;
    result: S.System;
  };
  /** listFailures */
  "GET /v1/system/failures": {
    input: object;
    result: S.FailureList;
  };
  /** retryFailure */
  "POST /v1/system/failures/{id}/retry": {
    input: { path: { id: string } };
    result: S.RetriedFailure;
  };
}
