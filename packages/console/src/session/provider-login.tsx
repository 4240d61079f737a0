import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { bursar } from "../api/bursar";
import { Problem } from "../ui/panels/problem";

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
  const options = useQuery({
    queryKey: ["login-options"],
    queryFn: () => bursar.consoleSession.challenge(),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(answer !== undefined);
  useEffect(() => {
    if (answer === undefined) return;
    finishing ??= bursar.consoleSession.finishProviderLogin({ parameters: answer });
    finishing
      .then(() => location.reload())
      .catch((error: unknown) => {
        setProblem(error);
        setBusy(false);
      });
  }, []);
  const begin = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      location.assign((await bursar.consoleSession.beginProviderLogin()).url);
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  if (options.data?.provider !== true && answer === undefined) return null;
  return (
    <>
      <button type="button" className="button" disabled={isBusy} onClick={() => void begin()}>
        {isBusy ? "Waiting for the provider" : "Log in with your organisation"}
      </button>
      {problem !== undefined && <Problem error={problem} />}
    </>
  );
}
