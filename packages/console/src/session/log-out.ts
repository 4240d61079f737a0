import { useEffect } from "react";
import { bursar } from "../api/bursar";
import { forgetDrafts } from "../ui/forms/use-draft";
import { forgetInvitation } from "./kept-invitation";

const storageKey = "bursar-logged-out";

/**
 * Ends the session, and forgets what was typed in this tab. What was typed in others is shown again to the same person alone: they see no
 * form when they log out here.
 */
export async function logOut(personId: string): Promise<void> {
  await bursar.consoleSession.end();
  localStorage.setItem(storageKey, String(Date.now()));
  forgetDrafts(personId);
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
