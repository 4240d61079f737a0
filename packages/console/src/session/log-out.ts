import type { CallOptions } from "@bursar/client";
import { useEffect } from "react";
import { bursar } from "../api/bursar";
import { hasEnded } from "../api/queries";
import { forgetDrafts } from "../ui/forms/use-draft";
import { forgetInvitation } from "./kept-invitation";
import { forgetLeftOpen, noteLeftOpen } from "./left-open";

const storageKey = "bursar-logged-out";

/**
 * Ends the session, and forgets what was typed in this tab. What was typed in others is shown again to the same person alone: they see no
 * form when they log out here. If the session could not be ended, this browser shows that it may still be open, and nothing of it.
 */
export async function logOut(personId: string): Promise<void> {
  try {
    await endSession();
  } catch (error) {
    forgetDrafts(personId);
    forgetInvitation();
    noteLeftOpen(error);
    return;
  }
  forgetDrafts(personId);
  leaveEverywhere();
}

/** Repetitions that come later would end a session that was opened meanwhile. */
const endMs = 3000;

/** Ends the session that could not be ended before. */
export async function endLeftOpen(): Promise<void> {
  await endSession({ budgetMs: endMs });
  forgetLeftOpen();
  leaveEverywhere();
}

/** A session that has ended already is none that could not be ended. */
async function endSession(options?: CallOptions): Promise<void> {
  try {
    await bursar.consoleSession.end(options);
  } catch (error) {
    if (!hasEnded(error)) throw error;
  }
}

function leaveEverywhere(): void {
  localStorage.setItem(storageKey, String(Date.now()));
  leave();
}

export function useLogOutElsewhere(): void {
  useEffect(() => {
    const onStorage = ({ key }: StorageEvent) => {
      if (key === storageKey) leave();
    };
    addEventListener("storage", onStorage);
    return () => removeEventListener("storage", onStorage);
  }, []);
}

function leave(): void {
  forgetInvitation();
  location.reload();
}
