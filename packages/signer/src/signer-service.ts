import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Journal } from "./journal/journal.js";
import type { JournalEntry } from "./journal/journal-entry.js";
import type { Refusal, SignedNonce } from "./signing/decide-signing.js";
import type { FeeLimit } from "./signing/fee-limits.js";
import { readIntent, readSignedQuestion, readWallet } from "./signing/intent.js";
import type { Decided, SignedBytes, SigningCore } from "./signing/signing-core.js";

/** What the socket offers, with the fields of the JSON. Nothing is answered before it is in the journal. */
export interface SignerService {
  /** A wallet that cannot have an address is a sentence, and none of the batch is answered then. */
  readonly addressesOf: (wallets: readonly unknown[]) => Promise<readonly string[] | { error: string }>;
  readonly sign: (intents: readonly unknown[]) => Promise<readonly (SignedBytes | Refusal)[]>;
  /** What was signed from a nonce on. A question that is malformed is a sentence, and none of the batch is answered then. */
  readonly signedFrom: (
    questions: readonly unknown[],
  ) => readonly (readonly SignedNonce[] | Refusal)[] | { error: string };
  readonly health: () => SignerHealth;
}

interface SignerHealth {
  readonly status: "ready";
  /** The id of the key that seals the seed; the service compares it with its own. */
  readonly keyId: string;
  /** Another one each time that it starts. Only then can its journal be an earlier one, with fewer wallets. */
  readonly runId: string;
  readonly wallets: number;
  readonly signatures: number;
  /** What it does not exceed: the service compares it with its own. */
  readonly limits: { readonly perGas: ShownLimit; readonly perTransaction: ShownLimit };
}

/** In wei. */
interface ShownLimit {
  readonly standard: string;
  readonly networks: Readonly<Record<string, string>>;
}

/** A signature takes up to a millisecond, so a large batch makes way for other requests after this many. */
const sliceLength = 16;

export function createSignerService(deps: {
  readonly core: SigningCore;
  readonly journal: Journal;
  readonly keyId: string;
}): SignerService {
  const { core, journal, keyId } = deps;
  const runId = randomUUID();
  const limits = { perGas: show(core.limits.perGas), perTransaction: show(core.limits.perTransaction) };
  const decideAll = async <T, A>(
    items: readonly T[],
    decide: (item: T) => Decided<A, JournalEntry>,
  ): Promise<A[]> => {
    const answers: A[] = [];
    const recorded: Promise<void>[] = [];
    for (let start = 0; start < items.length; start += sliceLength) {
      if (start > 0) await nextTurn();
      const decided = items.slice(start, start + sliceLength).map(decide);
      // In the same turn, so that the journal has the order of the decisions.
      recorded.push(journal.append(decided.flatMap(({ entry }) => (entry === undefined ? [] : [entry]))));
      answers.push(...decided.map(({ answer }) => answer));
    }
    await Promise.all(recorded);
    return answers;
  };
  return {
    addressesOf: async (given) => {
      const wallets = given.map(readWallet);
      const fault = wallets.find((wallet) => typeof wallet === "string");
      if (fault !== undefined) return { error: fault };
      const answers = await decideAll(
        wallets.filter((wallet) => typeof wallet !== "string"),
        core.addressOf,
      );
      const refusal = answers.find((answer) => typeof answer !== "string");
      if (refusal !== undefined) return { error: refusal.reason };
      return answers.filter((answer) => typeof answer === "string");
    },
    sign: (given) =>
      decideAll<unknown, SignedBytes | Refusal>(given, (item) => {
        const intent = readIntent(item);
        return typeof intent === "string"
          ? { answer: { refused: "INTENT_INVALID", reason: intent } }
          : core.sign(intent);
      }),
    signedFrom: (given) => {
      const questions = given.map(readSignedQuestion);
      const fault = questions.find((question) => typeof question === "string");
      if (fault !== undefined) return { error: fault };
      return questions.filter((question) => typeof question !== "string").map(core.signedFrom);
    },
    health: () => {
      const { wallets, signatures } = core.counts();
      return { status: "ready", keyId, runId, wallets, signatures, limits };
    },
  };
}

function show({ standard, ofNetwork }: FeeLimit): ShownLimit {
  const networks = [...ofNetwork].map(([network, limit]) => [network, limit.toString()]);
  return { standard: standard.toString(), networks: Object.fromEntries(networks) };
}
