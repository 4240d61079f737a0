import type { ApiClient, FormerAccount, PersonFacts, ProviderAccount } from "../clients/client.js";

/**
 * An account of an OpenID provider belongs to one person of a tenant, and stays theirs when it can no longer log in as them. Otherwise
 * its next login, with another address, would create a second person, who is independent of the first: one human being would approve
 * their own payment.
 */
export function isOf({ person }: ApiClient, account: ProviderAccount): boolean {
  return person?.account !== undefined && isSame(person.account, account);
}

/** More than one person needs, and few enough to be stored with the person. */
const accountsMax = 50;

export function hasRoomFor({ formerAccounts = [] }: PersonFacts): boolean {
  return formerAccounts.filter(({ released }) => released !== true).length < accountsMax;
}

/** Whether the operator has said that an account from before is somebody else's. */
export function isReleased({ formerAccounts = [] }: PersonFacts, account: ProviderAccount): boolean {
  return formerAccounts.some((former) => isSame(former, account) && former.released === true);
}

/** The person without the accounts that the row names, and those that were recorded: they are somebody else's. */
export function withReleased(person: PersonFacts, recorded: readonly ProviderAccount[]): PersonFacts {
  const { formerAccounts = [], ...kept } = withoutAccount(person);
  const named = [...formerAccounts, ...recorded].map(({ issuer, subject }) => ({ issuer, subject }));
  const released = named
    .filter((one, index) => named.findIndex((other) => isSame(one, other)) === index)
    .map((account): FormerAccount => ({ ...account, released: true }));
  return { ...kept, ...(released.length > 0 ? { formerAccounts: released } : {}) };
}

/** The person with this account. The one from before, of another issuer, opens nothing any more. */
export function withAccount(person: PersonFacts, account: ProviderAccount): PersonFacts {
  const { formerAccounts, ...kept } =
    person.account !== undefined && isSame(person.account, account) ? person : withoutAccount(person);
  const others = formerAccounts?.filter((former) => !isSame(former, account)) ?? [];
  return { ...kept, account, ...(others.length > 0 ? { formerAccounts: others } : {}) };
}

/** The person without an account that can log in. */
export function withoutAccount(person: PersonFacts): PersonFacts {
  const { account, formerAccounts = [], ...kept } = person;
  const former = account === undefined ? formerAccounts : [...formerAccounts, account];
  return { ...kept, ...(former.length > 0 ? { formerAccounts: former } : {}) };
}

/** As the audit log names an account. The fragment of an issuer is empty, and the name has no space. */
export function nameAccount({ issuer, subject }: ProviderAccount): string {
  return `${issuer}#${encodeURIComponent(subject)}`;
}

/** Addresses are compared as the database does: without regard to the case of ASCII letters only. */
export function isSameAddress(one: string, other: string): boolean {
  const fold = (address: string) => address.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return fold(one) === fold(other);
}

function isSame(one: ProviderAccount, other: ProviderAccount): boolean {
  return one.issuer === other.issuer && one.subject === other.subject;
}
