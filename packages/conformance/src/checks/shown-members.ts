import { fail, NotOffered } from "../engine/check.js";
import { deriveFromRun } from "../engine/derive-from-run.js";
import type { Kit } from "../engine/kit.js";
import { describeValue, showValue } from "../engine/name-value.js";
import { isObject, type Reply, replyOf, sentBody, valueAt } from "../http/reply.js";
import type { Exchange } from "../http/send.js";
import type { Target } from "../target/target.js";
import { containsText, isNamed } from "../webhooks/delivery-items.js";
import { type Created, expectReadable, findId, isAccepted } from "./scenarios.js";

/**
 * Members of a transaction as GET shows them. Its fields are open: what is at a usual place and is not what was sent may be something else,
 * such as an amount in minor units or a reference of the service's own. Only what the target file names must be what was sent.
 */
export type ShownName = "id" | "amount" | "reference" | "asset";

const usualPaths = (name: string) => [name, `data.${name}`, `transaction.${name}`];

/** The first value that is there, of whatever type. */
export function findShown({ shown }: Target, json: unknown, name: ShownName): unknown {
  const path = shown[name];
  const paths = path === undefined ? usualPaths(name) : [path];
  return paths.map((one) => valueAt(json, one)).find((value) => value !== undefined);
}

/** A member of the transaction; not offered if GET shows none, because its fields are open. */
export function shownMember(target: Target, json: unknown, name: ShownName): unknown {
  const value = findShown(target, json, name);
  if (value !== undefined) return value;
  const path = target.shown[name];
  if (path !== undefined)
    fail(
      `the ${name} at ${path}, where shown.${name} of the target file says`,
      json === undefined ? "a body that is not JSON" : `none in ${showValue(json)}`,
    );
  throw new NotOffered(`GET /v1/transactions/{id} shows no ${name}, and need not.`);
}

interface Wanted {
  readonly name: ShownName;
  /** What was sent. */
  readonly sent: string;
  readonly isSame: (value: unknown) => boolean;
  /** Whether its place is known although the target file does not name it: another transaction has shown what was sent there. */
  readonly isPlaceKnown?: boolean;
}

/** Fails if a member is not what was sent, at a place that is known to have it. */
export function expectShown({ target }: Kit, json: unknown, wanted: Wanted): void {
  const { name, sent, isSame, isPlaceKnown = false } = wanted;
  const value = shownMember(target, json, name);
  if (isSame(value)) return;
  const seen = `the ${name} ${typeof value === "string" ? showValue(value) : `as ${describeValue(value)}`}`;
  if (target.shown[name] !== undefined || isPlaceKnown) fail(`the ${name} ${sent}`, seen);
  throw new NotOffered(
    `GET shows ${seen}, and ${sent} was sent. Its fields are open, so that may be something else. If it is the ${name} as it was sent, name its place in shown.${name} of the target file.`,
  );
}

interface Kept {
  readonly id: string;
  readonly sent: Readonly<Record<string, unknown>>;
  readonly before: Reply;
  /** What must not have changed it. */
  readonly how: string;
}

/**
 * Fails if GET shows another amount, asset or reference than before. What is called so and is not what was sent may be something else, such
 * as a live price, and fields are open, so one that only the target file names must still be there.
 */
export function expectMembersKept(kit: Kit, { id, sent, before, how }: Kept, after: Reply): void {
  const { target } = kit;
  for (const name of ["amount", "asset", "reference"] as const) {
    const [was, is] = [before, after].map(({ json }) => findShown(target, json, name));
    if (target.shown[name] === undefined && (was !== sent[name] || is === undefined)) continue;
    if (JSON.stringify(was) !== JSON.stringify(is))
      fail(
        `the ${name} ${showValue(was)} of ${id} ${how}`,
        `the ${name} ${showValue(is)}${name === "reference" ? describeOther(kit, id, is) : ""}`,
        after,
      );
  }
}

function describeOther(kit: Kit, id: string, reference: unknown): string {
  const other = createdInRun(kit).find((one) => one.reference === reference && one.id !== id);
  return other === undefined
    ? ""
    : `, which is that of ${other.id ?? "another"}: GET shows another transaction`;
}

type Named = Pick<Created, "id" | "reference">;

/**
 * Fails if GET of a transaction shows another one, or not what the target file says. A service can have a reference of its own beside the
 * client's, so without the target file it is enough that the body has the id or the reference somewhere.
 */
export function expectOwn(kit: Kit, reply: Reply, own: Named): void {
  const { target } = kit;
  const { json, text } = reply;
  expectReadable(reply);
  for (const name of ["reference", "id"] as const) {
    const isStated = target.shown[name] !== undefined;
    const value = isStated ? shownMember(target, json, name) : findShown(target, json, name);
    if (value === undefined || isNamed(value, own[name])) continue;
    const isOfOther = createdInRun(kit).some((other) => other[name] === String(value));
    const seen = isOfOther ? `${showValue(value)}: another transaction` : describeValue(value);
    if (isOfOther || isStated) fail(`the ${name} ${own[name]} from GET of ${own.id}`, `the ${name} ${seen}`);
  }
  const body = json ?? text.trim();
  if (containsText(body, own.id) || containsText(body, own.reference)) return;
  throw new NotOffered(
    "GET shows neither the id nor the reference that was sent, and need not. If it does under another form, name its place in shown.id or shown.reference of the target file.",
  );
}

interface CreatedInRun extends Partial<Named> {
  /** Of the exchange that has created it. */
  readonly index: number;
}

const created = deriveFromRun((exchange, { target }) => createdIn(target, exchange));

/** The transactions that the run has created so far, by whatever check. */
export const createdInRun = ({ session }: Kit): readonly CreatedInRun[] => created(session);

function createdIn(target: Target, exchange: Exchange): CreatedInRun[] {
  const { request } = exchange;
  const isCreated = request.method === "POST" && request.url.pathname.endsWith("/v1/transactions");
  const reply = isCreated ? replyOf(exchange) : undefined;
  if (reply === undefined || !isAccepted(target, reply)) return [];
  const id = findId(target, reply)?.id;
  const sent = sentBody(request);
  const reference = isObject(sent) ? sent["reference"] : undefined;
  return [
    {
      index: exchange.index,
      ...(id === undefined ? {} : { id }),
      ...(typeof reference === "string" ? { reference } : {}),
    },
  ];
}
