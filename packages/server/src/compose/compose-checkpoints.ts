import { showId } from "@bursar/protocol";
import { createCheckpointPublisher } from "../app/audit/checkpoint-publisher.js";
import { publishCheckpoint } from "../store/access/checkpoints.js";
import { createEventLog } from "../store/events/events.js";
import type { ComposeOptions } from "./compose.js";

/** Publishes the ends of the audit logs. */
export function composeCheckpoints({ database, wakeUps, settings, log, newUuid, now }: ComposeOptions) {
  const events = createEventLog(wakeUps);
  return createCheckpointPublisher({
    publishNext: (notSince) =>
      publishCheckpoint(database, events, { newUuid, notSince, now: new Date(now()) }),
    onCheckpoint: (checkpoint) => log.info({ checkpoint }, "audit checkpoint"),
    onUntrusted: (tenantId) =>
      log.error(
        { tenant: showId("tnt", tenantId) },
        "The head of an audit log was changed by something other than Bursar. Run `bursar audit verify`.",
      ),
    onError: (error) => log.warn({ err: error }, "checkpoints of the audit log could not be published"),
    intervalMs: settings["audit.checkpoint_seconds"] * 1000,
    now,
    monotonicMs: () => performance.now(),
  });
}
