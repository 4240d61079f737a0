import type { Client, CreateChangeRequestBody } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { RefusedChange } from "../../ui/dialogs/refused-change";
import { ActionButton } from "../../ui/forms/action-button";
import { SimpleTable } from "../../ui/tables/simple-table";
import { Time } from "../../ui/values/time";
import { ClientSecretOnce } from "./client-secret-once";

interface Credential {
  id: string;
  kind: "secret" | "key";
  algorithm: string;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
}

/** The secrets and keys of a client. A new secret works beside the old one for a day. */
export function ClientCredentials({ client: { id, secrets, keys } }: { client: Client }) {
  const queries = useQueryClient();
  const [added, setAdded] = useState<{ secret: string | null }>();
  const refresh = () => queries.invalidateQueries({ queryKey: ["client", id] });
  const rotate = useAction({
    mutationFn: () => bursar.clients.rotateSecret(id),
    onSuccess: ({ secret }) => setAdded({ secret }),
    onSettled: refresh,
  });
  const remove = useAction({
    mutationFn: async ({ kind, id: credentialId }: Credential) => {
      if (kind === "secret") await bursar.clients.removeSecret(id, credentialId);
      else await bursar.clients.removeKey(id, credentialId);
    },
    onSettled: refresh,
  });
  const rows: Credential[] = [
    ...secrets.map((secret) => ({ ...secret, kind: "secret" as const, algorithm: "" })),
    ...keys.map((key) => ({ ...key, kind: "key" as const })),
  ];
  return (
    <section className="stack" aria-labelledby="credentials">
      <div className="row spread">
        <h2 id="credentials">Secrets and keys</h2>
        <ActionButton isPending={rotate.isPending} onAct={() => rotate.mutate()}>
          New secret with the passkey
        </ActionButton>
      </div>
      {rows.length === 0 ? (
        <p className="quiet">None: the client cannot get tokens.</p>
      ) : (
        <SimpleTable
          caption="Secrets and keys"
          rows={rows}
          keyOf={(row) => row.id}
          columns={[
            { title: "Id", cell: (row) => <code>{row.id}</code> },
            { title: "Kind", cell: (row) => `${row.kind} ${row.algorithm}` },
            { title: "Added", cell: (row) => <Time at={row.created_at} /> },
            { title: "Last used", cell: (row) => <When at={row.last_used_at} /> },
            { title: "Expires", cell: (row) => <When at={row.expires_at} /> },
            {
              title: "Action",
              cell: (row) => (
                <ActionButton
                  tone="danger"
                  isPending={remove.isPending && remove.variables?.id === row.id}
                  onAct={() => remove.mutate(row)}
                >
                  Remove
                </ActionButton>
              ),
            },
          ]}
        />
      )}
      <RefusedChange key={`rotate ${rotate.submittedAt}`} error={rotate.error} body={undefined} />
      <RefusedChange
        key={`remove ${remove.submittedAt}`}
        error={remove.error}
        body={remove.variables === undefined ? undefined : removalOf(id, remove.variables)}
      />
      {added !== undefined && (
        <ClientSecretOnce id={id} secret={added.secret} onClose={() => setAdded(undefined)} />
      )}
    </section>
  );
}

function removalOf(clientId: string, { kind, id }: Credential): CreateChangeRequestBody {
  return kind === "secret"
    ? { kind: "client.secret.remove", change: { client_id: clientId, secret_id: id } }
    : { kind: "client.key.remove", change: { client_id: clientId, key_id: id } };
}

function When({ at }: { at: string | null }) {
  return at === null ? <span className="quiet">never</span> : <Time at={at} />;
}
