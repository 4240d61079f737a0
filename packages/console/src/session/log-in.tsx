import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { bursar } from "../api/bursar";
import { Problem } from "../ui/problem";
import { assertPasskey, explain } from "./passkeys";

/** Shown in place of the page when there is no session. What was typed on the page stays, because only its cover changes. */
export function LogIn() {
  const queries = useQueryClient();
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const begin = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await bursar.consoleSession.open(await assertPasskey(await bursar.consoleSession.challenge()));
      await queries.invalidateQueries();
    } catch (error) {
      setProblem(explain(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <main className="centre">
      <div className="card stack">
        <h1>Bursar</h1>
        <p>Log in with the passkey that you registered on this device or on your security key.</p>
        <button type="button" className="button" data-tone="primary" disabled={isBusy} onClick={begin}>
          {isBusy ? "Waiting for your passkey" : "Log in with a passkey"}
        </button>
        {problem !== undefined && <Problem error={problem} />}
        <p className="quiet small">
          No passkey yet? An administrator invites you, or the operator does with{" "}
          <code>bursar people invite</code>. A lost passkey is replaced in the same way.
        </p>
      </div>
    </main>
  );
}
