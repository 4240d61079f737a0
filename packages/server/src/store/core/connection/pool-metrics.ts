import type { Metric } from "../../../runtime/metric.js";
import type { Database } from "../database.js";

/** Metrics of this process's connections to the database. */
export function poolMetrics({ poolUse }: Pick<Database, "poolUse">): Metric[] {
  return [
    {
      name: "bursar_database_connections",
      help: "The connections of the pool, by whether they are in use.",
      kind: "gauge",
      read: () => {
        const { inUse, idle } = poolUse();
        return [
          { labels: { state: "in_use" }, value: inUse },
          { labels: { state: "idle" }, value: idle },
        ];
      },
    },
    {
      name: "bursar_database_connections_max",
      help: "The maximum number of connections of the pool.",
      kind: "gauge",
      read: () => poolUse().max,
    },
    {
      name: "bursar_database_connection_waiters",
      help: "Statements and SQL transactions that wait for a connection.",
      kind: "gauge",
      read: () => poolUse().waiting,
    },
  ];
}
