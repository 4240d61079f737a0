import type { Check } from "../engine/check.js";
import { accessChecks } from "./access-checks.js";
import { bodyChecks } from "./body-checks.js";
import { asyncapiChecks } from "./declared/asyncapi-checks.js";
import { openapiChecks } from "./declared/openapi-checks.js";
import { responseChecks } from "./declared/response-checks.js";
import { endpointChecks, walletBodyChecks } from "./endpoint-checks.js";
import { errorChecks } from "./error-checks.js";
import { everyAcceptedChecks } from "./every/every-accepted-checks.js";
import { everyErrorChecks } from "./every/every-error-checks.js";
import { everyReadChecks } from "./every/every-read-checks.js";
import { everyTransactionChecks } from "./every/every-transaction-checks.js";
import { failingChecks } from "./failing-checks.js";
import { keyChecks } from "./keys/key-checks.js";
import { keyFormChecks } from "./keys/key-form-checks.js";
import { keyKeptChecks } from "./keys/key-kept-checks.js";
import { policyChecks } from "./policy-checks.js";
import { bursarChecks } from "./profiles/bursar-checks.js";
import { idempotencyChecks } from "./profiles/idempotency-checks.js";
import { messageSignatureChecks } from "./profiles/message-signature-checks.js";
import { oauthChecks } from "./profiles/oauth-checks.js";
import { orderbookChecks } from "./profiles/orderbook-checks.js";
import { ratelimitChecks } from "./profiles/ratelimit-checks.js";
import { signedRequestChecks } from "./profiles/signed-request-checks.js";
import { standardWebhooksChecks } from "./profiles/standard-webhooks-checks.js";
import { streamChecks } from "./profiles/stream-checks.js";
import { tenantChecks } from "./profiles/tenant-checks.js";
import { refusedChecks } from "./refused-checks.js";
import { shownChecks } from "./shown-checks.js";
import { slowChecks } from "./slow-checks.js";
import { togetherChecks } from "./together-checks.js";
import { transactionChecks } from "./transaction-checks.js";
import { webhookChecks } from "./webhooks/webhook-checks.js";
import { webhookEveryChecks } from "./webhooks/webhook-every-checks.js";
import { webhookMemberChecks } from "./webhooks/webhook-every-member.js";
import { webhookResultChecks } from "./webhooks/webhook-every-result.js";
import { webhookRetryChecks } from "./webhooks/webhook-retry-checks.js";

/** All checks, each after those that it needs. A new check is a row of one of these lists. */
export const checkTable: readonly Check[] = [
  ...transactionChecks,
  ...togetherChecks,
  ...endpointChecks,
  ...bodyChecks,
  ...walletBodyChecks,
  ...shownChecks,
  ...keyChecks,
  ...keyFormChecks,
  ...keyKeptChecks,
  ...accessChecks,
  ...errorChecks,
  ...webhookChecks,
  ...webhookRetryChecks,
  ...failingChecks,
  ...policyChecks,
  ...refusedChecks,
  ...openapiChecks,
  ...responseChecks,
  ...tenantChecks,
  ...idempotencyChecks,
  ...standardWebhooksChecks,
  ...messageSignatureChecks,
  ...signedRequestChecks,
  ...oauthChecks,
  ...ratelimitChecks,
  ...orderbookChecks,
  ...streamChecks,
  ...asyncapiChecks,
  ...bursarChecks,
  ...slowChecks,
  ...everyErrorChecks,
  ...everyTransactionChecks,
  ...everyAcceptedChecks,
  ...everyReadChecks,
  ...webhookEveryChecks,
  ...webhookResultChecks,
  ...webhookMemberChecks,
];
