import type { Client } from "@bursar/client";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { Empty } from "../../ui/panels/empty";
import { PageHead } from "../../ui/panels/page-head";
import { PagedTable } from "../../ui/tables/paged-table";
import type { Column } from "../../ui/tables/table-head";
import { ForeignText } from "../../ui/values/foreign-text";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";
import { ClientSecretOnce } from "./client-secret-once";
import { NewClient } from "./new-client";

/** The programs that use the API, and people, who have a page of their own. */
export function ClientsPage() {
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<{ id: string; secret: string | null }>();
  return (
    <>
      <PageHead title="Clients">
        <button type="button" className="button" data-tone="primary" onClick={() => setCreating(true)}>
          Create a client
        </button>
      </PageHead>
      <PagedTable
        caption="Clients"
        queryKey={["clients"]}
        list={bursar.clients.list}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty title="No clients">A client is a program with its own scopes and secrets.</Empty>}
      />
      {isCreating && (
        <NewClient
          onClose={() => setCreating(false)}
          onDone={(client) => {
            setCreating(false);
            setCreated(client);
          }}
        />
      )}
      {created !== undefined && (
        <ClientSecretOnce id={created.id} secret={created.secret} onClose={() => setCreated(undefined)} />
      )}
    </>
  );
}

const columns: readonly Column<Client>[] = [
  {
    title: "Name",
    cell: ({ id, name, kind }) =>
      kind === "person" ? (
        <Link to="/people/$id" params={{ id }}>
          <ForeignText text={name} limit={60} />
        </Link>
      ) : (
        <Link to="/clients/$id" params={{ id }}>
          <ForeignText text={name} limit={60} />
        </Link>
      ),
  },
  { title: "Kind", cell: ({ kind }) => kind },
  {
    title: "State",
    // Whether a person has accepted the invitation is on their own page.
    cell: ({ kind, state }) =>
      kind === "person" && state === "active" ? (
        <span className="quiet">-</span>
      ) : (
        <StateBadge state={state} />
      ),
  },
  { title: "Scopes", isNumber: true, cell: ({ scopes }) => scopes.length },
  {
    title: "Secrets",
    isNumber: true,
    cell: ({ secrets }) => secrets.length,
  },
  { title: "Keys", isNumber: true, cell: ({ keys }) => keys.length },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
];
