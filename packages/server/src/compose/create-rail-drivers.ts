import type { RailDriver, RailPart } from "../app/rails/rail.js";
import type { ComposeOptions } from "./compose.js";
import type { TransactionParts } from "./compose-transactions.js";

/** The drivers of the rails that have one; they are woken when there is something to do. */
export function createRailDrivers(
  parts: readonly RailPart[],
  { railServices }: Pick<TransactionParts, "railServices">,
  { log, wakeUps }: ComposeOptions,
): RailDriver[] {
  const drivers = parts.flatMap(({ rail: { network }, createDriver }) => {
    const onError = (error: unknown) => log.error({ err: error, network }, "A rail failed. It tries again.");
    return createDriver === undefined ? [] : [createDriver({ ...railServices, onError })];
  });
  wakeUps.subscribe("rails", () => {
    for (const driver of drivers) driver.wake();
  });
  return drivers;
}
