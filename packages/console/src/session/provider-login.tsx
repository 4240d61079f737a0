import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { bursar } from "../api/bursar";
import { useAction } from "../api/use-action";
import { Problem } from "../ui/panels/problem";
import { forgetLeftOpen } from "./left-open";

const returnPath = "/console/oidc";

/** The query that the provider sent the browser back with. It is taken out of the address, so that no history keeps the code. */
const answer = takeAnswer();

function takeAnswer(): string | undefined {
  if (location.pathname !== returnPath || location.search === "") return undefined;
  const query = location.search.slice(1);
  history.replaceState(history.state, "", "/console/");
  return query;
}

/** The answer is sent once, although the page can be drawn twice. */
let finishing: Promise<unknown> | undefined;

/** The button for the OpenID provider, if there is one, and the end of a login with it. */
export function ProviderLogin() {
  const [problem, setProblem] = useState<unknown>();
  const [isFinishing, setFinishing] = useState(answer !== undefined);
  useEffect(() => {
    if (answer === undefined) return;
    finishing ??= bursar.consoleSession.finishProviderLogin({ parameters: answer });
    finishing
      .then(() => {
        forgetLeftOpen();
        location.reload();
      })
      .catch((error: unknown) => {
        setProblem(error);
        setFinishing(false);
      });
  }, []);
  return (
    <>
      {isFinishing ? (
        <button type="button" className="button" disabled>
          {waiting}
        </button>
      ) : (
        <ProviderButton onBegin={() => setProblem(undefined)} />
      )}
      {problem !== undefined && <Problem error={problem} />}
    </>
  );
}

const waiting = "Waiting for the provider";

/** Leaves the page for the OpenID provider. Nothing if there is none. What is said about it is shown with it. */
export function ProviderButton({ onBegin, children }: { onBegin?: () => void; children?: ReactNode }) {
  const options = useQuery({
    queryKey: ["login-options"],
    queryFn: () => bursar.consoleSession.challenge(),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const begin = useAction({
    mutationFn: async () => {
      onBegin?.();
      location.assign((await bursar.consoleSession.beginProviderLogin()).url);
    },
  });
  if (options.data?.provider !== true) return null;
  return (
    <>
      {children}
      <button type="button" className="button" disabled={begin.isPending} onClick={() => begin.mutate()}>
        {begin.isPending ? waiting : "Log in with your organisation"}
      </button>
      {begin.error !== null && <Problem error={begin.error} />}
    </>
  );
}
