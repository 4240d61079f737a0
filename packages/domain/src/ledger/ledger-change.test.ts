import {
  type Arbitrary,
  array,
  assert,
  bigInt,
  constantFrom,
  dictionary,
  property,
  record,
  tuple,
} from "fast-check";
import { describe, expect, it } from "vitest";
import {
  accountName,
  type Balance,
  externalAccountId,
  feeAccountId,
  marketClearingAccountId,
  mayBeNegative,
} from "./accounts.js";
import { accountsOfChanges, applyLedgerChange, type LedgerChange, noLedgerChange } from "./ledger-change.js";

const tenants = ["tenant-1", "tenant-2"];
const accounts = ["alice", "bob", externalAccountId("book"), marketClearingAccountId, feeAccountId];
const assets = ["USD", "ETH"];
const amount = bigInt({ min: 1n, max: 100n });

const hold = record({
  tenantId: constantFrom(...tenants),
  account: constantFrom(...accounts),
  asset: constantFrom(...assets),
  amount,
});
const posting = tuple(hold, constantFrom(...accounts), bigInt({ min: 1n, max: 9n }))
  .filter(([{ account }, credit]) => account !== credit)
  .map(([{ account, ...rest }, credit, line]) => ({ ...rest, debit: account, credit, line: Number(line) }));
const changes: Arbitrary<LedgerChange> = record({
  releases: array(hold, { maxLength: 3 }),
  postings: array(posting, { maxLength: 4 }),
  holds: array(hold, { maxLength: 3 }),
});

const names = tenants.flatMap((tenant) =>
  accounts.flatMap((account) => assets.map((asset) => nameOf(tenant, account, asset))),
);
/** Every account exists; held is enough for all releases, so that only missing funds can refuse a change. */
const ledgers = dictionary(constantFrom(...names), bigInt({ min: 0n, max: 200n })).map(
  (funds) =>
    new Map(names.map((name): [string, Balance] => [name, { available: funds[name] ?? 0n, held: 300n }])),
);

describe("a ledger change", () => {
  it("keeps the sum of every tenant's asset", () =>
    assert(
      property(ledgers, changes, (ledger, change) => {
        expect(sums(after(ledger, change))).toEqual(sums(ledger));
      }),
    ));

  it("never leaves a wallet or the fees below zero, and no hold below zero", () =>
    assert(
      property(ledgers, array(changes, { maxLength: 5 }), (ledger, all) => {
        let current = ledger;
        // Releasing a hold that does not exist is a bug of the caller and throws; that is tested below.
        for (const change of all) current = after(current, { ...change, releases: [] });
        for (const [name, { available, held }] of current) {
          expect(held).toBeGreaterThanOrEqual(0n);
          if (!mayBeNegative(name.split(" ")[1] ?? "")) expect(available).toBeGreaterThanOrEqual(0n);
        }
      }),
    ));

  it("is applied in the order of releases, postings and holds", () =>
    assert(
      property(ledgers, changes, (ledger, change) => {
        const outcome = applyLedgerChange(ledger, change);
        if ("insufficient" in outcome) return;
        const { releases, postings, holds } = change;
        const released = after(ledger, { ...noLedgerChange, releases });
        const posted = postings.reduce(
          (current, one) => after(current, { ...noLedgerChange, postings: [one] }),
          released,
        );
        const held = after(posted, { ...noLedgerChange, holds });
        expect(after(ledger, change)).toEqual(held);
      }),
    ));

  it("changes all of its accounts or none, and names no others", () =>
    assert(
      property(ledgers, changes, (ledger, change) => {
        const before = new Map(ledger);
        const outcome = applyLedgerChange(ledger, change);
        expect(ledger).toEqual(before);
        const named = accountsOfChanges([change]).map(accountName);
        if ("balances" in outcome) expect([...outcome.balances.keys()].sort()).toEqual(named.sort());
        else expect(named).toContain(accountName(outcome.insufficient));
      }),
    ));

  it("pays a posting from a hold that it releases, and holds what it was paid", () => {
    const ledger = new Map([
      [nameOf("t", "alice", "USD"), { available: 0n, held: 5n }],
      [nameOf("t", "bob", "USD"), { available: 0n, held: 0n }],
    ]);
    const outcome = applyLedgerChange(ledger, {
      releases: [{ tenantId: "t", account: "alice", asset: "USD", amount: 5n }],
      postings: [{ tenantId: "t", line: 1, debit: "alice", credit: "bob", asset: "USD", amount: 5n }],
      holds: [{ tenantId: "t", account: "bob", asset: "USD", amount: 2n }],
    });
    expect(outcome).toEqual({
      balances: new Map([
        [nameOf("t", "alice", "USD"), { available: 0n, held: 0n }],
        [nameOf("t", "bob", "USD"), { available: 3n, held: 2n }],
      ]),
    });
  });

  it("does not pay from held funds, and names the account with insufficient funds", () => {
    const ledger = new Map([
      [nameOf("t", "alice", "USD"), { available: 4n, held: 5n }],
      [nameOf("t", "bob", "USD"), { available: 0n, held: 0n }],
    ]);
    const postings = [{ tenantId: "t", line: 1, debit: "alice", credit: "bob", asset: "USD", amount: 5n }];
    const insufficient = { tenantId: "t", accountId: "alice", asset: "USD" };
    expect(applyLedgerChange(ledger, { ...noLedgerChange, postings })).toEqual({ insufficient });
  });

  it("throws on a change that violates an invariant", () => {
    const ledger = new Map([[nameOf("t", "alice", "USD"), { available: 9n, held: 4n }]]);
    const hold = { tenantId: "t", account: "alice", asset: "USD", amount: 5n };
    const post = { tenantId: "t", line: 1, debit: "alice", credit: "alice", asset: "USD", amount: 5n };
    const run = (change: Partial<LedgerChange>) => () =>
      applyLedgerChange(ledger, { ...noLedgerChange, ...change });
    expect(run({ releases: [hold] })).toThrow("has a smaller hold than the amount to release");
    expect(run({ holds: [{ ...hold, amount: 0n }] })).toThrow("must be positive");
    expect(run({ postings: [{ ...post, amount: -1n }] })).toThrow("must be positive");
    expect(run({ postings: [post] })).toThrow("cannot pay itself");
    expect(run({ postings: [{ ...post, credit: "bob" }] })).toThrow("was not locked");
  });
});

function nameOf(tenantId: string, accountId: string, asset: string): string {
  return accountName({ tenantId, accountId, asset });
}

function after(ledger: ReadonlyMap<string, Balance>, change: LedgerChange): Map<string, Balance> {
  const outcome = applyLedgerChange(ledger, change);
  return "balances" in outcome ? new Map([...ledger, ...outcome.balances]) : new Map(ledger);
}

function sums(ledger: ReadonlyMap<string, Balance>): Record<string, bigint> {
  const result: Record<string, bigint> = {};
  for (const [name, { available, held }] of ledger) {
    const [tenantId, , asset] = name.split(" ");
    const key = `${tenantId} ${asset}`;
    result[key] = (result[key] ?? 0n) + available + held;
  }
  return result;
}
