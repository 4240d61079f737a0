import { errorCatalog } from "@bursar/protocol";
import { isRefused, type Refused } from "../../../src/app/requests/refused.js";
import { DatabaseGone, StatementRefused } from "../database/database-faults.js";
import type { Answer } from "./exchange.js";

/** Whether the world has caused an error. */
export function isInjected(error: unknown): boolean {
  return error instanceof DatabaseGone || error instanceof StatementRefused;
}

export function answer<T>(
  status: 200 | 202,
  value: T,
  present: (value: Exclude<T, Refused>) => unknown,
): Answer {
  if (isRefused(value)) return { status: errorCatalog[value.refused].status, code: value.refused };
  return { status, body: present(value as Exclude<T, Refused>) };
}

export function explain(error: unknown, onBroken: (error: unknown) => void): Answer {
  if (isInjected(error)) return { status: 503, code: "UNAVAILABLE" };
  onBroken(error);
  return { status: 500, code: "INTERNAL_ERROR" };
}
