import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { readAuditFilters } from "./pages/audit/audit-filters";
import { readEventFilters } from "./pages/events/event-rows";
import { readOrderFilters } from "./pages/orders/order-filters";
import { readFilters } from "./pages/transactions/filters";
import { NotFound } from "./shell/not-found";
import { parseSearch, stringifySearch } from "./shell/search-text";
import { Shell } from "./shell/shell";
import { Problem } from "./ui/panels/problem";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const routes = [
  createRoute({
    getParentRoute: () => root,
    path: "/",
    component: lazyRouteComponent(() => import("./pages/overview/overview-page"), "OverviewPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/webhooks",
    component: lazyRouteComponent(() => import("./pages/webhooks/webhooks-page"), "WebhooksPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/webhooks/$id",
    component: lazyRouteComponent(() => import("./pages/webhooks/endpoint-page"), "EndpointPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/deliveries/$id",
    component: lazyRouteComponent(() => import("./pages/webhooks/delivery-page"), "DeliveryPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/system",
    component: lazyRouteComponent(() => import("./pages/system/system-page"), "SystemPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/transactions",
    validateSearch: readFilters,
    component: lazyRouteComponent(() => import("./pages/transactions/transactions-page"), "TransactionsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/transactions/new",
    component: lazyRouteComponent(() => import("./pages/transactions/new-payment-page"), "NewPaymentPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/transactions/$id",
    component: lazyRouteComponent(() => import("./pages/transaction/transaction-page"), "TransactionPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/approvals",
    component: lazyRouteComponent(() => import("./pages/approvals/approvals-page"), "ApprovalsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/approvals/$id",
    component: lazyRouteComponent(() => import("./pages/approvals/approval-page"), "ApprovalPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/account",
    component: lazyRouteComponent(() => import("./session/account-page"), "AccountPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/wallets",
    component: lazyRouteComponent(() => import("./pages/wallets/wallets-page"), "WalletsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/wallets/$id",
    component: lazyRouteComponent(() => import("./pages/wallets/wallet-page"), "WalletPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/destinations",
    component: lazyRouteComponent(() => import("./pages/destinations/destinations-page"), "DestinationsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/change-requests",
    component: lazyRouteComponent(
      () => import("./pages/change-requests/change-requests-page"),
      "ChangeRequestsPage",
    ),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/change-requests/$id",
    component: lazyRouteComponent(
      () => import("./pages/change-requests/change-request-page"),
      "ChangeRequestPage",
    ),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/policy",
    component: lazyRouteComponent(() => import("./pages/policy/policy-page"), "PolicyPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/markets",
    validateSearch: (search: Record<string, unknown>): { market?: string } =>
      typeof search["market"] === "string" ? { market: search["market"].slice(0, 50) } : {},
    component: lazyRouteComponent(() => import("./pages/markets/markets-page"), "MarketsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/orders",
    validateSearch: readOrderFilters,
    component: lazyRouteComponent(() => import("./pages/orders/orders-page"), "OrdersPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/orders/$id",
    component: lazyRouteComponent(() => import("./pages/orders/order-page"), "OrderPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/events",
    validateSearch: readEventFilters,
    component: lazyRouteComponent(() => import("./pages/events/events-page"), "EventsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/audit",
    validateSearch: readAuditFilters,
    component: lazyRouteComponent(() => import("./pages/audit/audit-page"), "AuditPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/networks",
    component: lazyRouteComponent(() => import("./pages/networks/networks-page"), "NetworksPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/people",
    component: lazyRouteComponent(() => import("./pages/people/people-page"), "PeoplePage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/people/$id",
    component: lazyRouteComponent(() => import("./pages/people/person-page"), "PersonPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/roles",
    component: lazyRouteComponent(() => import("./pages/people/roles-page"), "RolesPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/clients",
    component: lazyRouteComponent(() => import("./pages/clients/clients-page"), "ClientsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/clients/$id",
    component: lazyRouteComponent(() => import("./pages/clients/client-page"), "ClientPage"),
  }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: "/console",
  parseSearch,
  stringifySearch,
  // What a page does not know of its address is taken out of it. The page is drawn before that, so it reads its filters itself.
  search: { strict: true },
  defaultPreload: "intent",
  scrollRestoration: true,
  // What was asked, typed or done on the page of one object is not shown on that of the next.
  defaultRemountDeps: ({ params }) => params,
  defaultErrorComponent: ({ error, reset }) => <Problem error={error} retry={reset} />,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
