/** Marks a route or a field as deprecated: since when, when it ends, and where that is explained. */
export interface Deprecation {
  /** Dates such as `2027-03-01`, meaning midnight UTC. */
  since: string;
  sunset: string;
  /** A page that says what to use instead, and how to migrate. */
  link: string;
}

/** The schema keyword that carries it. */
export const deprecationKeyword = "x-deprecation";

/** Options for the schema of a deprecated field: `Type.String(deprecated({ … }))`. */
export function deprecated(deprecation: Deprecation) {
  return { deprecated: true, [deprecationKeyword]: deprecation };
}
