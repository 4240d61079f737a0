import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState } from "react";
import { bursar } from "../api/bursar";
import { Problem } from "../ui/panels/problem";
import { assertPasskey, explain } from "./passkeys";
import { ProviderLogin } from "./provider-login";

/** The whole page of those who have no session yet. */
export function LogIn() {
  return (
    <main className="centre">
      <div className="card stack">
        <h1>Bursar</h1>
        <PasskeyLogin personId={undefined} />
        <ProviderLogin />
        <p className="quiet small">
          No passkey yet? An administrator invites you, or the operator does with{" "}
          <code>bursar people invite</code>. A lost passkey is replaced in the same way.
        </p>
      </div>
    </main>
  );
}

/** Over the page when its session has ended. The page stays as it is behind it, with everything that was typed. */
export function LogInAgain({ personId }: { personId: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={heading} onCancel={(event) => event.preventDefault()}>
      <div className="body stack">
        <h2 id={heading}>Your session has ended</h2>
        <p>Nothing that you typed is lost. Log in again to go on.</p>
        <PasskeyLogin personId={personId} />
      </div>
    </dialog>
  );
}

/** `personId` is the person whose page this is. What another person sees is loaded from the beginning. */
function PasskeyLogin({ personId }: { personId: string | undefined }) {
  const queries = useQueryClient();
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const begin = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const opened = await bursar.consoleSession.open(
        await assertPasskey(await bursar.consoleSession.challenge()),
      );
      if (personId !== undefined && opened.person.id !== personId) location.reload();
      else await queries.invalidateQueries();
    } catch (error) {
      setProblem(explain(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <p>Log in with the passkey that you registered on this device or on your security key.</p>
      <button type="button" className="button" data-tone="primary" disabled={isBusy} onClick={begin}>
        {isBusy ? "Waiting for your passkey" : "Log in with a passkey"}
      </button>
      {problem !== undefined && <Problem error={problem} />}
    </>
  );
}
