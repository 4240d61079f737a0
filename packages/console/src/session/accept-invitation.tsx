import { isBursarError, type RegistrationOptions } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { bursar } from "../api/bursar";
import { useAction } from "../api/use-action";
import { Facts, TextFact } from "../ui/panels/facts";
import { forgetInvitation, keepInvitation, keptInvitation } from "./kept-invitation";
import { PasskeyButton } from "./passkey-button";
import { createPasskey, deviceName, explained, registerAlone } from "./passkeys";

const prefix = "#invitation=";

/** The invitation of the address, also of one that is opened in a tab that has the console already, which does not load it again. */
export function useInvitation(): [string | undefined, () => void] {
  const [invitation, setInvitation] = useState(takeInvitation);
  useEffect(() => {
    const onChange = () => setInvitation((before) => takeInvitation() ?? before);
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  const leave = () => {
    forgetInvitation();
    setInvitation(undefined);
  };
  return [invitation, leave];
}

/** It is not sent to the service with the address, and is taken out of it first, so that no history keeps it. */
function takeInvitation(): string | undefined {
  if (!location.hash.startsWith(prefix)) return keptInvitation(Date.now());
  const invitation = location.hash.slice(prefix.length);
  history.replaceState(history.state, "", location.pathname + location.search);
  keepInvitation(invitation, Date.now());
  return invitation;
}

export function AcceptInvitation({ invitation, onDone }: { invitation: string; onDone: () => void }) {
  const described = useQuery({
    queryKey: ["invitation", invitation],
    queryFn: () => bursar.consoleSession.prepareRegistration({ invitation }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const accept = useAction({
    mutationFn: explained(async () => {
      await registerAlone(async () => {
        const options = await bursar.consoleSession.prepareRegistration({ invitation });
        const passkey = await createPasskey(options, options.tenant_name ?? "");
        await bursar.consoleSession.register({ invitation, name: deviceName(), ...passkey });
      });
      forgetInvitation();
      // What this page knows, and its token, can be another person's. The button stays disabled until the page has gone.
      location.reload();
      await new Promise(() => undefined);
    }),
  });
  const error = accept.error ?? described.error;
  const hasEnded = isBursarError(error) && error.code === "INVITATION_INVALID";
  // What does not work is not shown again when another page is opened in this tab.
  useEffect(() => {
    if (hasEnded) forgetInvitation();
  }, [hasEnded]);
  if (hasEnded) return <EndedInvitation onDone={onDone} />;
  return (
    <main className="centre">
      <div className="card stack">
        <h1>Welcome to Bursar</h1>
        {described.data !== undefined && <ForWhom options={described.data} />}
        <p>
          You log in with a passkey, which this device or a security key keeps. There is no password. This
          invitation works once.
        </p>
        <PasskeyButton mutation={{ ...accept, error }} waiting="Waiting for your device">
          Create a passkey
        </PasskeyButton>
        <button type="button" className="button" onClick={onDone}>
          I have a passkey already
        </button>
      </div>
    </main>
  );
}

/** The service does not say which of these it is: that would tell strangers who exists. */
function EndedInvitation({ onDone }: { onDone: () => void }) {
  return (
    <main className="centre">
      <div className="card stack">
        <h1>This link does not work</h1>
        <p role="alert">
          It was used already, a newer one has replaced it, its 30 minutes have passed, or your account is
          disabled. If you have created a passkey with it, log in. Otherwise ask the person who sent it.
        </p>
        <button type="button" className="button" data-tone="primary" onClick={onDone}>
          Go to the login
        </button>
      </div>
    </main>
  );
}

/** The passkey belongs to one person of one tenant. */
function ForWhom({ options: { name, email, tenant_name = "" } }: { options: RegistrationOptions }) {
  return (
    <Facts>
      <TextFact name="For" text={name} />
      <TextFact name="Email" text={email} />
      <TextFact name="Tenant" text={tenant_name} />
    </Facts>
  );
}
