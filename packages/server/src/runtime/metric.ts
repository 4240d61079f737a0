/** A number that a part of the service keeps, for `/metrics` to show. */
export interface Metric {
  name: string;
  help: string;
  /** A counter only ever grows. */
  kind: "gauge" | "counter";
  read: () => number;
}
