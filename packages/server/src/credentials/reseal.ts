import type { Sealing } from "./sealing.js";

/** Encrypts secrets again with the current master key. */
export interface Resealing {
  /** Undefined if it is encrypted with that key already, or cannot be read. It can have been encrypted for an older context. */
  reseal: (context: string, sealed: Uint8Array, oldContext?: string) => Uint8Array | undefined;
  /** The contexts of what could not be read. It stays as it is: one row that somebody has written must not keep an old key in use. */
  unreadable: string[];
}

export function createReseal({
  seal,
  open,
  isCurrent,
}: Pick<Sealing, "seal" | "open" | "isCurrent">): Resealing {
  const unreadable: string[] = [];
  return {
    unreadable,
    reseal: (context, sealed, oldContext = context) => {
      if (isCurrent(sealed)) return undefined;
      const secret = open(context, sealed) ?? open(oldContext, sealed);
      if (secret !== undefined) return seal(context, secret);
      unreadable.push(context);
      return undefined;
    },
  };
}
