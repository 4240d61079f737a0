import { analyzeYoungTables } from "../../store/core/schema/analyze-young-tables.js";
import type { ComposeOptions } from "../compose.js";

const analyzeIntervalMs = 1000;

/** Analyses tables that grow from empty. They grow only with events, and reading the catalogue is the dearest statement of an idle service. */
export function keepAnalyzed({ database, wakeUps, log }: ComposeOptions): {
  start: () => void;
  stop: () => void;
} {
  let timer: NodeJS.Timeout | undefined;
  let mayHaveGrown = true;
  wakeUps.subscribe("events", () => {
    mayHaveGrown = true;
  });
  const analyze = () => {
    if (!mayHaveGrown) return;
    mayHaveGrown = false;
    analyzeYoungTables(database).catch((error: unknown) =>
      log.debug({ err: error }, "tables could not be analysed"),
    );
  };
  return {
    start: () => {
      timer = setInterval(analyze, analyzeIntervalMs).unref();
    },
    stop: () => clearInterval(timer),
  };
}
