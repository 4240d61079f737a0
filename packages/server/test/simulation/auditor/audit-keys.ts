import { isDeepStrictEqual } from "node:util";
import {
  bodyOf,
  codeOf,
  type Exchange,
  isDefinite,
  partyOf,
  type Transaction,
  type Wallet,
} from "../world/exchange.js";
import type { Evidence } from "./auditor.js";

type CreateExchange = Exchange & {
  request: Extract<Exchange["request"], { kind: "create" | "create_wallet" }>;
};

/** Refusals of a request because of what it says, by what it says. */
function expectedRefusals({ request }: CreateExchange, lostIds: ReadonlySet<string>): string[] {
  if (request.kind === "create_wallet") return [];
  const { asset, amount, source, destination } = request.body;
  if (asset === "GOLD") return ["ASSET_UNKNOWN"];
  if (amount === "0.0000000000000000001") return ["INVALID_REQUEST", "AMOUNT_PRECISION_EXCEEDED"];
  if ([source, destination].some((side) => side !== undefined && lostIds.has(partyOf(side))))
    return ["WALLET_UNKNOWN"];
  // Which wallets stand in for those left out is not in the request, so one side alone may name the other's.
  const oneIsOpen = source === undefined || destination === undefined;
  return oneIsOpen || partyOf(source) === partyOf(destination) ? ["INVALID_REQUEST"] : [];
}

/** One key, one thing: always the same answer to the same request, and a refusal for any other. */
export function auditKeys({ closing, exchanges, epoch, lostIds }: Evidence): string[] {
  const creates = exchanges.filter(
    (one): one is CreateExchange => one.request.kind === "create" || one.request.kind === "create_wallet",
  );
  /** Whether an answer still holds. One from before the database went back may be about something that is lost. */
  const stands = (one: CreateExchange) => {
    const made = bodyOf(one) as { id: string } | undefined;
    return one.epoch === epoch || (made !== undefined && !lostIds.has(made.id));
  };
  const byKey = new Map<string, CreateExchange[]>();
  for (const one of creates) {
    const name = `${one.request.kind} ${one.request.key}`;
    byKey.set(name, [...(byKey.get(name) ?? []), one]);
  }
  return [
    ...[...byKey].flatMap(([name, group]) => auditKey(name, group, stands, lostIds)),
    ...auditOrigins(closing.transactions, creates),
    ...auditAcknowledged(creates.filter(stands), closing.transactions, closing.wallets),
    ...exchanges
      .filter(({ isClosing, answer }) => isClosing && !isDefinite(answer))
      .map(({ request, answer }) => `in peace, ${request.kind} was answered ${JSON.stringify(answer)}`),
  ];
}

function auditKey(
  name: string,
  group: readonly CreateExchange[],
  stands: (one: CreateExchange) => boolean,
  lostIds: ReadonlySet<string>,
): string[] {
  const violations: string[] = [];
  const accepted = group.filter((one) => bodyOf(one) !== undefined && stands(one));
  const [first] = accepted;
  for (const one of accepted) {
    if (!isDeepStrictEqual(one.request.body, first?.request.body))
      violations.push(`${name}: two different requests were accepted`);
    else if (!isDeepStrictEqual(bodyOf(one), bodyOf(first as Exchange)))
      violations.push(`${name}: the same request was given different answers`);
  }
  for (const one of group.filter(stands)) {
    const code = codeOf(one);
    if (code === undefined || !isDefinite(one.answer)) continue;
    if (code !== "IDEMPOTENCY_KEY_REUSED") {
      if (!expectedRefusals(one, lostIds).includes(code))
        violations.push(`${name}: refused with ${code} for nothing`);
      continue;
    }
    if (accepted.some((other) => isDeepStrictEqual(other.request.body, one.request.body)))
      violations.push(`${name}: the same request was accepted and refused`);
    if (group.every((other) => isDeepStrictEqual(other.request.body, one.request.body)))
      violations.push(`${name}: refused as reused, and was not`);
  }
  return violations;
}

/** Every transaction comes from a request that could be accepted, and no two come from the same key. */
function auditOrigins(transactions: readonly Transaction[], creates: readonly CreateExchange[]): string[] {
  const keys = new Set<string>();
  // A deposit is nobody's request: the network knows where it comes from.
  return transactions
    .filter(({ kind }) => kind !== "deposit")
    .flatMap((transaction) => {
      const origin = creates.find(
        ({ request }) => request.kind === "create" && request.body.reference === transaction.reference,
      );
      if (origin === undefined) return [`${transaction.id} was never asked for`];
      const violations: string[] = [];
      if (keys.has(origin.request.key)) violations.push(`${origin.request.key} has two transactions`);
      keys.add(origin.request.key);
      return violations;
    });
}

const openStates = ["accepted", "processing", "broadcast", "confirming", "creating"];

/** Every 202 has its transaction or wallet, in a final state, as it was acknowledged. */
function auditAcknowledged(
  creates: readonly CreateExchange[],
  transactions: readonly Transaction[],
  wallets: readonly Wallet[],
): string[] {
  const found = new Map<string, Transaction | Wallet>();
  const violations: string[] = [];
  for (const one of [...transactions, ...wallets]) {
    if (found.has(one.id)) violations.push(`${one.id} is listed twice`);
    found.set(one.id, one);
  }
  for (const one of creates) {
    const answer = bodyOf(one) as Transaction | Wallet | undefined;
    if (answer === undefined) continue;
    const now = found.get(answer.id);
    if (now === undefined) violations.push(`${answer.id} was acknowledged and is not there`);
    else if (!isAsAsked(one, answer) || !isAsAsked(one, now))
      violations.push(`${answer.id} is not what was asked for`);
    const isFirstVersion = answer.version === 1 && ["accepted", "creating"].includes(answer.state);
    if (!isFirstVersion) violations.push(`${answer.id} was acknowledged as more than accepted`);
  }
  const open = [...found.values()].filter(({ state }) => openStates.includes(state));
  return [
    ...violations,
    ...open.map(({ id, state }) => `${id} is still ${state}, long after the last fault`),
  ];
}

function isAsAsked({ request }: CreateExchange, made: Transaction | Wallet): boolean {
  if (request.kind === "create_wallet")
    return (
      made.object === "wallet" && made.name === request.body.name && made.purpose === request.body.purpose
    );
  const { reference, asset, amount, source, destination, metadata = {} } = request.body;
  return (
    made.object === "transaction" &&
    made.reference === reference &&
    made.asset === asset &&
    Number(made.amount) === Number(amount) &&
    (source === undefined || partyOf(made.source) === partyOf(source)) &&
    (destination === undefined || partyOf(made.destination) === partyOf(destination)) &&
    isDeepStrictEqual(made.metadata, metadata)
  );
}
