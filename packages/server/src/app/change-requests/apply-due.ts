import { isRefused } from "../requests/refused.js";
import { advance, type ChangeRequestDeps, lockAuthentic, prepareChange } from "./advance-change.js";
import { type DueChange, isOpen } from "./change-request.js";

const pageMax = 20;
/** In one call; the rest waits for the next. */
const pagesMax = 50;
/** A request that cannot be processed is not tried again for so long. */
const retryAfterMs = 30_000;
/** With more of them, the earliest are tried again sooner. */
const failedMax = 10_000;

/**
 * Expires or applies what is due; returns how many that were. Each has its own SQL transaction, and one that fails stays due: the call goes
 * on to the next page, because however many fail together must not keep the others waiting.
 */
export function createDueApplier(deps: ChangeRequestDeps): () => Promise<number> {
  const retryAtMs = new Map<string, number>();

  async function apply({ tenantId, id }: DueChange): Promise<boolean> {
    if ((retryAtMs.get(id) ?? 0) > deps.now()) return false;
    retryAtMs.delete(id);
    try {
      return await applyOne(deps, tenantId, id);
    } catch (error) {
      retryAtMs.set(id, deps.now() + retryAfterMs);
      const [first] = retryAtMs.keys();
      if (retryAtMs.size > failedMax && first !== undefined) retryAtMs.delete(first);
      deps.onFailure({ tenantId, id }, error);
      return false;
    }
  }

  return async () => {
    let done = 0;
    let after: DueChange | undefined;
    for (let pages = 0; pages < pagesMax; pages++) {
      const due = await deps.store.listDue(new Date(deps.now()), pageMax, after);
      for (const one of due) if (await apply(one)) done += 1;
      if (due.length < pageMax) break;
      after = due.at(-1);
    }
    return done;
  };
}

/** False if it is not prepared yet. */
async function applyOne(deps: ChangeRequestDeps, tenantId: string, id: string): Promise<boolean> {
  const due = await deps.store.read(tenantId, id);
  // A pending one has expired.
  if (due?.state === "scheduled" && (await prepareChange(deps, due)) !== undefined) return false;
  await deps.store.unitOfWork(async (unit) => {
    const now = new Date(deps.now());
    const request = await lockAuthentic(unit, { tenantId, id }, now);
    if (!isRefused(request) && isOpen(request)) await advance(deps, unit, request, now);
  });
  return true;
}
