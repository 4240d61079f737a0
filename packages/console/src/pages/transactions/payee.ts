import type { ListedAddress } from "../../api/listed-addresses";
import type { WalletNames } from "../../api/wallet-names";
import { plainly } from "../../ui/values/foreign-text";

/** What a person can name. Undefined if it is not known as a whole, and empty if the role does not read it. */
export interface KnownNames {
  wallets: WalletNames | undefined;
  listed: readonly ListedAddress[] | undefined;
}

/** The network of assets that are on no chain. */
const book = "book";

type Payee = { wallet_id: string } | { address: string } | { fault: string };

/**
 * What was typed to be paid: a wallet by its id or name, an address, or the label of a listed one on the network of the asset. A name that
 * could mean two things, also one that is not known here, pays nothing. An address is never a name: otherwise a wallet that is named like
 * it would get the payment. Undefined if nothing was typed.
 */
export function payeeOf(typed: string, network: string, { wallets, listed }: KnownNames): Payee | undefined {
  const text = typed.trim();
  if (text === "") return undefined;
  if (isWalletId(text)) return { wallet_id: text };
  if (couldBeAddress(text))
    return network === book
      ? { fault: "This asset is on no chain: it is paid to a wallet, and not to an address." }
      : { address: text };
  if (wallets === undefined || listed === undefined)
    return { fault: "Not all names are known here. Use the id of the wallet, or the address." };
  const named = [...wallets].filter(([, name]) => name === text);
  const labelled = listed.filter(({ label }) => label === text);
  if (named.length > 0 && labelled.length > 0)
    return {
      fault: "A wallet and a listed address have this name. Use the id of the wallet, or the address.",
    };
  if (labelled.length > 0) return labelledAddress(labelled, network);
  const [id] = named[0] ?? [];
  if (named.length === 1 && id !== undefined) return { wallet_id: id };
  if (named.length > 1) return { fault: manyFault(named.length) };
  if (wallets.size === 0) return { fault: `No listed address has this label. ${idsOnly}` };
  return { fault: noneFault(listed.length > 0 ? "wallet or listed address" : "wallet") };
}

/** A tenant has wallets, so a person who knows none must not read them. */
const idsOnly = "Your role names wallets by their id, such as wlt_…";
const noneFault = (noun: string) => `No ${noun} has this name. Upper and lower case differ.`;
const manyFault = (count: number) => `${count} wallets have this name. Choose one of them by its id.`;

/** What can be typed to be paid. */
export function payeeHint(mayNameWallets: boolean, mayReadLabels: boolean): string {
  const wallet = `The ${mayNameWallets ? "name or id" : "id"} of a wallet`;
  const address = "an address on the asset's network";
  const payees = mayReadLabels
    ? `${wallet}, ${address}, or the label of a listed one`
    : `${wallet}, or ${address}`;
  return `${payees}. Defaults to the settlement wallet`;
}

/** The same label can be that of one address on each network. */
function labelledAddress(labelled: readonly ListedAddress[], network: string): Payee {
  const here = labelled.filter((one) => one.network === network);
  const [only] = here;
  if (only === undefined)
    return {
      fault: `The listed address of this label is on ${labelled[0]?.network}. Choose an asset of that network.`,
    };
  if (here.length > 1) return { fault: `${here.length} listed addresses have this label. Use the address.` };
  if (only.state !== "active")
    return { fault: "The listed address of this label is not active yet. Use the address itself." };
  return { address: only.address };
}

/** The wallet that was typed, by its id or by a name that no other wallet has. */
export function walletIdOf(typed: string, names: WalletNames | undefined): string | undefined {
  const text = typed.trim();
  if (isWalletId(text)) return text;
  const named = [...(names ?? [])].filter(([, name]) => name === text);
  return named.length === 1 ? named[0]?.[0] : undefined;
}

/** What is wrong with the name of a wallet that was typed. Nothing if it is empty, an id, or may be an address. */
export function nameFaultOf(typed: string, names: WalletNames | undefined): string | undefined {
  const text = typed.trim();
  if (!isName(text)) return undefined;
  if (names?.size === 0) return idsOnly;
  if (names === undefined) return "Not all wallets are known here by name. Use the id of the wallet.";
  const count = [...names.values()].filter((name) => name === text).length;
  if (count === 1) return undefined;
  return count === 0 ? noneFault("wallet") : manyFault(count);
}

/** The listed addresses of a network as a person chooses them: by a label in which nothing is hidden, and as the address, which means one. */
export function addressChoices(listed: readonly ListedAddress[] | undefined, network: string) {
  return (listed ?? [])
    .filter((one) => one.network === network)
    .map(({ address, label, state }) => ({
      address,
      text: `${plainly(label)}${state === "active" ? "" : " (not active yet)"}`,
    }));
}

/** Whether it is neither an id nor an address. */
export function isName(typed: string): boolean {
  const text = typed.trim();
  return text !== "" && !isWalletId(text) && !couldBeAddress(text);
}

export function isWalletId(text: string): boolean {
  return text.startsWith("wlt_");
}

/** Whether it is an id in full, and not a part of one that is still being typed. */
export function isWholeWalletId(text: string): boolean {
  return /^wlt_[0-9a-z]{26}$/.test(text);
}

/** On any network: long words of letters and digits, which may have a prefix. */
function couldBeAddress(text: string): boolean {
  return /^0x/i.test(text) || /^[a-z0-9:]{20,}$/i.test(text);
}
