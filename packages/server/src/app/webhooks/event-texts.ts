import { type Event as EventBody, showId } from "@bursar/protocol";
import type { EventReader, LoggedEvent } from "../events/event.js";
import type { PresentEvents } from "../events/present-events.js";
import type { DueDelivery } from "./sending.js";

/**
 * What the deliveries of one event say, and whom it is about. They differ in their id alone, so the rest is written once, and all share
 * it while they wait.
 */
export interface EventText {
  subjectId: string;
  before: string;
  after: string;
}

/** The text of each delivery, in the order given; undefined where its event cannot be presented. */
export type ReadTexts = (due: readonly DueDelivery[]) => Promise<(EventText | undefined)[]>;

/** The body of a delivery: the same bytes at every attempt. */
export function bodyOf({ before, after }: EventText, deliveryId: string): string {
  return before + showId("dlv", deliveryId) + after;
}

export interface TextReaderDeps {
  events: EventReader;
  present: PresentEvents;
  /** Whether an error means that the database is away: then no event can be presented, and it is none of theirs. */
  isUnavailable: (error: unknown) => boolean;
  /** Told of an event that cannot be presented, which is a mistake of ours. */
  onUnpresentable: (event: LoggedEvent, error: unknown) => void;
  /** How many characters are remembered. */
  rememberedMax?: number;
}

const rememberedMaxByDefault = 4_000_000;

/**
 * Reads what many deliveries say. An event goes to many endpoints, each at its own pace, and never changes: what was written lately is
 * remembered, and is neither read nor presented again.
 */
export function createTextReader(deps: TextReaderDeps): ReadTexts {
  const { events, present, isUnavailable, onUnpresentable } = deps;
  const remembered = createTextMemory(deps.rememberedMax ?? rememberedMaxByDefault);

  /** One that fails must not hold up its neighbours, so after a failure each is tried by itself. */
  async function presentEach(tenantId: string, logged: readonly LoggedEvent[]): Promise<EventBody[]> {
    try {
      return await present(tenantId, logged);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      const [event] = logged;
      if (event === undefined || logged.length > 1)
        return (await Promise.all(logged.map((one) => presentEach(tenantId, [one])))).flat();
      onUnpresentable(event, error);
      return [];
    }
  }

  async function writeTexts(tenantId: string, sequences: ReadonlySet<bigint>, into: Map<string, EventText>) {
    const logged = await events.readEvents(tenantId, [...sequences]);
    const subjects = new Map(logged.map(({ sequence, subjectId }) => [Number(sequence), subjectId]));
    for (const body of await presentEach(tenantId, logged)) {
      const text = textAround(body, subjects.get(body.sequence) ?? "");
      const name = nameOf(tenantId, body.sequence);
      into.set(name, text);
      remembered.add(name, text);
    }
  }

  return async (due) => {
    const texts = new Map<string, EventText>();
    const missing = new Map<string, Set<bigint>>();
    for (const { tenantId, sequence } of due) {
      const name = nameOf(tenantId, sequence);
      if (texts.has(name)) continue;
      const known = remembered.find(name);
      if (known !== undefined) texts.set(name, known);
      else missing.set(tenantId, (missing.get(tenantId) ?? new Set()).add(sequence));
    }
    await Promise.all([...missing].map(([tenantId, sequences]) => writeTexts(tenantId, sequences, texts)));
    return due.map(({ tenantId, sequence }) => texts.get(nameOf(tenantId, sequence)));
  };
}

function textAround({ event, ...rest }: EventBody, subjectId: string): EventText {
  const before = `{"event":${JSON.stringify(event)},"delivery_id":"`;
  return { subjectId, before, after: `",${JSON.stringify(rest).slice(1)}` };
}

function nameOf(tenantId: string, sequence: bigint | number): string {
  return `${tenantId} ${sequence}`;
}

/** Texts by their names, up to so many characters; the oldest make room. */
function createTextMemory(charactersMax: number) {
  const texts = new Map<string, EventText>();
  let characters = 0;
  return {
    find: (name: string) => texts.get(name),
    add: (name: string, text: EventText) => {
      if (texts.has(name)) return;
      texts.set(name, text);
      characters += text.after.length;
      // A map keeps the order in which its keys were added.
      for (const [oldest, { after }] of texts) {
        if (characters <= charactersMax) return;
        texts.delete(oldest);
        characters -= after.length;
      }
    },
  };
}
