import { createStopInAnyCase, type HoldOrders, type StopInAnyCase } from "../app/access/stop-in-any-case.js";
import { insertOverdueStop, insertStop } from "../store/access/stops/stop-records.js";
import { isDatabaseUnavailable } from "../store/core/database.js";
import type { ComposeOptions } from "./compose.js";

export function createStops({ database, log }: Pick<ComposeOptions, "database" | "log">): StopInAnyCase {
  return createStopInAnyCase({
    recordStop: async (subject, facts) => {
      await database.query(insertStop(subject, facts));
    },
    isUnavailable: isDatabaseUnavailable,
    onIncomplete: (error, { tenantId, subjectId }) =>
      log.error(
        { err: error, tenant_id: tenantId, subject_id: subjectId },
        "A freeze, suspension, cancellation or disabled client was recorded and holds, but its row or event could not be written.",
      ),
  });
}

export function createHoldOrders({ database }: Pick<ComposeOptions, "database">): HoldOrders {
  return async (subject) => {
    await database.query(insertOverdueStop(subject));
  };
}
