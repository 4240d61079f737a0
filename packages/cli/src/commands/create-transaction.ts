import type { Bursar, Transaction } from "@bursar/client";
import { exitCodes, usage } from "../exit-codes.js";
import type { Given } from "../parse/given.js";
import { safe } from "../terminal/safe-text.js";
import { paintState } from "../terminal/style.js";
import type { Context } from "./command.js";
import { keyOf } from "./lists.js";

export const txColumns = ["id", "state", "kind", "amount", "asset", "reference", "created_at"];
const finalStates = ["completed", "rejected", "failed", "cancelled"];
const watchMs = 24 * 3_600_000;

export async function createTransaction(context: Context, given: Given): Promise<number | undefined> {
  const [amount, asset] = [given.argument("amount"), given.argument("asset")];
  const { name, url } = await context.target();
  const from = given.text("from") ?? "the primary wallet";
  const to = given.text("to") ?? "the settlement wallet";
  const reference = JSON.stringify(given.required("reference"));
  await context.confirm(
    `Send ${amount} ${asset} from ${from} to ${to}, reference ${reference}, at ${name === url ? url : `${url} (${name})`}?`,
  );
  const bursar = await context.bursar();
  const created = await bursar.transactions.create(bodyOf(given, amount, asset), keyOf(given));
  if (created.lastResponse.replayed)
    context.note("It was created before, with this idempotency key; nothing was sent twice.");
  const shown = given.flag("wait") ? await waitFor(bursar, created.id, context) : created;
  context.output.one(shown);
  return given.flag("wait") ? exitOf(shown) : undefined;
}

function bodyOf(given: Given, amount: string, asset: string) {
  const [from, to, expiresAt] = ["from", "to", "expires-at"].map((name) => given.text(name));
  const metadata = given.list("metadata").map((entry): [string, string] => {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(entry) ?? [];
    if (key === undefined) throw usage("--metadata must be name=value.");
    return [key, value ?? ""];
  });
  return {
    reference: given.required("reference"),
    asset,
    amount,
    ...(from === undefined ? {} : { source: { wallet_id: from } }),
    ...(to === undefined ? {} : { destination: to.startsWith("wlt_") ? { wallet_id: to } : { address: to } }),
    ...(metadata.length === 0 ? {} : { metadata: Object.fromEntries(metadata) }),
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
  };
}

/** One that waits for approval may take a day; the command says so and goes on. */
async function waitFor(bursar: Bursar, id: string, { note, io }: Context): Promise<Transaction> {
  let isNoted = false;
  try {
    return await bursar.transactions.waitFor(id, {
      waitMs: watchMs,
      signal: io.signal,
      until: ({ state }) => {
        if (state === "awaiting_approval" && !isNoted) {
          note(`${id} waits for approval: \`bursar tx approve ${id}\`, as another client.`);
          isNoted = true;
        }
        return finalStates.includes(state);
      },
    });
  } catch (error) {
    note(`${id} was created; \`bursar tx watch ${id}\` shows what becomes of it.`);
    throw error;
  }
}

function exitOf({ state }: Pick<Transaction, "state">): number {
  return state === "completed" ? exitCodes.done.code : exitCodes.ended.code;
}

/** One transaction until it is final, or all of them until Ctrl-C. */
export async function watchTransactions(context: Context, given: Given): Promise<number | undefined> {
  const [id] = given.all("transaction");
  const bursar = await context.bursar();
  if (id === undefined) return await watchAll(bursar, context);
  let version = 0;
  const last = await bursar.transactions.waitFor(id, {
    waitMs: watchMs,
    signal: context.io.signal,
    until: (known) => {
      if (known.version > version) showChange(known, context);
      version = known.version;
      return finalStates.includes(known.state);
    },
  });
  return exitOf(last);
}

async function watchAll(bursar: Bursar, context: Context): Promise<undefined> {
  for await (const found of bursar.events.follow({
    kinds: ["transaction.updated"],
    signal: context.io.signal,
  })) {
    if (found.type === "gap") context.note(`Events are missing (${found.reason}).`);
    else if (found.event.event === "transaction.updated") showChange(found.event.data.transaction, context);
  }
  return undefined;
}

function showChange(transaction: Transaction, { output }: Context): void {
  const { id, state, version, updated_at, amount, asset, reference, failure } = transaction;
  output.item(transaction, () =>
    [
      output.style.dim(safe(updated_at)),
      safe(id),
      paintState(safe(state), output.style),
      `v${version}`,
      safe(`${amount} ${asset}`),
      safe(reference),
      ...(failure === null ? [] : [safe(`${failure.code}: ${failure.message}`)]),
    ].join("  "),
  );
}
