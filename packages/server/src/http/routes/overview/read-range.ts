import type { TimeRange } from "../../../app/overview/overview.js";

export function readRange({ from, to }: { from?: string; to?: string }): TimeRange {
  return {
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
  };
}
