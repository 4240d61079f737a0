import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { bursar } from "../api/bursar";

const idleMs = 30 * 60_000;
const checkMs = 30_000;
export const lastActivityKey = "bursar-last-activity";
const acts = ["pointerdown", "keydown", "wheel", "touchmove"] as const;

/**
 * Ends the session when nobody has done anything for half an hour. The service counts from the last token, and a page with a live table asks
 * for tokens by itself. All tabs of the browser count together.
 */
export function useIdleEnd(isLoggedIn: boolean): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (!isLoggedIn) return undefined;
    note();
    let notedAt = Date.now();
    const onAct = () => {
      if (Date.now() - notedAt < checkMs) return;
      notedAt = Date.now();
      note();
    };
    const timer = setInterval(() => {
      if (Date.now() - lastActivity() < idleMs) return;
      clearInterval(timer);
      void bursar.consoleSession
        .end()
        .catch(() => undefined)
        .then(() => queries.invalidateQueries({ queryKey: ["me"] }));
    }, checkMs);
    for (const act of acts) addEventListener(act, onAct, { passive: true });
    return () => {
      clearInterval(timer);
      for (const act of acts) removeEventListener(act, onAct);
    };
  }, [isLoggedIn, queries]);
}

function note(): void {
  localStorage.setItem(lastActivityKey, String(Date.now()));
}

function lastActivity(): number {
  return Number(localStorage.getItem(lastActivityKey) ?? 0);
}
