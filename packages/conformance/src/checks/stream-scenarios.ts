import { fail, NotOffered } from "../engine/check.js";
import type { Kit } from "../engine/kit.js";
import { isObject, valueAt } from "../http/reply.js";
import { openStream, type Stream } from "../stream/open-stream.js";
import type { StreamTarget } from "../target/target.js";
import { containsText, findMember } from "../webhooks/delivery-items.js";
import { awaitFinal, type Created, createTransaction } from "./scenarios.js";
import { stateNames } from "./transaction-state.js";

/** What checks of the stream look at. */
export interface Subscribed {
  readonly target: StreamTarget;
  readonly stream: Stream;
  /** The message that confirms the subscription. */
  readonly confirmation: Record<string, unknown>;
}

export interface Followed {
  readonly target: StreamTarget;
  readonly created: readonly Created[];
  /** The final state of each, as GET shows it. */
  readonly states: ReadonlyMap<string, string>;
  readonly messages: readonly unknown[];
  readonly events: readonly StreamEvent[];
}

interface StreamEvent {
  readonly sequence: number;
  readonly message: unknown;
}

const followedTransactions = 3;

export function streamTarget({ target }: Kit): StreamTarget {
  if (target.stream === undefined)
    throw new NotOffered("The target file does not describe a stream (stream).");
  return target.stream;
}

const hasMembers = (message: unknown, members: Readonly<Record<string, unknown>>) =>
  isObject(message) && Object.entries(members).every(([name, value]) => message[name] === value);

/** The events among the messages, in the order in which they arrived. */
function eventsIn({ event, sequence }: StreamTarget, messages: readonly unknown[]): StreamEvent[] {
  return messages.flatMap((message) => {
    const value = valueAt(message, sequence);
    return hasMembers(message, event) && typeof value === "number" ? [{ sequence: value, message }] : [];
  });
}

export async function subscribe(kit: Kit, since?: number): Promise<Subscribed> {
  const target = streamTarget(kit);
  const opened = await openStream(kit, target);
  if ("refused" in opened) fail(`the stream at ${target.path} to open with the token`, opened.refused);
  const { stream } = opened;
  stream.send({ ...target.subscribe, ...(since === undefined ? {} : { [target.since]: since }) });
  const confirmation = await kit.watch(kit.target.timing.webhookMs, async () =>
    stream.messages.find((message) => hasMembers(message, target.subscribed)),
  );
  if (!isObject(confirmation)) {
    const seen = stream.messages.map((message) => JSON.stringify(message)?.slice(0, 200)).join(" ");
    stream.close();
    fail(`a confirmation of the subscription (${JSON.stringify(target.subscribed)})`, seen || "no message");
  }
  return { target, stream, confirmation };
}

/** Some transactions, with everything that the stream says until nothing more arrives. */
export const followed = (kit: Kit): Promise<Followed> =>
  kit.fixture("followed stream", async (own) => {
    const { target, stream } = await subscribe(own);
    try {
      const created: Created[] = [];
      for (let count = 0; count < followedTransactions; count += 1)
        created.push(await createTransaction(own));
      const states = new Map<string, string>();
      for (const { id } of created) states.set(id, (await awaitFinal(own, id)).state);
      const isShown = ([id, state]: readonly [string, string]) =>
        eventsIn(target, stream.messages).some(
          ({ message }) => containsText(message, id) && stateInMessage(own, message) === state,
        );
      await own.watch(own.target.timing.webhookMs, async () =>
        [...states].every(isShown) ? true : undefined,
      );
      await own.sleep(own.target.timing.quietMs);
      const messages = [...stream.messages];
      return { target, created, states, messages, events: eventsIn(target, messages) };
    } finally {
      stream.close();
    }
  });

export function stateInMessage({ target }: Kit, message: unknown): string | undefined {
  return findMember(message, stateNames(target));
}

/** A second stream that resumes after the first event of the first one. */
export const resumed = (kit: Kit) =>
  kit.fixture("resumed stream", async (own) => {
    const sequences = (await followed(own)).events.map(({ sequence }) => sequence);
    const since = Math.min(...sequences);
    const missed = [...new Set(sequences)].filter((sequence) => sequence > since);
    const { target, stream, confirmation } = await subscribe(own, since);
    try {
      const received = () => new Set(eventsIn(target, stream.messages).map(({ sequence }) => sequence));
      const isRecovered = valueAt(confirmation, target.recovered) === true;
      if (isRecovered)
        await own.watch(own.target.timing.webhookMs, async () =>
          missed.every((sequence) => received().has(sequence)) ? true : undefined,
        );
      return { since, missed, isRecovered, confirmation, received: received() };
    } finally {
      stream.close();
    }
  });
