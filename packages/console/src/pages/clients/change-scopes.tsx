import type { Client } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { readBeforeChange } from "../../api/read-before-change";
import { useAction } from "../../api/use-action";
import { useScopes } from "../../session/use-me";
import { RefusedChange } from "../../ui/dialogs/refused-change";
import { ActionButton } from "../../ui/forms/action-button";
import { CheckList } from "../../ui/forms/check-list";
import { useDraft } from "../../ui/forms/use-draft";
import { editedScopes, type ScopeEdit, scopeEditOf } from "./scope-edit";

/** The scopes of a client, which somebody else can change too: a scope that was taken away meanwhile is not granted again. */
export function ChangeScopes({ client: { id, scopes } }: { client: Client }) {
  const queries = useQueryClient();
  const own = useScopes();
  const draft = useDraft<ScopeEdit>(`scopes.${id}`, () => ({}));
  const chosen = editedScopes(scopes, draft.value);
  const { added, removed } = scopeEditOf(scopes, chosen);
  const [sent, setSent] = useState<Client["scopes"]>();
  const change = useAction({
    mutationFn: async () => {
      const present = await readBeforeChange(() => bursar.clients.get(id));
      // What was shown, and not what was typed before somebody else did the same.
      const wanted = editedScopes(present.scopes, { added, removed }) as Client["scopes"];
      setSent(wanted);
      return bursar.clients.change(id, { scopes: wanted });
    },
    onSuccess: draft.clear,
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ["client", id] });
      await queries.invalidateQueries({ queryKey: ["clients"] });
    },
  });
  const isSame = added.length === 0 && removed.length === 0;
  return (
    <>
      <CheckList
        legend="Scopes"
        options={[...new Set([...scopes, ...own, ...chosen])].sort()}
        chosen={chosen}
        onChange={(next) => draft.change(scopeEditOf(scopes, next))}
      />
      {!isSame && (
        <p className="notice" data-tone="wait" role="status">
          {added.length > 0 && `Adds ${added.join(", ")}.`}{" "}
          {removed.length > 0 && `Removes ${removed.join(", ")}.`}
        </p>
      )}
      <div className="row">
        <ActionButton
          isPending={change.isPending}
          disabled={isSame || chosen.length === 0}
          onAct={() => change.mutate()}
        >
          Set the scopes with the passkey
        </ActionButton>
      </div>
      <RefusedChange
        key={change.submittedAt}
        error={change.error}
        body={
          sent === undefined ? undefined : { kind: "client.change", change: { client_id: id, scopes: sent } }
        }
      />
    </>
  );
}
