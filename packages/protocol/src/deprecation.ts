/** Marks a route or a field that will go: since when it should not be used, when it ends, and where that is explained. */
export interface Deprecation {
  /** Dates as `2027-03-01`, which mean midnight UTC. */
  since: string;
  sunset: string;
  /** What to use instead, and how to get there. */
  link: string;
}

/** The keyword under which a schema carries it. */
export const deprecationKeyword = "x-deprecation";

/** Options for the schema of a field that will go: `Type.String(deprecated({ … }))`. */
export function deprecated(deprecation: Deprecation) {
  return { deprecated: true, [deprecationKeyword]: deprecation };
}
