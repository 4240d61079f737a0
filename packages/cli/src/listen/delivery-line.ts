import { safe } from "../terminal/safe-text.js";
import type { Style } from "../terminal/style.js";

/** A delivery as a local receiver got it. */
export interface ShownDelivery {
  at: Date;
  body: string;
  attempt: string;
  /** `verified`, or why it is not; undefined for one that was signed here. */
  fault: string | undefined;
  isLocal: boolean;
  /** Whether a delivery with the same id was received before. */
  isRepeated: boolean;
  /** The answer of the receiver. */
  status: number;
  /** How long the receiver that it was forwarded to took, and the beginning of what it said. */
  forwarded: { latencyMs: number; answer: string } | undefined;
}

const partLengthMax = 64;

/** A delivery on one line: time, event, subject, sequence, attempt, and whether it is verified. */
export function deliveryLine(delivery: ShownDelivery, style: Style): string {
  const { event, sequence, subject } = readBody(delivery.body);
  const { fault, status, forwarded } = delivery;
  const isGood = status >= 200 && status < 300;
  const paint = isGood ? style.good : style.bad;
  return [
    style.dim(timeOf(delivery.at)),
    show(event ?? "no event").padEnd("transaction.updated".length),
    show(subject["id"] ?? "-"),
    show(subject["state"] ?? "-"),
    subject["version"] === undefined ? "-" : `v${show(subject["version"])}`,
    sequence === undefined ? "-" : `#${show(sequence)}`,
    ...(delivery.isLocal ? ["signed here"] : [`attempt ${show(delivery.attempt)}`]),
    ...(delivery.isLocal
      ? []
      : [fault === undefined ? style.good("verified") : style.bad(`NOT VERIFIED (${safe(fault)})`)]),
    ...(delivery.isRepeated ? [style.dim("repeated")] : []),
    ...(forwarded === undefined
      ? isGood
        ? []
        : [style.bad(`answered ${status}`)]
      : [paint(`answered ${status} in ${Math.round(forwarded.latencyMs)} ms`), show(forwarded.answer)]),
  ].join("  ");
}

const payloadLengthMax = 65_536;

/** The payload of a delivery, indented if it is JSON, and safe for the terminal. */
export function payloadLines(body: string): string[] {
  const shown = indented(body);
  const whole = shown.length > payloadLengthMax ? `${shown.slice(0, payloadLengthMax)}…` : shown;
  return whole.split("\n").map(safe);
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

type Fields = Record<string, unknown>;

/** The main fields of a body. The sender is not trusted, so any of them can be missing. */
export function readBody(body: string): { event?: unknown; sequence?: unknown; subject: Fields } {
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

function show(value: unknown): string {
  const text = safe(String(value));
  return text.length > partLengthMax ? `${text.slice(0, partLengthMax)}…` : text;
}

function timeOf(at: Date): string {
  const part = (value: number, length = 2) => String(value).padStart(length, "0");
  const seconds = `${part(at.getSeconds())}.${part(at.getMilliseconds(), 3)}`;
  return `${part(at.getHours())}:${part(at.getMinutes())}:${seconds}`;
}
