import type { ChangeClientBody, Client } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { useScopes } from "../../session/use-me";
import { Confirm } from "../../ui/dialogs/confirm";
import { RefusedChange } from "../../ui/dialogs/refused-change";
import { ActionButton } from "../../ui/forms/action-button";
import { CheckList } from "../../ui/forms/check-list";
import { useDraft } from "../../ui/forms/use-draft";
import { ClientFact, Fact, FactsCard, IdFact, StateFact, TextFact, TimeFact } from "../../ui/panels/facts";
import { ObjectPage } from "../../ui/panels/object-page";
import { RawJson } from "../../ui/panels/raw-json";
import { OpenChangesOf } from "../change-requests/open-changes-of";
import { StoppedEndpoints, useEndpointsOf } from "../webhooks/stopped-endpoints";
import { ClientCredentials } from "./client-credentials";
import { ClientUsage } from "./client-usage";
import { Enable } from "./enable";

export function ClientPage() {
  const { id } = useParams({ from: "/clients/$id" });
  return (
    <ObjectPage title="Client" queryKey={["client", id]} read={(options) => bursar.clients.get(id, options)}>
      {(client) => <Details key={client.id} client={client} />}
    </ObjectPage>
  );
}

function Details({ client }: { client: Client }) {
  const { id, name, state, scopes, require_signature, created_by, created_at, authority_changed_at } = client;
  return (
    <div className="stack">
      <FactsCard>
        <TextFact name="Name" text={name} />
        <IdFact id={id} />
        <StateFact state={state} />
        <Fact name="Scopes">{scopes.join(", ")}</Fact>
        <Fact name="Requests">{require_signature ? "must be signed" : "need not be signed"}</Fact>
        <ClientFact name="Created by" id={created_by} />
        <TimeFact name="Created" at={created_at} />
        <TimeFact name="Authority changed" at={authority_changed_at} />
      </FactsCard>
      <OpenChangesOf id={id} />
      <ClientUsage clientId={id} />
      <ClientCredentials client={client} />
      <ChangeClient client={client} />
      <RawJson value={client} />
    </div>
  );
}

function ChangeClient({ client: { id, name, scopes, state } }: { client: Client }) {
  const queries = useQueryClient();
  const own = useScopes();
  const draft = useDraft<{ scopes?: string[] }>(`scopes.${id}`, () => ({}));
  const chosen = draft.value.scopes ?? scopes;
  const [isStopping, setStopping] = useState(false);
  const endpoints = useEndpointsOf(id, isStopping);
  const [cancel, setCancel] = useState<string[]>([]);
  const change = useAction({
    mutationFn: (body: ChangeClientBody) => bursar.clients.change(id, body),
    onSuccess: (_, { scopes: given }) => {
      if (given !== undefined) draft.clear();
    },
    onSettled: async () => {
      setStopping(false);
      await queries.invalidateQueries({ queryKey: ["client", id] });
      await queries.invalidateQueries({ queryKey: ["clients"] });
    },
  });
  const { scopes: wantedScopes, state: wantedState, cancel: wantedCancel } = change.variables ?? {};
  const isSame = chosen.length === scopes.length && scopes.every((scope) => chosen.includes(scope));
  return (
    <section className="card stack form" aria-labelledby="change">
      <h2 id="change">Change</h2>
      <CheckList
        legend="Scopes"
        options={[...new Set([...scopes, ...own])].sort()}
        chosen={chosen}
        onChange={(scopes) => draft.change({ scopes })}
      />
      <div className="row">
        <ActionButton
          isPending={change.isPending}
          disabled={isSame || chosen.length === 0}
          onAct={() => change.mutate({ scopes: chosen as Client["scopes"] })}
        >
          Set the scopes with the passkey
        </ActionButton>
        {state === "active" ? (
          <ActionButton tone="danger" isPending={change.isPending} onAct={() => setStopping(true)}>
            Disable
          </ActionButton>
        ) : (
          <Enable
            id={id}
            name={name}
            kind="client"
            isPending={change.isPending}
            onEnable={() => change.mutate({ state: "active" })}
          />
        )}
      </div>
      <RefusedChange
        key={change.submittedAt}
        error={change.error}
        body={{
          kind: "client.change",
          change: {
            client_id: id,
            ...(wantedScopes === undefined ? {} : { scopes: wantedScopes }),
            ...(wantedState === undefined ? {} : { state: wantedState }),
            ...(wantedCancel === undefined ? {} : { cancel: wantedCancel }),
          },
        }}
      />
      {isStopping && (
        <Confirm
          title="Disable this client?"
          verb="Disable with the passkey"
          tone="danger"
          mutation={{ isPending: change.isPending, error: null }}
          isChecking={endpoints.isLoading}
          onConfirm={() =>
            change.mutate({
              state: "disabled",
              ...(cancel.length === 0 ? {} : { cancel: ["transactions"] }),
            })
          }
          onClose={() => setStopping(false)}
        >
          <p>
            Its tokens become invalid within 5 seconds, and its open orders are cancelled. Its approvals of
            what still waits do not count any more, also if it is enabled again.
          </p>
          <StoppedEndpoints query={endpoints} />
          <CheckList
            legend="Cancel as well"
            options={["transactions"]}
            chosen={cancel}
            onChange={setCancel}
          />
          <p className="quiet small">
            Transactions that are not cancelled wait: they are processed when the client is enabled again.
          </p>
        </Confirm>
      )}
    </section>
  );
}
