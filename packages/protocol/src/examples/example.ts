/**
 * The examples of the OpenAPI and AsyncAPI documents. Each is named after the `$id` of its schema, or `<$id>.<variant>` if a schema has
 * several. A test validates every example by its schema and sends those of requests to a service, so that a reader can copy them.
 */
export interface Example {
  /** Says what distinguishes a variant. */
  summary?: string;
  value: unknown;
}

export type Examples = Readonly<Record<string, Example>>;

/** The last page of a list. */
export function lastPage(...data: readonly unknown[]): Example {
  return { value: { data, next_cursor: null } };
}
