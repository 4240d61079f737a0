import type { Logger } from "pino";
import { OperatorError } from "../operator-error.js";
import {
  createDatabaseClock,
  type DatabaseClock,
  describeReading,
  type LocalClocks,
  skewLimits,
} from "../runtime/database/database-clock.js";
import { nodeTimers } from "../runtime/loops/timers.js";
import type { Database } from "../store/core/database.js";
import { readDatabaseTime } from "../store/core/database-time.js";

/** The clock of a service, which logs when the clocks begin to differ and when they agree again. */
export function createServiceClock(database: Database, clocks: LocalClocks, log: Logger): DatabaseClock {
  let isWarned = false;
  return createDatabaseClock({
    ...clocks,
    readDatabaseTime: () => readDatabaseTime(database, clocks.monotonicMs),
    onReading: (reading) => {
      const isLarge = !reading.isFollowed || Math.abs(reading.skewMs) >= skewLimits.warnMs;
      if (isLarge !== isWarned) {
        const skew = { skew_seconds: reading.skewMs / 1000 };
        if (isLarge) log.warn(skew, `Synchronise the clocks: ${describeReading(reading)}.`);
        else log.info(skew, "this machine's clock agrees with the database's again");
      }
      isWarned = isLarge;
    },
    onError: (error) => log.debug({ err: error }, "the database's clock could not be read"),
    timers: nodeTimers,
  });
}

/** Refuses to start if the clocks differ by too much. The second reading needs no new connection, so it is more precise. */
export async function measureAtStart(clock: DatabaseClock): Promise<void> {
  await clock.measure();
  const reading = await clock.measure();
  if (Math.abs(reading.skewMs) >= skewLimits.refuseMs)
    throw new OperatorError(
      `The clocks differ: ${describeReading(reading)}. Synchronise both machines with a time service, and start again.`,
    );
}
