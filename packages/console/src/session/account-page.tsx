import { PageHead } from "../ui/panels/page-head";
import { OwnPasskeys } from "./own-passkeys";
import { OwnSessions } from "./own-sessions";
import { useMe } from "./use-me";

export function AccountPage() {
  const me = useMe().data;
  return (
    <div className="stack">
      <PageHead title="Your account" />
      {me !== undefined && (
        <p className="quiet">
          You may use {me.client.scopes.length} scopes: {me.client.scopes.join(", ")}.
        </p>
      )}
      <OwnPasskeys />
      <OwnSessions />
    </div>
  );
}
