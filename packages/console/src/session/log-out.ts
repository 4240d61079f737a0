import { useEffect } from "react";
import { bursar } from "../api/bursar";
import { forgetDrafts } from "../ui/forms/use-draft";
import { forgetInvitation } from "./kept-invitation";

const storageKey = "bursar-logged-out";

/** Ends the session, and forgets what was typed and who was invited, in this tab and in the others of this browser. */
export async function logOut(): Promise<void> {
  await bursar.consoleSession.end();
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
  forgetDrafts();
  forgetInvitation();
  location.reload();
}
