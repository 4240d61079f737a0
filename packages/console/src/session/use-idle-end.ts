import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { bursar } from "../api/bursar";
import { hasEnded } from "../api/queries";
import { watchIdle } from "./idle-watch";

/** Ends the session of a person who is not there any more, and shows the login over the page. */
export function useIdleEnd(isLoggedIn: boolean): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (!isLoggedIn) return undefined;
    const end = async () => {
      const hasNone = await bursar.consoleSession.end().then(() => true, hasEnded);
      await queries.invalidateQueries({ queryKey: ["me"] });
      return hasNone;
    };
    return watchIdle({ end, acts: window, storage: localStorage });
  }, [isLoggedIn, queries]);
}
