import { type Event as EventBody, showId } from "@bursar/protocol";
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { isolateFailingRows } from "../../runtime/concurrency/isolate-failing-rows.js";
import type { TraceContext } from "../../runtime/tracing/trace-context.js";
import type { EventReader, LoggedEvent } from "../events/event.js";
import { type PresentEvents, TamperedSubjectError } from "../events/present-events.js";
import type { TransactionKey } from "../transactions/settlement.js";
import type { DueDelivery } from "./sending.js";

/**
 * The body that all deliveries of one event share, without their ids, and the event's subject. The deliveries of an event differ in their
 * id alone, so the rest is rendered once and shared while they wait.
 */
export interface RenderedEvent {
  kind: EventBody["event"];
  subjectId: string;
  before: string;
  after: string;
  /** The span that has caused it, if it is recorded. */
  trace?: TraceContext | undefined;
}

/** The event of each delivery, in the order given; an error if the event cannot be presented, which is a fault of the service. */
export type RenderEvents = (due: readonly DueDelivery[]) => Promise<(RenderedEvent | Error)[]>;

/** The body of a delivery: the same bytes at every attempt. */
export function bodyOf({ before, after }: RenderedEvent, deliveryId: string): string {
  return before + showId("dlv", deliveryId) + after;
}

export interface EventRendererDeps {
  events: EventReader;
  /** Of verified subjects, because bodies are signed. */
  present: PresentEvents;
  /** Called for a transaction that something other than the service has written. */
  onTampered?: (transaction: TransactionKey) => void;
  /** Whether an error means that the database is unavailable: then no event is at fault. */
  isUnavailable: (error: unknown) => boolean;
  /** Reads the spans that have caused events; left out if nothing is recorded. */
  readTraces?: ReadTraces | undefined;
  /** How many characters are cached. */
  charactersMax?: number;
}

/** The spans of those of a tenant's events that have one. */
type ReadTraces = (
  tenantId: string,
  events: readonly Pick<LoggedEvent, "subjectId" | "version">[],
) => Promise<readonly { subjectId: string; version: number; context: TraceContext }[]>;

const charactersMaxDefault = 4_000_000;
/** How many tenants' events one call reads at once: each takes a connection of the pool. */
const tenantsAtOnceMax = 4;

/**
 * Renders the events of many deliveries. An event goes to many endpoints, each at its own pace, and never changes unless the database is restored: what was rendered lately
 * is cached, and is neither read nor presented again.
 */
export function createEventRenderer({
  events,
  present,
  onTampered,
  isUnavailable,
  readTraces,
  charactersMax = charactersMaxDefault,
}: EventRendererDeps): { renderEvents: RenderEvents; clearRendered: () => void } {
  const cache = new LRUCache<string, RenderedEvent>({
    maxSize: charactersMax,
    sizeCalculation: ({ before, after }) => before.length + after.length,
  });
  let clears = 0;

  async function renderAll(
    tenantId: string,
    sequences: ReadonlySet<number>,
    into: Map<string, RenderedEvent | Error>,
  ): Promise<void> {
    const clearsBefore = clears;
    const logged = await events.readEvents(tenantId, [...sequences]);
    const bySequence = new Map(logged.map((one) => [one.sequence, one]));
    const traces = await tracesOf(readTraces, tenantId, logged);
    const presented = await isolateFailingRows<LoggedEvent, EventBody[]>(
      logged,
      (batch) => present(tenantId, batch),
      {
        isUnavailable,
        onFailure: ({ sequence }, error) => {
          if (error instanceof TamperedSubjectError) onTampered?.(error.subject);
          into.set(nameOf(tenantId, sequence), error instanceof Error ? error : new Error(String(error)));
        },
        // Each failure is recorded on its own deliveries; what one call renders has a bound of its own.
        failuresMax: Number.POSITIVE_INFINITY,
      },
    );
    for (const body of presented.flat()) {
      const { subjectId = "", version = 0 } = bySequence.get(body.sequence) ?? {};
      const rendered = render(body, subjectId, traces.get(`${subjectId} ${version}`));
      into.set(nameOf(tenantId, body.sequence), rendered);
      if (clears === clearsBefore) cache.set(nameOf(tenantId, body.sequence), rendered);
    }
  }

  const renderEvents: RenderEvents = async (due) => {
    const rendered = new Map<string, RenderedEvent | Error>();
    const missing = new Map<string, Set<number>>();
    for (const { tenantId, sequence } of due) {
      const name = nameOf(tenantId, sequence);
      if (rendered.has(name)) continue;
      const cached = cache.get(name);
      if (cached !== undefined) rendered.set(name, cached);
      else missing.set(tenantId, (missing.get(tenantId) ?? new Set()).add(sequence));
    }
    const limited = pLimit(tenantsAtOnceMax);
    await Promise.all(
      [...missing].map(([tenantId, sequences]) => limited(() => renderAll(tenantId, sequences, rendered))),
    );
    return due.map(
      ({ tenantId, sequence }) =>
        rendered.get(nameOf(tenantId, sequence)) ?? new Error(`the event ${sequence} is not in the log`),
    );
  };
  return {
    renderEvents,
    // After a restore a sequence can belong to another event.
    clearRendered: () => {
      clears += 1;
      cache.clear();
    },
  };
}

async function tracesOf(
  readTraces: ReadTraces | undefined,
  tenantId: string,
  logged: readonly LoggedEvent[],
): Promise<ReadonlyMap<string, TraceContext>> {
  const traced = logged.filter(({ event }) => event === "transaction.updated" || event === "order.updated");
  if (readTraces === undefined || traced.length === 0) return new Map();
  const found = await readTraces(tenantId, traced);
  return new Map(found.map(({ subjectId, version, context }) => [`${subjectId} ${version}`, context]));
}

function render(
  { event, ...rest }: EventBody,
  subjectId: string,
  trace: TraceContext | undefined,
): RenderedEvent {
  const before = `{"event":${JSON.stringify(event)},"delivery_id":"`;
  return { kind: event, subjectId, before, after: `",${JSON.stringify(rest).slice(1)}`, trace };
}

function nameOf(tenantId: string, sequence: number): string {
  return `${tenantId} ${sequence}`;
}
