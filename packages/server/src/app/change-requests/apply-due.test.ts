import { describe, expect, it } from "vitest";
import type { ChangeRequestDeps } from "./advance-change.js";
import { createDueApplier } from "./apply-due.js";
import type { DueChange } from "./change-request.js";

/** Requests that are due, of which some cannot be committed. */
function setUp(count: number, isFailing: (id: string) => boolean) {
  let nowMs = 0;
  const due: DueChange[] = Array.from({ length: count }, (_, index) => ({
    tenantId: "t",
    id: `${1000 + index}`,
    dueAt: String(index - count),
  }));
  const tried: string[] = [];
  const committed: string[] = [];
  let current = "";
  const applyDue = createDueApplier({
    store: {
      listDue: async (_now: Date, limit: number, after: DueChange | undefined) =>
        due.filter(({ id }) => after === undefined || id > after.id).slice(0, limit),
      read: async (_tenantId: string, id: string) => {
        current = id;
        return { state: "pending" };
      },
      unitOfWork: async (work: (unit: unknown) => Promise<unknown>) => {
        tried.push(current);
        await work({ lock: async () => undefined });
        // The commit fails, after all of the work was done.
        if (isFailing(current)) throw new Error("no commit");
        committed.push(current);
        due.splice(
          due.findIndex(({ id }) => id === current),
          1,
        );
      },
    },
    onFailure: () => undefined,
    now: () => nowMs,
  } as unknown as ChangeRequestDeps);
  const advance = (ms: number) => {
    nowMs += ms;
  };
  return { applyDue, tried, committed, advance };
}

describe("change requests that are due", () => {
  it("are applied although more than a page of earlier ones cannot be", async () => {
    const { applyDue, committed } = setUp(45, (id) => id < "1040");
    expect(await applyDue()).toBe(5);
    expect(committed).toEqual(["1040", "1041", "1042", "1043", "1044"]);
  });

  it("do not count as done if their commit fails, and are not tried again at once", async () => {
    const { applyDue, tried, advance } = setUp(1, () => true);
    expect(await applyDue()).toBe(0);
    expect(await applyDue()).toBe(0);
    expect(tried).toHaveLength(1);
    advance(60_000);
    expect(await applyDue()).toBe(0);
    expect(tried).toHaveLength(2);
  });
});
