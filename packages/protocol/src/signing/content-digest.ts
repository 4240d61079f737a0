import { parseDictionary } from "structured-headers";

/** The digests that a Content-Digest header (RFC 9530) gives, by algorithm; undefined if it is malformed. */
export function readContentDigest(header: string): ReadonlyMap<string, Uint8Array> | undefined {
  try {
    const entries = [...parseDictionary(header)].flatMap(([name, [value]]) =>
      value instanceof ArrayBuffer ? [[name, new Uint8Array(value)] as const] : [],
    );
    return new Map(entries);
  } catch {
    return undefined;
  }
}
