import type { PolicyDocument } from "./policy-document.js";

/** The ids of clients that occur anywhere in a document, whatever the field. */
export function namedClients(document: PolicyDocument): ReadonlySet<string> {
  return new Set(JSON.stringify(document).match(/cli_[0-7][0-9a-hjkmnp-tv-z]{25}/g) ?? []);
}
