import type { Verification } from "@bursar/protocol";
import { printable } from "../../runtime/printable.js";

/** A delivery as a local receiver got it. */
export interface ReceivedDelivery {
  at: Date;
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
  verification: Verification;
  /** Whether a delivery with the same id was received before. */
  isRepeated: boolean;
  /** The status of the response. */
  status: number;
}

export interface LineStyle {
  good: (text: string) => string;
  bad: (text: string) => string;
  dim: (text: string) => string;
}

export const plainStyle: LineStyle = { good: (text) => text, bad: (text) => text, dim: (text) => text };

const partLengthMax = 64;

/** Formats a delivery as one line: time, event, subject, sequence, attempt, and whether it is verified. */
export function deliveryLine(delivery: ReceivedDelivery, style: LineStyle): string {
  const { event, sequence, subject } = readBody(delivery.body);
  const { verification } = delivery;
  const parts = [
    style.dim(timeOf(delivery.at)),
    show(event ?? "no event").padEnd("transaction.updated".length),
    show(subject.id ?? "-"),
    show(subject.state ?? "-"),
    subject.version === undefined ? "-" : `v${show(subject.version)}`,
    sequence === undefined ? "-" : `#${show(sequence)}`,
    `attempt ${show(delivery.headers["webhook-attempt"] ?? "?")}`,
    verification.verified ? style.good("verified") : style.bad(`NOT VERIFIED (${verification.reason})`),
    ...(delivery.isRepeated ? [style.dim("repeated")] : []),
    ...(delivery.status >= 200 && delivery.status < 300 ? [] : [style.bad(`answered ${delivery.status}`)]),
  ];
  return parts.join("  ");
}

/** Whether a delivery is of one of these kinds; all are if none is named. */
export function isOfKinds({ body }: Pick<ReceivedDelivery, "body">, kinds?: readonly string[]): boolean {
  return kinds === undefined || kinds.includes(String(readBody(body).event));
}

const payloadLengthMax = 65_536;

/** The payload of a delivery, indented if it is JSON. Like everything of an untrusted sender, it is made safe for the terminal. */
export function payloadLines({ body }: Pick<ReceivedDelivery, "body">): string[] {
  const shown = indented(body);
  const cut = shown.length > payloadLengthMax ? `${shown.slice(0, payloadLengthMax)}…` : shown;
  return cut.split("\n").map(printable);
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

type Fields = Record<string, unknown>;

interface Subject {
  id?: unknown;
  state?: unknown;
  version?: unknown;
}

/** The main fields of a body. The sender is not trusted, so any of them can be missing. */
function readBody(body: string): { event?: unknown; sequence?: unknown; subject: Subject } {
  const read = parse(body);
  const data = isFields(read["data"]) ? read["data"] : {};
  const subject = Object.values(data).find((value) => isFields(value) && "id" in value);
  return { event: read["event"], sequence: read["sequence"], subject: isFields(subject) ? subject : {} };
}

function parse(body: string): Fields {
  try {
    const value: unknown = JSON.parse(body);
    return isFields(value) ? value : {};
  } catch {
    return {};
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

/** An untrusted string must not move the cursor or fill the screen. */
function show(value: unknown): string {
  const text = printable(String(value));
  return text.length > partLengthMax ? `${text.slice(0, partLengthMax)}…` : text;
}

function timeOf(at: Date): string {
  const part = (value: number, length = 2) => String(value).padStart(length, "0");
  const seconds = `${part(at.getSeconds())}.${part(at.getMilliseconds(), 3)}`;
  return `${part(at.getHours())}:${part(at.getMinutes())}:${seconds}`;
}
