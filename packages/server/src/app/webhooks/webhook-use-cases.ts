import type { Refused } from "../requests/refused.js";
import type { EndpointChanges } from "./change-endpoint.js";
import type { CreateEndpoint } from "./create-endpoint.js";
import type { DeliveryStore } from "./delivery.js";
import type { EndpointStore, WebhookEndpoint } from "./endpoint.js";
import type { EndpointStatsUseCases } from "./endpoint-stats.js";
import type { Resends } from "./resend-deliveries.js";
import type { ShowDelivery } from "./show-delivery.js";
import type { TestEndpoint } from "./test-endpoint.js";
import type { VerifyEndpoint } from "./verify-endpoint.js";

/** The use cases of webhooks: endpoints and deliveries. */
export interface WebhookUseCases extends EndpointChanges, EndpointStatsUseCases, Resends {
  createEndpoint: CreateEndpoint;
  readEndpoint: (tenantId: string, id: string) => Promise<WebhookEndpoint | Refused>;
  listEndpoints: EndpointStore["listEndpoints"];
  testEndpoint: TestEndpoint;
  verifyEndpoint: VerifyEndpoint;
  showDelivery: ShowDelivery;
  listDeliveries: DeliveryStore["listDeliveries"];
}
