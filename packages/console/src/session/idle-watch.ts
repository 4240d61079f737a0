const idleMs = 30 * 60_000;
const checkMs = 30_000;
export const lastActivityKey = "bursar-last-activity";
const acts = ["pointerdown", "keydown", "wheel", "touchmove"] as const;

interface IdleWatchDeps {
  /** Ends the session; false if that was not possible, and has to be tried again. */
  end: () => Promise<boolean>;
  /** What the page hears of its person. */
  acts: Pick<EventTarget, "addEventListener" | "removeEventListener">;
  /** What all tabs of the browser share. */
  storage: Pick<Storage, "getItem" | "setItem">;
}

/**
 * Ends the session when nobody has done anything for half an hour, in any tab. The service counts from the last token, and a page with a live
 * table asks for tokens by itself. Who comes back later does not go on with the session, also if the service could not be reached in
 * between. Returns what stops the watch.
 */
export function watchIdle({ end, acts: target, storage }: IdleWatchDeps): () => void {
  const note = () => storage.setItem(lastActivityKey, String(Date.now()));
  const isIdle = () => {
    const passedMs = Date.now() - Number(storage.getItem(lastActivityKey) ?? 0);
    // The clock was set back. It would count from an act of the future, so it counts from now.
    if (passedMs < 0) note();
    return passedMs >= idleMs;
  };
  let notedAt = Date.now();
  let isOver = false;
  let isEnding = false;
  note();
  const check = async () => {
    isOver ||= isIdle();
    if (!isOver || isEnding) return;
    isEnding = true;
    if (await end()) stop();
    isEnding = false;
  };
  const onAct = () => {
    if (isOver || isIdle()) return void check();
    if (Math.abs(Date.now() - notedAt) < checkMs) return;
    notedAt = Date.now();
    note();
  };
  const timer = setInterval(() => void check(), checkMs);
  for (const act of acts) target.addEventListener(act, onAct, { passive: true });
  const stop = () => {
    clearInterval(timer);
    for (const act of acts) target.removeEventListener(act, onAct);
  };
  return stop;
}
