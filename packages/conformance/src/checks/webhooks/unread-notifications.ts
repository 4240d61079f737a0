import { Undecided } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";

/** What the receiver has answered with 413 because of its own bounds, which says nothing about the target; undefined if nothing. */
export function describeUnread({ session }: Kit): string | undefined {
  const { tooLarge, tooMany } = session.receiver?.unread() ?? { tooLarge: 0, tooMany: 0 };
  const parts = [
    ...(tooLarge > 0 ? [`${tooLarge} larger than 1 MiB`] : []),
    ...(tooMany > 0 ? [`${tooMany} after the first 5000 or 512 MiB`] : []),
  ];
  if (parts.length === 0) return undefined;
  return `The receiver of the kit has answered notifications with 413, which it does not read: ${parts.join(" and ")}.`;
}

/** What is missing can be in a notification that the kit has not read. */
export function refuseIfUnread(kit: Kit, expected: string, seen: string, belongsTo?: string): void {
  const unread = describeUnread(kit);
  if (unread !== undefined)
    throw new Undecided(
      `Expected ${expected}; seen ${seen}. ${unread} The contract sets no limit.`,
      belongsTo,
    );
}
