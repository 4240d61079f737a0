/** The named schemas of a document: each is written once, and referenced wherever it is used. */
export interface Components {
  /** By name, as the document lists them. */
  schemas: Readonly<Record<string, unknown>>;
  /** A copy of a schema in which every schema that has a `$id` is replaced by a reference to its component. */
  reference: (schema: unknown) => unknown;
}

/** Collects the components of an OpenAPI or AsyncAPI document while its parts are written. */
export function createComponents(): Components {
  const schemas: Record<string, unknown> = {};
  const sources = new Map<string, string>();

  function reference(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(reference);
    if (typeof node !== "object" || node === null) return node;
    const { $id, ...rest } = node as Record<string, unknown>;
    const copy = () =>
      Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, reference(value)]));
    if (typeof $id !== "string") return copy();
    const source = JSON.stringify(rest);
    if (!sources.has($id)) {
      sources.set($id, source);
      schemas[$id] = copy();
    } else if (sources.get($id) !== source) throw new Error(`two different schemas have the $id ${$id}`);
    return { $ref: `#/components/schemas/${$id}` };
  }

  return { schemas, reference };
}
