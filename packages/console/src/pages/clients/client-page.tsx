import type { ChangeClientBody, Client } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { Confirm } from "../../ui/dialogs/confirm";
import { RefusedChange } from "../../ui/dialogs/refused-change";
import { ActionButton } from "../../ui/forms/action-button";
import { CheckList } from "../../ui/forms/check-list";
import { ClientFact, Fact, FactsCard, IdFact, StateFact, TextFact, TimeFact } from "../../ui/panels/facts";
import { ObjectPage } from "../../ui/panels/object-page";
import { RawJson } from "../../ui/panels/raw-json";
import { OpenChangesOf } from "../change-requests/open-changes-of";
import { StoppedEndpoints, useEndpointsOf } from "../webhooks/stopped-endpoints";
import { ChangeScopes } from "./change-scopes";
import { ClientCredentials } from "./client-credentials";
import { ClientUsage } from "./client-usage";
import { Enable } from "./enable";

export function ClientPage() {
  const { id } = useParams({ from: "/clients/$id" });
  return (
    <ObjectPage
      title="Client"
      queryKey={["client", id]}
      read={(options) => bursar.clients.get(id, options)}
      refreshMs={10_000}
    >
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

function ChangeClient({ client }: { client: Client }) {
  const { id, name, state } = client;
  const queries = useQueryClient();
  const [isStopping, setStopping] = useState(false);
  const endpoints = useEndpointsOf(id, isStopping);
  const [cancel, setCancel] = useState<string[]>([]);
  const change = useAction({
    mutationFn: (body: ChangeClientBody) => bursar.clients.change(id, body),
    onSettled: async () => {
      setStopping(false);
      await queries.invalidateQueries({ queryKey: ["client", id] });
      await queries.invalidateQueries({ queryKey: ["clients"] });
    },
  });
  const { state: wantedState, cancel: wantedCancel } = change.variables ?? {};
  return (
    <section className="card stack form" aria-labelledby="change">
      <h2 id="change">Change</h2>
      <ChangeScopes client={client} />
      <div className="row">
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
