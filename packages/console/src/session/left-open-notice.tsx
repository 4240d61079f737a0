import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { forgetToken } from "../api/bursar";
import { useAction } from "../api/use-action";
import { Problem } from "../ui/panels/problem";
import { whyLeftOpen } from "./left-open";
import { endLeftOpen } from "./log-out";

/** On the log-in page of a person who has logged out, and whose session could not be ended. */
export function LeftOpenNotice() {
  const queries = useQueryClient();
  // Only when somebody asks for it: a login, which may be under way, gives the browser another session.
  const end = useAction({ mutationFn: endLeftOpen });
  const begin = useEffectEvent(() => {
    forgetToken();
    queries.removeQueries({ type: "inactive" });
  });
  useEffect(() => begin(), []);
  const problem = end.error ?? whyLeftOpen();
  return (
    <div className="card stack">
      <h2>Your session may still be open</h2>
      <p>
        You are logged out in this browser, which has forgotten what you typed. The service has not confirmed
        that your session has ended. It may stay open there until it expires: after 30 minutes without use, or
        12 hours after it was opened.
      </p>
      {problem !== undefined && !end.isPending && <Problem error={problem} />}
      <button type="button" className="button" disabled={end.isPending} onClick={() => end.mutate()}>
        {end.isPending ? "Ending the session" : "Try again"}
      </button>
    </div>
  );
}
