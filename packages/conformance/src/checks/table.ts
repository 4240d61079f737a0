import type { Check } from "../engine/check.js";
import { accessChecks } from "./access-checks.js";
import { bodyChecks } from "./body-checks.js";
import { endpointChecks } from "./endpoint-checks.js";
import { errorChecks } from "./error-checks.js";
import { keyChecks } from "./key-checks.js";
import { policyChecks } from "./policy-checks.js";
import { bursarChecks } from "./profiles/bursar-checks.js";
import { idempotencyChecks } from "./profiles/idempotency-checks.js";
import { oauthChecks } from "./profiles/oauth-checks.js";
import { orderbookChecks } from "./profiles/orderbook-checks.js";
import { ratelimitChecks } from "./profiles/ratelimit-checks.js";
import { standardWebhooksChecks } from "./profiles/standard-webhooks-checks.js";
import { tenantChecks } from "./profiles/tenant-checks.js";
import { transactionChecks } from "./transaction-checks.js";
import { webhookChecks } from "./webhook-checks.js";

/** All checks, each after those that it needs. A new check is a row of one of these lists. */
export const checkTable: readonly Check[] = [
  ...transactionChecks,
  ...endpointChecks,
  ...bodyChecks,
  ...keyChecks,
  ...accessChecks,
  ...errorChecks,
  ...webhookChecks,
  ...policyChecks,
  ...tenantChecks,
  ...idempotencyChecks,
  ...standardWebhooksChecks,
  ...oauthChecks,
  ...ratelimitChecks,
  ...orderbookChecks,
  ...bursarChecks,
];
