import { Agent } from "node:http";
import { Agent as SecureAgent } from "node:https";
import { CheckFailed, expect, NotOffered } from "../../engine/check.js";
import type { Attempt, CreateOptions, Kit } from "../../engine/kit.js";
import { percentEncode } from "../../http/percent-encode.js";
import { isRefusal, type Reply } from "../../http/reply.js";
import {
  createTransaction,
  expectAccepted,
  findId,
  findRepeatedId,
  isAccepted,
  requireId,
  showTransaction,
} from "../scenarios.js";
import { createdInRun } from "../shown-members.js";
import { sendNew } from "./new-key.js";

/** What checks of the idempotency key do or look at. */

export const sameIdCheck = "key.repeat.same-id";

/** A transaction that was accepted. The 202 need not show its id. */
export interface Accepted extends Attempt {
  readonly id: string | undefined;
}

/** Creates a transaction, with its id if the 202 shows one. */
export async function acceptTransaction(kit: Kit, options: CreateOptions = {}): Promise<Accepted> {
  const attempt = await sendNew(kit, options);
  expectAccepted(kit, attempt.reply);
  return withId(kit, attempt);
}

export const withId = (kit: Kit, attempt: Attempt): Accepted => ({
  ...attempt,
  id: idOf(kit, attempt.reply),
});

/** A transaction whose reference is not ASCII, so that the bytes of its notifications are not either; undefined if it is refused. */
export async function acceptBeyondAscii(kit: Kit): Promise<Accepted | undefined> {
  if (kit.session.reference.characters !== undefined) return undefined;
  const fields = { reference: `${kit.newName()}-é✓` };
  const attempt = await kit.create({ fields });
  return isAccepted(kit.target, attempt.reply) ? withId(kit, attempt) : undefined;
}

/** The id in a 202; undefined if it shows none, and the target file does not say that it does. */
function idOf({ target }: Kit, reply: Reply): string | undefined {
  return target.acceptedId === undefined ? findId(target, reply)?.id : requireId(target, reply);
}

export const withoutKey = (kit: Kit) => kit.fixture("without key", (own) => own.create({ key: null }));
export const numberAmount = (kit: Kit) =>
  kit.fixture("amount as a number", (own) =>
    own.create({ fields: { amount: Number(own.target.transaction.amount) } }),
  );

/** The original and two repetitions on one connection, so that a key that belongs to a connection is found by another check. */
export const repeatedRequest = (kit: Kit) =>
  kit.fixture("repeated request", (own) =>
    onOneConnection(own, async (agent) => {
      const first = await acceptTransaction(own, { agent });
      const second = await repeat(own, first, { agent });
      return { first, second, third: await repeat(own, first, { agent }) };
    }),
  );

export async function onOneConnection<T>({ target }: Kit, use: (agent: Agent) => Promise<T>): Promise<T> {
  const agent = new (target.baseUrl.protocol === "https:" ? SecureAgent : Agent)({
    keepAlive: true,
    maxSockets: 1,
  });
  try {
    return await use(agent);
  } finally {
    agent.destroy();
  }
}

/** Whether a repetition is refused. Then whatever is accepted is a transaction of its own, also if the 202 shows no id. */
const refusesRepetitions = async (kit: Kit) => isRefusal((await repeatedRequest(kit)).second.reply);

export const repeat = (kit: Kit, { key, body }: Attempt, options: CreateOptions = {}) =>
  kit.create({ key, body, ...options });

/** The same JSON, whose members have no order. */
export const reorder = (body: string) =>
  JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(body) as Record<string, unknown>).reverse()));

/** Whether something was accepted under a key whose first request had another body, with another id. Which of them counts is open. */
export function isSecond({ target }: Kit, first: Accepted, { reply }: Attempt): boolean {
  const id = isAccepted(target, reply) ? findId(target, reply)?.id : undefined;
  return id !== undefined && first.id !== undefined && id !== first.id;
}

export const reusedKey = (kit: Kit) =>
  kit.fixture("reused key", async (own) => {
    const first = await createTransaction(own);
    const before = await showTransaction(own, first.id);
    // Another reference; another asset and amount too, if some are known that are safe to send.
    const second = await own.create({ key: first.key, fields: own.target.exact ?? {} });
    return { first, before, second };
  });

/** The second response is an error, or shows the same transaction, or at least no other one that exists. */
export async function expectOne(kit: Kit, first: Accepted, second: Attempt, what: string): Promise<void> {
  if (isRefusal(second.reply)) return;
  if (first.id === undefined) refuseToGuess();
  const id = findRepeatedId(kit.target, second.reply);
  if (id === undefined || id === first.id) return;
  const isOld = createdInRun(kit).some((one) => one.id === id && one.index < second.reply.exchange.index);
  if (isOld)
    throw new CheckFailed(
      `the id ${first.id} for the same request with the same key, ${what}`,
      `the id ${id} of another transaction`,
      sameIdCheck,
      second.reply,
    );
  // A second transaction need not be found at once.
  const shown = await kit.poll(kit.target.timing.resultMs, async () => {
    const reply = await kit.send("GET", `/v1/transactions/${percentEncode(id)}`);
    return reply.status === 200 ? reply : undefined;
  });
  expect(shown === undefined, `one transaction, ${first.id}, ${what}`, `a second one, ${id}`);
}

/** Several responses to one request with one key, of which at least one is accepted: they are about one transaction. */
export async function expectOneOf(kit: Kit, attempts: readonly Attempt[], what: string): Promise<void> {
  const accepted = attempts.filter(({ reply }) => !isRefusal(reply));
  expect(
    accepted.some(({ reply }) => isAccepted(kit.target, reply)),
    `one of ${what} to be accepted`,
    `the statuses ${attempts.map(({ reply }) => reply.status).join(", ")}`,
  );
  const ids = new Set(accepted.flatMap(({ reply }) => findRepeatedId(kit.target, reply) ?? []));
  expect(ids.size <= 1, `one transaction from ${what}`, `${ids.size}: ${[...ids].join(", ")}`);
  if (ids.size === 1) return;
  if (!(await refusesRepetitions(kit))) refuseToGuess();
  expect(accepted.length === 1, `one transaction from ${what}`, `${accepted.length} that were accepted`);
}

/** Fails if two requests that were accepted are about one transaction. */
export async function expectDistinct(
  kit: Kit,
  replies: readonly [Reply, Reply],
  wanted: string,
): Promise<void> {
  const [first, second] = replies.map((reply) => idOf(kit, reply));
  if (first === undefined || second === undefined) {
    if (!(await refusesRepetitions(kit))) refuseToGuess();
  } else expect(first !== second, wanted, `one, ${first}`);
}

/** False if the keys are refused: their length and their form are open. */
export async function expectTwo(kit: Kit, keys: readonly [string, string], what: string): Promise<boolean> {
  const { reply: first } = await kit.create({ key: keys[0] });
  if (isRefusal(first)) return false;
  const { reply: second } = await kit.create({ key: keys[1] });
  for (const reply of [first, second]) expectAccepted(kit, reply, `each of ${what}`);
  await expectDistinct(kit, [first, second], `two transactions for ${what}`);
  return true;
}

/**
 * The same for two keys of different forms, of which one may be refused for its form. False if that is so: a further key of the second form
 * shows it.
 */
export async function expectTwoForms(
  kit: Kit,
  make: () => readonly [string, string],
  what: string,
): Promise<boolean> {
  const [one, other] = make();
  const { reply: first } = await kit.create({ key: one });
  if (isRefusal(first)) return false;
  const { reply: second } = await kit.create({ key: other });
  if (isRefusal(second)) {
    const [, control] = make();
    if (isRefusal((await kit.create({ key: control })).reply)) return false;
  }
  for (const reply of [first, second]) expectAccepted(kit, reply, `each of ${what}`);
  await expectDistinct(kit, [first, second], `two transactions for ${what}`);
  return true;
}

function refuseToGuess(): never {
  throw new NotOffered(
    "The 202 shows no id, and need not, and a repetition is accepted, so the kit cannot see how many transactions there are. If the 202 has an id elsewhere, name the place in accepted_id of the target file.",
  );
}
