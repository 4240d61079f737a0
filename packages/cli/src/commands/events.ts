import type { BursarEvent, Gap, ListEventsQuery } from "@bursar/client";
import type { Given } from "../parse/given.js";
import { safe } from "../terminal/safe-text.js";
import { paintState, type Style } from "../terminal/style.js";
import type { Command, Context, Option } from "./command.js";
import { listCommand } from "./lists.js";

export const eventKinds = [
  "transaction.updated",
  "wallet.updated",
  "order.updated",
  "endpoint.disabled",
  "change_request.updated",
  "audit.checkpoint",
];
const kinds: Option = {
  name: "kinds",
  value: "kind",
  about: "only events of this kind",
  many: true,
  choices: eventKinds,
};

export const eventCommands: readonly Command[] = [
  {
    path: "events tail",
    summary: "show each event as it happens, none missing and none twice",
    options: [
      {
        name: "since",
        value: "sequence",
        about: "begin after this event; by default only new ones are shown",
      },
      kinds,
      { name: "count", value: "count", about: "end after this many events" },
    ],
    operations: ["GET /v1/stream"],
    watches: true,
    run: tail,
  },
  listCommand<ListEventsQuery>({
    path: "events list",
    summary: "list the log of events, newest first",
    operation: "GET /v1/events",
    options: [kinds, { name: "subject-id", value: "id", about: "only events of this resource" }],
    columns: [
      "sequence",
      "event",
      { title: "subject", of: (event: BursarEvent) => subjectOf(event).id },
      { title: "state", of: (event: BursarEvent) => subjectOf(event).state },
      "occurred_at",
    ],
    read: (bursar, query) => bursar.events.list({ ...query, order: "desc" }),
  }),
];

async function tail({ bursar, output, note, io }: Context, given: Given): Promise<undefined> {
  const since = given.number("since", { min: 0, max: Number.MAX_SAFE_INTEGER });
  const only = given.list("kinds") as BursarEvent["event"][];
  let left = given.number("count", { min: 1, max: 1_000_000 }) ?? Number.POSITIVE_INFINITY;
  const end = new AbortController();
  const followed = (await bursar()).events.follow({
    ...(since === undefined ? {} : { since }),
    ...(only.length === 0 ? {} : { kinds: only }),
    signal: AbortSignal.any([io.signal, end.signal]),
  });
  try {
    for await (const found of followed) {
      if (found.type === "gap") {
        // A script sees it too.
        if (output.format === "jsonl" || output.format === "json") output.item(found, () => "");
        note(describeGap(found));
        continue;
      }
      output.item(found.event, () => eventLine(found.event, output.style));
      left -= 1;
      if (left === 0) break;
    }
  } finally {
    end.abort();
  }
  return undefined;
}

function describeGap({ from, to, reason }: Gap): string {
  return reason === "expired"
    ? `Events from ${from} to ${to ?? "the end"} are missing: the log does not reach back that far.`
    : `The log does not continue at event ${from}: it has not come that far, or the database was restored. New events follow.`;
}

/** The resource of an event. */
function subjectOf({ data }: Pick<BursarEvent, "data">): {
  id?: string;
  state?: string;
  version?: number;
} {
  const subject = Object.values(data).find((value) => typeof value === "object" && value !== null);
  return (subject ?? {}) as { id?: string; state?: string; version?: number };
}

function eventLine(event: BursarEvent, style: Style): string {
  const { id = "-", state = "-", version } = subjectOf(event);
  return [
    style.dim(safe(event.occurred_at)),
    safe(`#${event.sequence}`),
    safe(event.event),
    safe(id),
    paintState(safe(state), style),
    ...(version === undefined ? [] : [safe(`v${version}`)]),
  ].join("  ");
}
