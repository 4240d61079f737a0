import type { Scope } from "@bursar/protocol";
import type { ClientOrigin } from "../app/audit/audit-entry.js";

/** The scopes that read what clients with other scopes can change. */
const readingScopes = {
  transaction: "transactions:read",
  order: "orders:read",
  wallet: "wallets:read",
} as const satisfies Record<string, Scope>;

interface Readable {
  id: string;
  object: keyof typeof readingScopes;
  state: string;
}

/** Of a wallet, freezing changes `frozen` and not its state. */
const summarised = ["id", "object", "state", "frozen"] as const;

/** An object that a client has changed: its id and its state, and all of it only if the client may also read it. */
export function presentChanged<Shown extends Readable>({ principal }: ClientOrigin, shown: Shown) {
  if (principal.scopes.has(readingScopes[shown.object])) return shown;
  const fields = Object.entries(shown).filter(([name]) => (summarised as readonly string[]).includes(name));
  return Object.fromEntries(fields) as Pick<Shown, Extract<keyof Shown, (typeof summarised)[number]>>;
}
