import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { bursar, tokenGate } from "../api/bursar";
import { useAction } from "../api/use-action";
import { Modal } from "../ui/dialogs/modal";
import { lastActivityKey } from "./idle-watch";
import { forgetLeftOpen } from "./left-open";
import { LeftOpenNotice } from "./left-open-notice";
import { PasskeyButton } from "./passkey-button";
import { assertPasskey, explained } from "./passkeys";
import { ProviderButton, ProviderLogin } from "./provider-login";

/** The whole page of those who have no session yet, and of those whose session could not be ended. */
export function LogIn({ isLeftOpen = false }: { isLeftOpen?: boolean }) {
  useLoginElsewhere();
  return (
    <main className="centre">
      {isLeftOpen && <LeftOpenNotice />}
      <div className="card stack">
        <h1>Bursar</h1>
        <PasskeyLogin personId={undefined} />
        <ProviderLogin />
        <p className="quiet small">
          No passkey yet? An administrator invites you, or the operator does with{" "}
          <code>bursar people invite</code>. If your passkey is lost, they make you a new link; the operator
          does with <code>bursar people recover</code>.
        </p>
      </div>
    </main>
  );
}

/** Another tab notes an act as soon as somebody has logged in there. What has failed since is read again, as after a login in this tab. */
function useLoginElsewhere(): void {
  const queries = useQueryClient();
  useEffect(() => {
    const onStorage = ({ key }: StorageEvent) => {
      if (key !== lastActivityKey) return;
      tokenGate.open();
      void queries.invalidateQueries();
    };
    addEventListener("storage", onStorage);
    return () => removeEventListener("storage", onStorage);
  }, [queries]);
}

/** Over the page when its session has ended. The page stays as it is behind it, with everything that was typed. */
export function LogInAgain({ personId }: { personId: string }) {
  useLoginElsewhere();
  return (
    <Modal title="Your session has ended">
      <p>Nothing that you typed is lost. Log in again to go on.</p>
      <PasskeyLogin personId={personId} />
      <ProviderButton>
        <p>
          Your organisation asks you to log in on a page of its own. This page is left for that: what you
          typed is kept in this tab, and is there when you open the page again.
        </p>
      </ProviderButton>
      <p className="quiet small">
        If this does not work, the log-in page says what else you can do. It keeps what you typed, too.
      </p>
      <button type="button" className="button" onClick={() => location.reload()}>
        Open the log-in page
      </button>
    </Modal>
  );
}

const openSession = explained(async () => {
  const signed = await assertPasskey(await bursar.consoleSession.challenge());
  const opened = await bursar.consoleSession.open(signed);
  tokenGate.open();
  forgetLeftOpen();
  return opened;
});

/** `personId` is the person whose page this is. What another person sees is loaded from the beginning. */
function PasskeyLogin({ personId }: { personId: string | undefined }) {
  const queries = useQueryClient();
  const logIn = useAction({
    mutationFn: openSession,
    onSuccess: async ({ person }) => {
      if (personId === undefined || person.id === personId) return await queries.invalidateQueries();
      // What was typed here is kept for the person who typed it.
      location.reload();
    },
  });
  return (
    <>
      <p>Log in with the passkey that you registered on this device or on your security key.</p>
      <PasskeyButton mutation={logIn} waiting="Waiting for your passkey">
        Log in with a passkey
      </PasskeyButton>
    </>
  );
}
