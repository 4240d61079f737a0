import { type ApprovalTerms, approvalDigest, readApprovalTerms, type Transaction } from "@bursar/client";

/**
 * What an approver has seen is what the document shows, not what this program meant to show. The digest is therefore computed from the
 * strings in the document: a term that is missing, hidden or changed there cannot be approved.
 */

/** Everything that the digest covers, by the name that the page gives it. */
const termNames = [
  "tenant",
  "id",
  "kind",
  "amount",
  "decimals",
  "asset",
  "network",
  "source",
  "destination",
  "expires_at",
  "created_by",
] as const;

export type TermName = (typeof termNames)[number];

/** How a term is written that has no value. No value has a space in it. */
export const withoutValue: Partial<Record<TermName, string>> = {
  expires_at: "No expiry was requested",
  created_by: "The operator or the service",
};

/** The digest of what is shown in an element. Fails with a sentence if a term is not shown. */
export async function digestOfShown(root: HTMLElement): Promise<string> {
  return await approvalDigest(readShown((name) => shownText(root, name)));
}

export function readShown(textOf: (name: TermName) => string): ApprovalTerms {
  const text = Object.fromEntries(termNames.map((name) => [name, textOf(name)])) as Record<TermName, string>;
  const valueOrNull = (name: TermName) => (text[name] === withoutValue[name] ? null : text[name]);
  const { id, kind, amount, asset, network } = text;
  const shown = {
    id,
    kind,
    amount,
    asset,
    network,
    source: { wallet_id: text.source },
    destination: text.destination.startsWith("wlt_")
      ? { wallet_id: text.destination }
      : { address: text.destination },
    expires_at: valueOrNull("expires_at"),
    created_by: valueOrNull("created_by"),
  };
  const decimals = /^[0-9]{1,2}$/.test(text.decimals) ? Number(text.decimals) : Number.NaN;
  return readApprovalTerms(shown as unknown as Transaction, text.tenant, decimals);
}

function shownText(root: HTMLElement, name: TermName): string {
  const found = root.querySelectorAll<HTMLElement>(`[data-term="${name}"]`);
  const [element] = found;
  if (found.length !== 1 || element === undefined || !isShown(element))
    throw new Error(`The page does not show the ${name.replace("_", " ")} of this payment. Reload it.`);
  return element.textContent;
}

/** With all of its parts: an amount of which three digits are hidden is another amount. */
function isShown(element: HTMLElement): boolean {
  return [element, ...element.querySelectorAll<HTMLElement>("*")].every(
    (part) =>
      [...part.getClientRects()].some(({ width, height }) => width > 0 && height > 0) &&
      part.checkVisibility({ opacityProperty: true, visibilityProperty: true }),
  );
}
