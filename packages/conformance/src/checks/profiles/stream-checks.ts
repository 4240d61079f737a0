import { expect, profileCheck } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { isObject, valueAt } from "../../http/reply.js";
import { openStream } from "../../stream/open-stream.js";
import { containsText } from "../../webhooks/delivery-items.js";
import { followed, resumed, stateInMessage, streamTarget, subscribe } from "../stream-scenarios.js";

const profile = "stream";
const source =
  "Contract, section 6: the real-time stream is named (connection lifecycle, reconnect, event ordering); its messages are those of the target file.";
const open = "stream.open";
const complete = "stream.complete";
const writes = ["transaction"] as const;
/** Far beyond any sequence that a log has. */
const farAhead = 1_000_000_000;

async function sequencesOf(kit: Kit): Promise<number[]> {
  return (await followed(kit)).events.map(({ sequence }) => sequence);
}

/** What a client relies on that follows events across lost connections. */
export const streamChecks = [
  profileCheck(
    open,
    profile,
    source,
    "A client with a token can open the stream and subscribe.",
    {},
    async (kit) => {
      const { stream } = await subscribe(kit);
      stream.close();
    },
  ),
  profileCheck(
    "stream.token",
    profile,
    source,
    "The stream does not open without a token.",
    { needs: [open, "access.none"] },
    async (kit) => {
      const opened = await openStream(kit, streamTarget(kit), { authorization: null });
      if ("refused" in opened) return;
      opened.stream.close();
      expect(false, "no stream without a token", "an open stream");
    },
  ),
  profileCheck(
    complete,
    profile,
    source,
    "Every transaction that is created while a client follows is announced to it.",
    { needs: [open, "tx.get.result-stays"], writes },
    async (kit) => {
      const { created, events } = await followed(kit);
      for (const { id } of created)
        expect(
          events.some(({ message }) => containsText(message, id)),
          `an event about each of ${created.length} transactions`,
          `none about ${id}`,
        );
    },
  ),
  profileCheck(
    "stream.order",
    profile,
    source,
    "Events arrive in the order of their sequence.",
    { needs: [complete], writes },
    async (kit) => {
      const sequences = await sequencesOf(kit);
      const late = sequences.findIndex((one, at) => one < (sequences[at - 1] ?? one));
      expect(
        late < 0,
        "events in the order of their sequence",
        `${sequences[late]} after ${sequences[late - 1]}`,
      );
    },
  ),
  profileCheck(
    "stream.once",
    profile,
    source,
    "No event arrives twice.",
    { needs: [complete], writes },
    async (kit) => {
      const sequences = await sequencesOf(kit);
      const again = sequences.find((one, at) => sequences.indexOf(one) !== at);
      expect(again === undefined, "each event once", `the event ${again} twice`);
    },
  ),
  profileCheck(
    "stream.gapless",
    profile,
    source,
    "No event is left out.",
    { needs: [complete], writes },
    async (kit) => {
      const sequences = [...new Set(await sequencesOf(kit))].sort((one, other) => one - other);
      const after = sequences.find((one, at) => at > 0 && one !== (sequences[at - 1] ?? one) + 1);
      expect(
        after === undefined,
        "sequences without a gap",
        `no event between ${sequences[sequences.indexOf(after ?? 0) - 1]} and ${after}`,
      );
    },
  ),
  profileCheck(
    "stream.result",
    profile,
    source,
    "The result in an event is the one that GET shows.",
    { needs: ["stream.gapless"], writes },
    async (kit) => {
      const { states, events } = await followed(kit);
      for (const [id, state] of states) {
        const reported = events
          .filter(({ message }) => containsText(message, id))
          .map(({ message }) => stateInMessage(kit, message));
        expect(
          reported.includes(state),
          `an event with the state ${state} that GET shows`,
          `${reported.join(", ") || "none"} for ${id}`,
        );
      }
    },
  ),
  profileCheck(
    "stream.resume",
    profile,
    source,
    "A client that reconnects at once can resume.",
    { needs: [complete], writes },
    async (kit) => {
      const { since, isRecovered, confirmation } = await resumed(kit);
      expect(
        isRecovered,
        `a subscription since ${since}, some seconds ago, to be recovered`,
        JSON.stringify(confirmation),
      );
    },
  ),
  profileCheck(
    "stream.recovery",
    profile,
    source,
    "A recovery that is claimed is one: everything after the sequence follows.",
    { needs: ["stream.resume"], writes },
    async (kit) => {
      const { since, missed, received } = await resumed(kit);
      const lost = missed.filter((sequence) => !received.has(sequence));
      expect(
        lost.length === 0,
        `the ${missed.length} events after ${since}, because the confirmation says that they follow`,
        `a false claim of recovery: ${lost.join(", ")} did not arrive`,
      );
    },
  ),
  profileCheck(
    "stream.ahead",
    profile,
    source,
    "A sequence that the log does not have is not recovered.",
    { needs: ["stream.recovery"], writes },
    async (kit) => {
      const target = streamTarget(kit);
      const opened = await openStream(kit, target);
      if ("refused" in opened) return;
      const { stream } = opened;
      try {
        stream.send({ ...target.subscribe, [target.since]: farAhead });
        const claim = await kit.watch(kit.target.timing.quietMs, async () =>
          stream.messages.find((message) => isObject(message) && valueAt(message, target.recovered) === true),
        );
        expect(
          claim === undefined,
          `no recovery since ${farAhead}, which no event has`,
          JSON.stringify(claim),
        );
      } finally {
        stream.close();
      }
    },
  ),
];
