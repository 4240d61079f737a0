import { runRegularly } from "../../runtime/loops/run-regularly.js";
import { removeOldAuditWrites } from "../../store/access/audit-log/audit-writes.js";
import { removeOldClientHours } from "../../store/access/client-usage.js";
import { removeExpiredCredentials } from "../../store/access/tokens.js";
import { removeShownSecrets } from "../../store/core/operator-requests.js";
import { removeOldUsage } from "../../store/policy/remove-old-usage.js";
import { removeOldContexts } from "../../store/tracing/trace-contexts.js";
import type { ComposeOptions } from "../compose.js";

const intervalMs = 60_000;

/** Removes what has expired, and nothing while it is not known what time it is. Returns what ends that. */
export function keepHouse(
  { database, isClockTrusted, log, now }: ComposeOptions,
  keepMarkets: () => Promise<unknown>,
): () => void {
  const ifTrusted = (job: () => Promise<unknown>) => async () => {
    if (isClockTrusted()) await job();
  };
  return runRegularly({
    intervalMs,
    jobs: [
      () => removeExpiredCredentials(database),
      () => removeShownSecrets(database),
      () => removeOldAuditWrites(database),
      () => removeOldContexts(database, now()),
      () => removeOldUsage(database),
      () => removeOldClientHours(database),
      keepMarkets,
    ].map(ifTrusted),
    onError: (error) => log.warn({ err: error }, "housekeeping failed"),
  });
}
