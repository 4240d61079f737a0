import type { Scope } from "@bursar/protocol";
import type { Page } from "playwright-core";
import { changeScopes } from "../../../src/http/routes/change-requests/change-scopes.js";

type Actions = Readonly<Record<string, readonly Scope[]>>;

/** What changes something: for each page of the router the words of its buttons and links, and the scopes of which one is needed. */
const actionsOf: Readonly<Record<string, Actions>> = {
  "/transactions": { "New payment": ["transactions:write"] },
  "/transactions/$id": {
    "Cancel the payment": ["transactions:write"],
    Decide: ["transactions:approve"],
  },
  "/approvals/$id": {
    "Approve with the passkey": ["transactions:approve"],
    Reject: ["transactions:approve"],
  },
  "/wallets": { "New wallet": ["wallets:write"] },
  "/wallets/$id": { Freeze: ["wallets:freeze"], Unfreeze: ["wallets:unfreeze"] },
  "/destinations": { "List an address": ["destinations:manage"], Remove: ["destinations:manage"] },
  "/change-requests/$id": { "Approve with the passkey": changeScopes, Reject: changeScopes },
  "/policy": {
    "Add a rule": ["policies:manage"],
    Up: ["policies:manage"],
    Down: ["policies:manage"],
    Remove: ["policies:manage"],
    "Put in force with the passkey": ["policies:manage"],
  },
  "/markets": {
    "Place the order": ["orders:write"],
    Reduce: ["orders:write"],
    Cancel: ["orders:write"],
  },
  "/orders/$id": { Reduce: ["orders:write"], Cancel: ["orders:write"] },
  "/webhooks": { "New endpoint": ["webhooks:manage"] },
  "/webhooks/$id": {
    Verify: ["webhooks:manage"],
    "Send a test": ["webhooks:manage"],
    Change: ["webhooks:manage"],
    "Rotate the secret": ["webhooks:manage"],
    "Disable with the passkey": ["webhooks:manage"],
    "Send again": ["webhooks:manage"],
    Delete: ["webhooks:manage"],
  },
  "/deliveries/$id": { "Send again": ["webhooks:manage"] },
  "/audit": { Verify: ["audit:read"] },
  "/people": { Invite: ["clients:manage"] },
  "/people/$id": {
    "Give this role": ["clients:manage"],
    Disable: ["clients:manage"],
    "Recover with a new link": ["clients:manage"],
  },
  "/roles": { "Create a role": ["clients:manage"], "Delete matrix": ["clients:manage"] },
  "/clients": { "Create a client": ["clients:manage"] },
  "/clients/$id": {
    "Set the scopes with the passkey": ["clients:manage"],
    "New secret with the passkey": ["clients:manage"],
    Disable: ["clients:manage"],
    Remove: ["clients:manage"],
  },
};

/** What reads, or is kept in the browser alone. */
const reading: readonly RegExp[] = [
  /^(Load more|Pause|Download as CSV|Save|Copy|Roles|Discard|Open the approval|Open the transaction)$/,
  /^(Try this payment|Compare the draft with the policy in force|Compare version \d+)$/,
  // The number of an entry or an event opens its JSON.
  /^\d+$/,
];

export interface SeenActions {
  /** Rows of the table that the page shows, as `/wallets New wallet`. */
  shown: string[];
  /** Those of them that need a scope which the person lacks. */
  forbidden: string[];
  /** Buttons that are in no row, and do not only read. */
  unknown: string[];
}

/** The actions of a page of the router. A button in a form that is disabled as a whole offers nothing; one that waits for input does. */
export async function lookForActions(
  page: Page,
  path: string,
  scopes: readonly string[],
): Promise<SeenActions> {
  const buttons = page.locator("main").locator("button:visible:not(fieldset:disabled *), a.button:visible");
  const words = [...new Set(await buttons.allInnerTexts())];
  const rows = actionsOf[path] ?? {};
  const isRow = (word: string) => Object.hasOwn(rows, word);
  const name = (word: string) => `${path} ${word}`;
  return {
    shown: words.filter(isRow).map(name),
    forbidden: words
      .filter((word) => isRow(word) && !rows[word]?.some((scope) => scopes.includes(scope)))
      .map(name),
    unknown: words.filter((word) => !isRow(word) && !reading.some((one) => one.test(word))).map(name),
  };
}

/** Every row, as the pages show it. */
export function listActions(): string[] {
  return Object.entries(actionsOf).flatMap(([path, rows]) =>
    Object.keys(rows).map((word) => `${path} ${word}`),
  );
}
