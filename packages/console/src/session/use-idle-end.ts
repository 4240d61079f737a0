import { isBursarError } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { bursar } from "../api/bursar";
import { hasEnded } from "../api/queries";
import { useCurrentSession } from "./current-session";
import { watchIdle } from "./idle-watch";

/** Ends the session of a person who is not there any more, and shows the login over the page. */
export function useIdleEnd(isLoggedIn: boolean): void {
  const queries = useQueryClient();
  const sessionId = useCurrentSession()?.id;
  useEffect(() => {
    if (!isLoggedIn || sessionId === undefined) return undefined;
    // By its id, and not by the cookie: another tab can have ended it already, and its person can have logged in again there.
    const end = async () => {
      const isOver = await bursar.sessions.endOwn(sessionId).then(() => true, isOverAlready);
      await queries.invalidateQueries({ queryKey: ["me"] });
      return isOver;
    };
    return watchIdle({ end, acts: window, storage: localStorage });
  }, [isLoggedIn, sessionId, queries]);
}

function isOverAlready(error: unknown): boolean {
  return hasEnded(error) || (isBursarError(error) && error.code === "SESSION_NOT_FOUND");
}
