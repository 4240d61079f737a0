import { NodeUnavailableError } from "../../../app/chain/chain-node.js";
import type { Timers } from "../../../runtime/loops/timers.js";
import type { OddNodes } from "../node/watch/odd-nodes.js";
import { askNodes } from "./ask-nodes.js";
import type { RpcOutcome, Wrong } from "./read-response.js";
import type { CallManner, RpcCall, RpcEndpoint } from "./rpc-endpoint.js";
import { describeError, type RpcError } from "./rpc-error.js";
import { isSameOfMost } from "./same-of-most.js";
import { createSlowNodes } from "./slow-nodes.js";
import { createTardyNodes } from "./tardy-nodes.js";
import { createWrongNodes } from "./wrong-nodes.js";

/** A call, and how its result is read. */
export interface Question<T> extends RpcCall {
  /** Throws `AnswerFault` if the result is not what the method gives; undefined if the node does not have what was asked for. */
  readonly read: (result: unknown) => T | undefined;
}

/** The result does not have the form, or is not about what was asked: the node is treated as if it had not answered. */
export class AnswerFault extends Error {}

/** `value` is undefined if no node has it. `error`: nodes have answered, and all of those refused. */
export type Answer<T> = { readonly value: T | undefined } | { readonly error: RpcError };

type Answers<Q extends readonly Question<unknown>[]> = {
  readonly [K in keyof Q]: Answer<Q[K] extends Question<infer T> ? T : never>;
};

export interface NodeAnswers<Q extends readonly Question<unknown>[]> {
  readonly name: string;
  /** A reason, if the node did not answer everything. */
  readonly answers: Answers<Q> | { readonly unavailable: string };
}

interface AskOptions {
  readonly manner?: "any" | "brief";
  readonly only?: ReadonlySet<string> | undefined;
  /** How often each of them is asked. */
  readonly rounds?: number;
}

/** Several nodes of one network, asked in the order of the configuration until one has an answer, those that were late, wrong or have contradicted the others last. */
export interface RpcPool {
  readonly endpoints: readonly RpcEndpoint[];
  /** In the order in which they are asked now. */
  readonly inOrder: () => readonly RpcEndpoint[];
  /**
   * Each question goes to the next node on its own. Throws `NodeUnavailableError` if one of them is not answered at all. With the manner
   * `brief` each node is asked once. `only`: the names of the nodes that can know it.
   */
  readonly ask: <const Q extends readonly Question<unknown>[]>(
    questions: Q,
    options?: AskOptions,
  ) => Promise<Answers<Q>>;
  /** The values of all questions, from the same node. */
  readonly askOneNode: <T>(questions: readonly Question<T>[]) => Promise<readonly T[]>;
  /** The answers to each question, without those of nodes that did not answer it. Every node is asked once, as in `askEach`. */
  readonly askAll: <const Q extends readonly Question<unknown>[]>(
    questions: Q,
    manner?: CallManner,
  ) => Promise<{ readonly [K in keyof Q]: readonly Answers<Q>[K][] }>;
  /**
   * Every node, once. It goes on without those that are slower than the others, if these decide: as long as nothing else is given, if more than half
   * of all nodes have the same answers.
   */
  readonly askEach: <const Q extends readonly Question<unknown>[]>(
    questions: Q,
    isDecided?: (given: readonly NodeAnswers<Q>[]) => boolean,
  ) => Promise<NodeAnswers<Q>[]>;
  /** These nodes contradict the larger group. */
  readonly seeOdd: OddNodes["see"];
  /** What the first node gave was wrong, or could be: another one is the first from now on. */
  readonly changeFirst: () => void;
  readonly close: () => Promise<void>;
}

export interface RpcPoolDeps {
  readonly network: string;
  readonly endpoints: readonly RpcEndpoint[];
  readonly timers: Pick<Timers, "after">;
  readonly monotonicMs: () => number;
  readonly seeOdd?: OddNodes["see"];
  /** Nodes that have contradicted the others are asked after all others. */
  readonly isOdd?: OddNodes["isOdd"];
}

/** A question is given up after so many rounds through the nodes, or when no round can begin in this time. */
const roundsMax = 4;
const patienceMs = 15_000;
const roundPauseMs = 200;
/** How many reasons an error names. */
const reasonsMax = 5;

/** If most nodes do not have what is asked for, another one that has is believed only if it is there so soon. */
const claimedMs = 2000;

export type Attempted = Answer<unknown> | { readonly unavailable: string };

export function createRpcPool({
  network,
  endpoints,
  timers,
  monotonicMs,
  seeOdd = () => undefined,
  isOdd = () => false,
}: RpcPoolDeps): RpcPool {
  let order = endpoints;
  const sleep = (delayMs: number) => new Promise<void>((resolve) => void timers.after(delayMs, resolve));

  const slow = createSlowNodes(monotonicMs);
  const tardy = createTardyNodes(timers, monotonicMs);
  const wrong = createWrongNodes(monotonicMs);
  const placeOf = ({ name }: RpcEndpoint) =>
    isOdd(name) ? 2 : slow.isLate(name) || tardy.isTardy(name) || wrong.isWrong(name) ? 1 : 0;
  const inOrder = () => order.toSorted((one, other) => placeOf(one) - placeOf(other));

  async function attempt(
    endpoint: RpcEndpoint,
    questions: readonly Question<unknown>[],
    manner: CallManner = "any",
    givenUp?: AbortSignal,
  ): Promise<Attempted[]> {
    const calls = questions.map((question): RpcCall => ({ ...question, givenUp }));
    const outcomes = await endpoint.call(calls, manner);
    const read = questions.map((question, index) => readOutcome(question, outcomes[index] as RpcOutcome));
    if (read.some((outcome) => "isWrong" in outcome)) wrong.see(endpoint.name);
    return read;
  }

  /** The nodes in turn, those that pause left out; waits while all of them do. */
  async function* attempts(
    rounds = roundsMax,
    only?: ReadonlySet<string>,
  ): AsyncGenerator<{ endpoint: RpcEndpoint; isLast: boolean }> {
    const allowed = inOrder().filter(({ name }) => only?.has(name) ?? true);
    const endsMs = monotonicMs() + patienceMs;
    for (let round = 0; round < rounds; round++) {
      const pauseMs = Math.min(...allowed.map((endpoint) => endpoint.pauseMs()));
      const waitMs = round === 0 ? pauseMs : Math.max(pauseMs, roundPauseMs);
      if (monotonicMs() + waitMs > endsMs) return;
      if (waitMs > 0) await sleep(waitMs);
      const ready = allowed.filter((endpoint) => endpoint.pauseMs() <= 0);
      for (const [index, endpoint] of ready.entries()) yield { endpoint, isLast: index === ready.length - 1 };
    }
  }

  const unavailable = (reasons: readonly string[]) =>
    new NodeUnavailableError(
      `No node of ${network} gives a usable answer: ${[...new Set(reasons)].slice(0, reasonsMax).join("; ") || "all of them pause after failures"}.`,
    );

  async function ask(
    questions: readonly Question<unknown>[],
    { manner = "any", only, rounds = manner === "brief" ? 1 : roundsMax }: AskOptions = {},
  ): Promise<Answer<unknown>[]> {
    const answers = new Map<number, Answer<unknown>>();
    const reasons: string[] = [];
    /** The questions that a node failed to answer in this round: it may have what the others lack. */
    const unsure = new Set<number>();
    /** The nodes that do not have it. */
    const lacking = questions.map(() => new Set<string>());
    const isLacked = (index: number) => 2 * (lacking[index]?.size ?? 0) > endpoints.length;
    let open = questions.map((_, index) => index);
    if (open.length === 0) return [];
    for await (const { endpoint, isLast } of attempts(rounds, only)) {
      const asked = open.map((index) => questions[index] as Question<unknown>);
      const giveUp = new AbortController();
      const given = attempt(endpoint, asked, manner, giveUp.signal);
      const isClaimed = open.some(isLacked) && open.every((index) => answers.has(index));
      const known = (index: number) => (isClaimed ? answers.get(index) : undefined);
      const tooLong = { unavailable: "it takes too long for all of it" };
      const late = () => {
        giveUp.abort();
        return open.map((index): Attempted => known(index) ?? tooLong);
      };
      const waitedMs = isClaimed ? claimedMs : undefined;
      const heard = endpoints.length < 2 ? given : tardy.wait(endpoint.name, given, late, waitedMs);
      for (const [position, answer] of (await heard).entries()) {
        const index = open[position] as number;
        if ("value" in answer && answer.value === undefined) lacking[index]?.add(endpoint.name);
        if ("unavailable" in answer) reasons.push(`${endpoint.name}: ${answer.unavailable}`);
        if ("unavailable" in answer) unsure.add(index);
        else answers.set(index, better(answers.get(index), answer));
      }
      const isSettled = (index: number) =>
        isFound(answers.get(index)) || (isLast && answers.has(index) && !unsure.has(index));
      open = open.filter((index) => !isSettled(index));
      if (open.length === 0) break;
      if (isLast) unsure.clear();
    }
    if (open.some((index) => !answers.has(index))) throw unavailable(reasons);
    return questions.map((_, index) => answers.get(index) as Answer<unknown>);
  }

  async function askOneNode<T>(questions: readonly Question<T>[]): Promise<readonly T[]> {
    const reasons: string[] = [];
    for await (const { endpoint } of attempts()) {
      const attempted = await attempt(endpoint, questions);
      const missing = attempted.find((answer) => !isFound(answer));
      if (missing === undefined) return attempted.map((answer) => (answer as { value: T }).value);
      reasons.push(`${endpoint.name}: ${explain(missing)}`);
    }
    throw unavailable(reasons);
  }

  async function askAll(questions: readonly Question<unknown>[], manner?: CallManner) {
    const isDecided = (given: readonly Attempted[][]) => isSameOfMost(given, endpoints.length);
    const asked = await askNodes(
      { endpoints, timers, monotonicMs, slow },
      {
        ask: (endpoint, givenUp) => attempt(endpoint, questions, manner, givenUp),
        isDecided,
        isAnswered: (answers) => !answers.some((answer) => "unavailable" in answer),
      },
    );
    return questions.map((_, index) =>
      endpoints.flatMap(({ name }) => {
        const answer = asked.get(name)?.[index];
        return answer === undefined || "unavailable" in answer ? [] : [answer];
      }),
    );
  }

  type Given = NodeAnswers<readonly Question<unknown>[]>;

  async function askEach(
    questions: readonly Question<unknown>[],
    isDecided = (given: readonly Given[]) =>
      isSameOfMost(
        given.flatMap(({ answers }) => ("unavailable" in answers ? [] : [answers])),
        endpoints.length,
      ),
  ): Promise<Given[]> {
    const given = await askNodes<Given>(
      { endpoints, timers, monotonicMs, slow },
      {
        ask: async (endpoint, givenUp) => {
          const answers = await attempt(endpoint, questions, "any", givenUp);
          const missing = answers.find((answer) => "unavailable" in answer);
          return { name: endpoint.name, answers: missing ?? (answers as Answer<unknown>[]) };
        },
        isDecided,
        isAnswered: ({ answers }) => !("unavailable" in answers),
      },
    );
    return endpoints.map(
      ({ name }) =>
        given.get(name) ?? { name, answers: { unavailable: "it is slower than the others, and left out" } },
    );
  }

  return {
    endpoints,
    inOrder,
    ask: ask as RpcPool["ask"],
    askOneNode,
    askAll: askAll as RpcPool["askAll"],
    askEach: askEach as RpcPool["askEach"],
    seeOdd,
    changeFirst: () => {
      order = [...order.slice(1), ...order.slice(0, 1)];
    },
    close: async () => void (await Promise.all(endpoints.map((endpoint) => endpoint.close()))),
  };
}

function readOutcome({ method, read }: Question<unknown>, outcome: RpcOutcome): Attempted | Wrong {
  if (!("result" in outcome)) return outcome;
  try {
    return { value: read(outcome.result) };
  } catch (error) {
    // Any other error is also about this answer: the next node may give one that can be read.
    const reason = error instanceof AnswerFault ? error.message : "it cannot be read";
    return { unavailable: `the answer to ${method} is wrong: ${reason}`, isWrong: true };
  }
}

function isFound(answer: Attempted | undefined): boolean {
  return answer !== undefined && "value" in answer && answer.value !== undefined;
}

/** A value before "no node has it", and that before an error. */
function better(known: Answer<unknown> | undefined, answer: Answer<unknown>): Answer<unknown> {
  if (known === undefined || isFound(answer)) return answer;
  return "error" in known ? answer : known;
}

function explain(answer: Attempted): string {
  if ("unavailable" in answer) return answer.unavailable;
  return "error" in answer ? describeError(answer.error) : "it does not have what was asked for";
}

/** Why nodes have not answered, behind a sentence that says what is missing. */
export function explainUnavailable(asked: readonly NodeAnswers<readonly Question<unknown>[]>[]): string {
  const reasons = asked.flatMap(({ name, answers }) =>
    "unavailable" in answers ? [`${name}: ${answers.unavailable}`] : [],
  );
  return reasons.length === 0 ? "" : `: ${reasons.slice(0, reasonsMax).join("; ")}`;
}
