import { accessExamples } from "./access-examples.js";
import { changeRequestExamples } from "./change-request-examples.js";
import { eventExamples } from "./event-examples.js";
import type { Examples } from "./example.js";
import { marketExamples } from "./market-examples.js";
import { overviewExamples } from "./overview-examples.js";
import { peopleExamples } from "./people-examples.js";
import { policyExamples } from "./policy-examples.js";
import { transactionExamples } from "./transaction-examples.js";
import { walletExamples } from "./wallet-examples.js";
import { webhookExamples } from "./webhook-examples.js";

/** Every example of the OpenAPI document. */
export const examples: Examples = {
  ...transactionExamples,
  ...walletExamples,
  ...marketExamples,
  ...overviewExamples,
  ...policyExamples,
  ...changeRequestExamples,
  ...accessExamples,
  ...peopleExamples,
  ...webhookExamples,
  ...eventExamples,
};

/** The names of a schema's examples; the first is shown first. */
export function exampleNamesOf(schema: string): string[] {
  return Object.keys(examples).filter((name) => name === schema || name.startsWith(`${schema}.`));
}
